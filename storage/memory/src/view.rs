//! The state of a collection as its log makes it: every version of every memory,
//! the names they are found by, the search index over the live ones, and settings.
//! It only folds; decisions are taken in `draft`. One that starts from a checkpoint over
//! segments waits for their rows, which `load` brings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_schema::SchemaRef;
use ostraca_object::error::Corrupt;
use ostraca_object::key::{SegmentId, Seq};
use ostraca_object::log::entry::Entry;
use ostraca_object::log::fold::Fold;
use ostraca_object::port::Timestamp;
use ostraca_search::segment::{Replaced, Root};
use ostraca_search::{Record, ScopePath, SegmentRef, Snapshot, Status, Tail};
use serde_json::Value;

use crate::catalogue::{Catalogue, SegmentInfo, Split};
use crate::change::{self, Change, Event};
use crate::cursor::Place;
use crate::draft::Draft;
use crate::row::Row;

/// One version of a memory and the row that made it.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    /// The record as of this version.
    pub(crate) record: Arc<Record>,
    /// What made it.
    pub(crate) event: Event,
    /// Where in the log.
    pub(crate) place: Place,
    /// Where the memory's first version was made.
    pub(crate) first: Place,
    /// When the entry was written.
    pub(crate) time: Timestamp,
    /// Why, if that was said.
    pub(crate) reason: Option<String>,
}

impl Version {
    /// The version that a row made.
    pub(crate) fn of(row: Row) -> Self {
        let Change {
            event,
            reason,
            record,
            ..
        } = row.change;
        Self {
            record,
            event,
            place: row.place,
            first: row.first,
            time: row.time,
            reason,
        }
    }
}

/// A name that is unique among live memories: realm, scope, then key or digest.
type NameOf<T> = (String, ScopePath, T);

/// The folded state. It is never locked while anything waits.
#[derive(Debug, Default)]
pub(crate) struct View {
    memories: BTreeMap<String, Vec<Version>>,
    keys: BTreeMap<NameOf<String>, String>,
    hashes: BTreeMap<NameOf<[u8; 16]>, String>,
    order: BTreeMap<Place, String>,
    feed: BTreeMap<Place, FeedItem>,
    tail: Tail,
    settings: BTreeMap<String, Value>,
    times: BTreeMap<Seq, Timestamp>,
    catalogue: Catalogue,
    /// The roots of the catalogue's segments, as far as they have been brought.
    roots: BTreeMap<SegmentId, Arc<Root>>,
    /// A whole view as of an entry, for what is asked of a large collection as a whole.
    copy: Option<(Seq, Arc<Self>)>,
    /// Rows of segments that recent changes replace.
    replaced: Replaced,
    /// What was purged since the catalogue's base, or at all if it is whole.
    purged: BTreeSet<String>,
    /// What was changed since the catalogue's base, in order.
    recent: Vec<Row>,
    content: Content,
    /// The last entry that was applied.
    applied: Seq,
}

/// Whether a view has what the segments hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Content {
    /// All there is.
    #[default]
    Whole,
    /// The changes since the base; the segments' rows have to be brought.
    Waiting,
    /// The changes since the base; the segments are searched in place.
    Above,
}

/// One row as the change feed tells it.
#[derive(Debug, Clone)]
pub(crate) struct FeedItem {
    /// The memory.
    pub(crate) id: String,
    /// What happened.
    pub(crate) event: Event,
    /// Its version afterwards.
    pub(crate) version: u64,
    /// Its scope afterwards.
    pub(crate) scope: ScopePath,
    /// Its realm.
    pub(crate) realm: String,
    /// When the entry was written.
    pub(crate) time: Timestamp,
}

impl View {
    /// The newest version of a memory, forgotten ones included.
    pub(crate) fn newest(&self, id: &str) -> Option<&Version> {
        self.memories.get(id)?.last()
    }

    /// All versions of a memory, oldest first.
    pub(crate) fn versions(&self, id: &str) -> &[Version] {
        self.memories.get(id).map_or(&[], Vec::as_slice)
    }

    /// The id that a key stands for.
    pub(crate) fn id_of_key(&self, realm: &str, scope: &ScopePath, key: &str) -> Option<&str> {
        self.keys
            .get(&(realm.to_owned(), scope.clone(), key.to_owned()))
            .map(String::as_str)
    }

