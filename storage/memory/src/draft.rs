//! The state as a decision sees it: the folded view, what earlier decisions of the
//! same log entry agreed on, and what this one has staged so far. A decision that
//! fails leaves nothing behind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ostraca_object::port::Timestamp;
use ostraca_search::segment::Replacement;
use ostraca_search::{Record, ScopePath, Status};
use serde_json::Value;

use crate::change::{self, Change, Event};
use crate::known::{Name, Sight};
use crate::view::Version;

/// Changes that are agreed on and not yet folded.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    records: BTreeMap<String, Option<Arc<Record>>>,
    settings: BTreeMap<String, Option<Value>>,
}

/// One decision at work.
#[derive(Debug)]
pub(crate) struct Decider<'a> {
    sight: Sight<'a>,
    agreed: &'a Draft,
    own: Draft,
    changes: Vec<Change>,
    now: Timestamp,
}

impl<'a> Decider<'a> {
    /// A decision at a time, over what can be seen and what was agreed before it.
    pub(crate) fn new(sight: Sight<'a>, agreed: &'a Draft, now: Timestamp) -> Self {
        Self {
            sight,
            agreed,
            own: Draft::default(),
            changes: Vec::new(),
            now,
        }
    }

    /// The time of the decision.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The folded versions of a memory, oldest first, without what is staged.
    pub(crate) fn versions(&self, id: &str) -> Vec<Version> {
        self.sight.versions(id)
    }

    /// A memory's newest version, forgotten and expired ones included.
    pub(crate) fn newest(&self, id: &str) -> Option<Arc<Record>> {
        match self
            .own
            .records
            .get(id)
            .or_else(|| self.agreed.records.get(id))
        {
            Some(staged) => staged.clone(),
            None => self
                .sight
                .newest(id)
                .map(|version| Arc::clone(&version.record)),
        }
    }

    /// A memory that is there for readers now.
    pub(crate) fn live(&self, id: &str) -> Option<Arc<Record>> {
        self.newest(id).filter(|record| is_live(record, self.now))
    }

    /// The live memory with a key.
    pub(crate) fn live_key(
        &self,
        realm: &str,
        scope: &ScopePath,
        key: &str,
    ) -> Option<Arc<Record>> {
        let holds = |record: &Record| {
            record.realm == realm && record.scope == *scope && record.key.as_deref() == Some(key)
        };
        self.live_named(holds, self.sight.id_of_key(realm, scope, key))
    }

    /// The live memory without a key that has this content.
    pub(crate) fn live_hash(
        &self,
        realm: &str,
        scope: &ScopePath,
        hash: [u8; 16],
    ) -> Option<Arc<Record>> {
        let holds = |record: &Record| {
            record.realm == realm
                && record.scope == *scope
                && record.key.is_none()
                && record.content_hash == Some(hash)
        };
        self.live_named(holds, self.sight.id_of_hash(realm, scope, hash))
    }

    fn live_named(
        &self,
        holds: impl Fn(&Record) -> bool,
        folded: Option<&str>,
    ) -> Option<Arc<Record>> {
        let staged = self
            .own
            .records
            .values()
            .chain(self.agreed.records.values())
            .flatten();
        let staged = staged
            .filter(|record| holds(record))
            .map(|record| record.id.as_str());
        // A staged version may have been staged over again since, so each is looked up anew.
        staged
            .chain(folded)
            .filter_map(|id| self.live(id))
            .find(|record| holds(record))
    }

    /// A setting of the collection.
    pub(crate) fn setting(&self, name: &str) -> Option<&Value> {
        match self
            .own
            .settings
            .get(name)
            .or_else(|| self.agreed.settings.get(name))
        {
            Some(staged) => staged.as_ref(),
            None => self.sight.view().setting(name),
        }
    }

    /// Stages a row.
    pub(crate) fn push(
        &mut self,
        event: Event,
        record: Record,
        reason: Option<String>,
    ) -> Arc<Record> {
        let record = Arc::new(record);
        let replaces = self.replaced_by(event, &record.id).map(Arc::new);
        if event == Event::Setting {
            self.own
                .settings
                .insert(record.key.clone().unwrap_or_default(), record.value.clone());
        } else {
            let staged = (event != Event::Purged).then(|| Arc::clone(&record));
            self.own.records.insert(record.id.clone(), staged);
        }
        self.changes.push(Change {
            event,
            reason,
            record: Arc::clone(&record),
            replaces,
        });
        record
    }

    /// The row of a segment that a new version of a memory replaces. What is staged or
    /// recent has replaced it already.
    fn replaced_by(&self, event: Event, id: &str) -> Option<Replacement> {
        let is_staged = self.own.records.contains_key(id) || self.agreed.records.contains_key(id);
        if event == Event::Setting || is_staged {
            return None;
        }
        let (segment, row, version) = self.sight.replaceable(id)?;
        Some(Replacement::of(segment, row, &version.record))
    }

    /// Stages a setting.
    pub(crate) fn set(&mut self, name: &str, value: Option<Value>) {
        let record = change::setting(name, value, self.now);
        self.push(Event::Setting, record, None);
    }

    /// What the decision agreed on, and the rows that say it; or what it asked for and is
    /// not known yet.
    pub(crate) fn finish(self) -> Result<(Agreed, Vec<Change>), BTreeSet<Name>> {
        let missing = self.sight.into_missing();
        if missing.is_empty() {
            Ok((Agreed(self.own), self.changes))
        } else {
            Err(missing)
        }
    }
}

/// The outcome of one decision, to be joined to the draft of its entry.
#[derive(Debug)]
pub(crate) struct Agreed(Draft);

impl Agreed {
    /// Makes the outcome visible to the later decisions of the entry.
    pub(crate) fn join(self, draft: &mut Draft) {
        draft.records.extend(self.0.records);
        draft.settings.extend(self.0.settings);
    }
}

/// Whether readers see a record at a time.
pub(crate) fn is_live(record: &Record, now: Timestamp) -> bool {
    record.status != Status::Deleted && record.expires.is_none_or(|expires| expires > now.0)
}