    /// The id of the memory without a key that has this content.
    pub(crate) fn id_of_hash(
        &self,
        realm: &str,
        scope: &ScopePath,
        hash: [u8; 16],
    ) -> Option<&str> {
        self.hashes
            .get(&(realm.to_owned(), scope.clone(), hash))
            .map(String::as_str)
    }

    /// Memories in the order in which they came to be.
    pub(crate) fn in_order(&self) -> impl DoubleEndedIterator<Item = (Place, &str)> {
        self.order.iter().map(|(place, id)| (*place, id.as_str()))
    }

    /// Rows after a place, oldest first.
    pub(crate) fn feed_after(&self, place: Place) -> impl Iterator<Item = (Place, &FeedItem)> {
        use std::ops::Bound::{Excluded, Unbounded};
        self.feed
            .range((Excluded(place), Unbounded))
            .map(|(place, item)| (*place, item))
    }

    /// The search index over what is not forgotten.
    pub(crate) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// A setting of the collection.
    pub(crate) fn setting(&self, name: &str) -> Option<&Value> {
        self.settings.get(name)
    }

    /// Settings whose names start with a prefix.
    pub(crate) fn settings_under<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.settings
            .range(prefix.to_owned()..)
            .take_while(move |(name, _)| name.starts_with(prefix))
            .map(|(name, value)| (name.as_str(), value))
    }

    /// When an entry was written, if it was applied.
    pub(crate) fn time_of(&self, entry: Seq) -> Option<Timestamp> {
        self.times.get(&entry).copied()
    }

    /// The last position whose entry was written at or before a time, of those at which
    /// something is known to have changed.
    pub(crate) fn position_at(&self, time: Timestamp) -> Seq {
        self.times
            .iter()
            .rev()
            .find(|(_, written)| **written <= time)
            .map_or(Seq::ZERO, |(seq, _)| *seq)
    }

    /// Each memory's newest version at or before a position, forgotten ones left
    /// out. What has been purged since is in no past either (I-FORGET).
    pub(crate) fn records_at(&self, position: Seq) -> impl Iterator<Item = &Version> {
        self.memories
            .values()
            .filter_map(move |versions| version_at(versions, position))
            .filter(|version| version.record.status != Status::Deleted)
    }

    /// The segments that stand for the log up to a base.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What was changed since the catalogue's base, oldest first.
    pub(crate) fn recent(&self) -> &[Row] {
        &self.recent
    }

    /// The settings as changes, by name.
    pub(crate) fn settings(&self) -> Vec<Change> {
        self.settings
            .iter()
            .map(|(name, value)| Change {
                event: Event::Setting,
                reason: None,
                record: change::setting(name, Some(value.clone()), Timestamp(0)).into(),
                replaces: None,
            })
            .collect()
    }

    /// Whether everything is here: if not, what is asked for is of the changes since the
    /// catalogue's base alone.
    pub(crate) fn is_whole(&self) -> bool {
        self.content == Content::Whole
    }

    /// Whether the rows of the segments have to be brought before anything is asked.
    pub(crate) fn is_waiting(&self) -> bool {
        self.content == Content::Waiting
    }

    /// Whether the segments are searched in place.
    pub(crate) fn is_above(&self) -> bool {
        self.content == Content::Above
    }

    /// The last entry that was applied.
    pub(crate) fn position(&self) -> Seq {
        self.applied
    }

    /// Whether it has every change after an entry.
    pub(crate) fn has_all_since(&self, entry: Seq) -> bool {
        self.is_whole() || (self.is_above() && entry > Seq::ZERO && entry >= self.catalogue.base)
    }

    /// What a search is asked of, if the segments are searched in place and the roots of all segments are here.
    pub(crate) fn snapshot(&self) -> Option<Snapshot<'_>> {
        if !self.is_above() {
            return None;
        }
        let segments = self.catalogue.segments.iter().map(|segment| {
            Some(SegmentRef {
                id: segment.number(),
                root: self.roots.get(&segment.id)?,
            })
        });
        Some(Snapshot {
            tail: &self.tail,
            segments: segments.collect::<Option<_>>()?,
            replaced: &self.replaced,
        })
    }

    /// The root of a segment, if it is here.
    pub(crate) fn root(&self, segment: &SegmentId) -> Option<&Arc<Root>> {
        self.roots.get(segment)
    }

    /// The segments whose roots are to be brought before they can be searched.
    pub(crate) fn rootless(&self) -> Vec<SegmentInfo> {
        if !self.is_above() {
            return Vec::new();
        }
        let segments = self.catalogue.segments.iter();
        segments
            .filter(|segment| !self.roots.contains_key(&segment.id))
            .cloned()
            .collect()
    }

    /// Takes roots.
    pub(crate) fn install_roots(&mut self, roots: Vec<(SegmentId, Arc<Root>)>) {
        self.roots.extend(roots);
        self.drop_strange_roots();
    }

    fn drop_strange_roots(&mut self) {
        let segments = &self.catalogue.segments;
        self.roots
            .retain(|id, _| segments.iter().any(|segment| segment.id == *id));
    }

    /// The whole view that was made of this one, if nothing has been applied since.
    pub(crate) fn copy(&self) -> Option<Arc<Self>> {
        let (applied, copy) = self.copy.as_ref()?;
        (*applied == self.applied).then(|| Arc::clone(copy))
    }

    /// Keeps a whole view made of this one.
    pub(crate) fn keep(&mut self, copy: Arc<Self>) {
        self.copy = Some((copy.applied, copy));
    }

    /// Whether a memory was purged, as far as the changes that are here tell.
    pub(crate) fn is_purged(&self, id: &str) -> bool {
        self.purged.contains(id)
    }

    /// Takes the rows of the catalogue's segments, in any order. Nothing happens if the
    /// view is whole or stands on another catalogue by now.
    pub(crate) fn install(&mut self, catalogue: &Catalogue, rows: Vec<Row>) {
        if !self.is_waiting() || self.catalogue != *catalogue {
            return;
        }
        self.complete(rows);
    }

    /// A whole view of what this one is the newest part of, given the segments' rows.
    pub(crate) fn with(&self, rows: Vec<Row>) -> Self {
        let mut whole = Self {
            catalogue: self.catalogue.clone(),
            recent: self.recent.clone(),
            settings: self.settings.clone(),
            times: self.times.clone(),
            applied: self.applied,
            ..Self::default()
        };
        whole.complete(rows);
        whole
    }

    fn complete(&mut self, mut rows: Vec<Row>) {
        rows.sort_by_key(|row| row.place);
        for row in rows {
            self.times.insert(Seq(row.place.seq), row.time);
            self.fold(row);
        }
        for row in self.recent.clone() {
            self.fold(row);
        }
        self.content = Content::Whole;
    }

    /// Starts over from a checkpoint, or goes on with what is here if that is all there is.
    fn take_checkpoint(&mut self, seq: Seq, split: Split) {
        let Split {
            catalogue,
            settings,
            rows,
        } = split;
        if self.is_whole() && !catalogue.is_large && self.applied.next() == seq {
            // The checkpoint stands for what is known already.
            let base = catalogue.base;
            self.recent.retain(|row| row.place.seq > base.0);
            self.catalogue = catalogue;
            return;
        }
        let roots = std::mem::take(&mut self.roots);
        *self = Self {
            roots,
            ..Self::default()
        };
        if catalogue.is_large {
            self.content = Content::Above;
        } else if !catalogue.segments.is_empty() {
            self.content = Content::Waiting;
        }
        self.catalogue = catalogue;
        self.drop_strange_roots();
        for setting in settings {
            self.set(&setting);
        }
        for row in rows {
            self.times.insert(Seq(row.place.seq), row.time);
            self.take(row);
        }
    }

    /// Takes the next change.
    fn take(&mut self, row: Row) {
        if row.change.event == Event::Setting {
            self.set(&row.change);
        } else if row.is_of_memory() {
            if !self.is_waiting() {
                self.fold(row.clone());
            }
            self.recent.push(row);
        }
    }

    fn set(&mut self, setting: &Change) {
        let name = setting.record.key.clone().unwrap_or_default();
        match &setting.record.value {
            Some(value) => self.settings.insert(name, value.clone()),
            None => self.settings.remove(&name),
        };
    }

    fn fold(&mut self, row: Row) {
        let Row {
            place,
            time,
            first,
            change:
                Change {
                    event,
                    reason,
                    record,
                    replaces,
                },
        } = row;
        if let Some(replaces) = replaces {
            self.replaced.add(&replaces);
        }
        self.feed.insert(
            place,
            FeedItem {
                id: record.id.clone(),
                event,
                version: record.version,
                scope: record.scope.clone(),
                realm: record.realm.clone(),
                time,
            },
        );
        self.unname(&record.id);
        self.tail.remove(&record.id);
        if event == Event::Purged {
            self.purged.insert(record.id.clone());
            // The feed tells of the purge alone, as an index built without the rest would.
            for version in self.memories.remove(&record.id).unwrap_or_default() {
                self.order.remove(&version.first);
                self.feed.remove(&version.place);
            }
            return;
        }
        if record.status != Status::Deleted {
            self.name(&record);
            self.tail.upsert(Arc::clone(&record));
        }
        let id = record.id.clone();
        let versions = self.memories.entry(id.clone()).or_default();
        if versions.is_empty() {
            self.order.insert(first, id);
        }
        versions.push(Version {
            record,
            event,
            place,
            first,
            time,
            reason,
        });
    }

    /// Where the first version of a memory was made, if there is one before this change.
    fn first_of(&self, id: &str, place: Place) -> Place {
        let known = self.memories.get(id).and_then(|versions| versions.first());
        known.map_or(place, |version| version.first)
    }

    fn name(&mut self, record: &Record) {
        let id = record.id.clone();
        match (&record.key, record.content_hash) {
            (Some(key), _) => self.keys.insert(
                (record.realm.clone(), record.scope.clone(), key.clone()),
                id,
            ),
            (None, Some(hash)) => self
                .hashes
                .insert((record.realm.clone(), record.scope.clone(), hash), id),
            (None, None) => None,
        };
    }

    /// Takes the names away that the newest version of a memory holds, unless
    /// another memory has taken them over since (after this one expired).
    fn unname(&mut self, id: &str) {
        let Some(record) = self.newest(id).map(|version| Arc::clone(&version.record)) else {
            return;
        };
        if let Some(key) = &record.key {
            let name = (record.realm.clone(), record.scope.clone(), key.clone());
            if self.keys.get(&name).is_some_and(|holder| holder == id) {
                self.keys.remove(&name);
            }
        } else if let Some(hash) = record.content_hash {
            let name = (record.realm.clone(), record.scope.clone(), hash);
            if self.hashes.get(&name).is_some_and(|holder| holder == id) {
                self.hashes.remove(&name);
            }
        }
    }
}

/// The newest of a memory's versions at or before a position.
pub(crate) fn version_at(versions: &[Version], position: Seq) -> Option<&Version> {
    let after = versions.partition_point(|version| version.place.seq <= position.0);
    after.checked_sub(1).and_then(|last| versions.get(last))
}

impl Fold for View {
    type Draft = Draft;

    fn schema() -> SchemaRef {
        change::schema()
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        let key = format!("log entry {}", entry.seq.0);
        // Everything is decoded before anything is taken, so that an entry is seen whole or not at all.
        let changes = change::decode(&key, &entry.rows)?;
        let split = Catalogue::split(&key, &changes)?;
        match (&entry.header.checkpoint, split) {
            (Some(_), Some(split)) => self.take_checkpoint(entry.seq, split),
            (Some(checkpoint), None) if !checkpoint.segments.is_empty() => {
                return Err(Corrupt::new(key, "it has segments and no catalogue"));
            }
            (checkpoint, _) => {
                if checkpoint.is_some() {
                    *self = Self::default();
                }
                for (row, change) in (0_u32..).zip(changes) {
                    let place = Place {
                        seq: entry.seq.0,
                        row,
                    };
                    let first = self.first_of(&change.record.id, place);
                    self.take(Row {
                        place,
                        time: entry.header.time,
                        first,
                        change,
                    });
                }
            }
        }
        self.times.insert(entry.seq, entry.header.time);
        self.applied = entry.seq;
        Ok(())
    }
}
