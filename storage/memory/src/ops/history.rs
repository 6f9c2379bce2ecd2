//! `history`: the versions of a memory, newest first, with who made each, when,
//! why, and which fields it changed.

use std::sync::Arc;

use ostraca_object::log::Freshness;
use ostraca_object::port::Timestamp;
use ostraca_search::Record;

use crate::caller::Permission;
use crate::change::Event;
use crate::cursor;
use crate::error::{Error, Result};
use crate::excerpt::Excerpt;
use crate::known::Sight;
use crate::receipt::Receipt;
use crate::reference::Reference;
use crate::session::Session;
use crate::view::Version;

/// Whose history.
#[derive(Debug, Clone)]
pub struct HistoryRequest {
    /// Which memory; a forgotten one is named by its id.
    pub target: Reference,
    /// Versions on a page, 20 if absent, at most [`crate::Limits::page`].
    pub limit: Option<u32>,
    /// Where the page before ended.
    pub cursor: Option<String>,
    /// How fresh the answer must be.
    pub freshness: Freshness,
}

/// A page of versions.
#[derive(Debug, Clone)]
pub struct HistoryReply {
    /// The memory.
    pub id: String,
    /// Its versions, newest first.
    pub versions: Vec<VersionView>,
    /// Where the next page starts; absent on the last.
    pub next_cursor: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

/// One version.
#[derive(Debug, Clone)]
pub struct VersionView {
    /// The memory as it was.
    pub record: Arc<Record>,
    /// What made the version.
    pub event: Event,
    /// The log position that holds it.
    pub position: u64,
    /// When it was made.
    pub time: Timestamp,
    /// Why, if that was said.
    pub reason: Option<String>,
    /// The fields that differ from the version before; empty for the first.
    pub changed: Vec<&'static str>,
    /// A part of the content.
    pub excerpt: Excerpt,
}

impl Session {
    /// Tells a memory's versions. Expired memories have no history; forgotten ones
    /// keep theirs until they are purged.
    ///
    /// # Errors
    /// `NotFound`, Invalid for a cursor of other arguments, Forbidden without
    /// `memories:read`, Unavailable if storage fails.
    pub async fn history(&self, request: HistoryRequest) -> Result<HistoryReply> {
        self.caller.require(Permission::Read)?;
        let binding = self.binding("history", &request.target.to_string());
        let before = request
            .cursor
            .as_deref()
            .map(|cursor| cursor::decode::<u64>(cursor, &binding))
            .transpose()?;
        let limit = request.limit.unwrap_or(20).clamp(1, self.limits().page) as usize;
        let io = self.db.io();
        let (id, versions, more, position) = self
            .look_up(&io, request.freshness, |sight, newest| {
                let versions = self.versions_of(sight, &request.target, newest)?;
                let id = versions
                    .last()
                    .map(|version| version.record.id.clone())
                    .unwrap_or_default();
                let mut shown: Vec<VersionView> = Vec::new();
                let mut more = false;
                let room =
                    (self.limits().reply_content_bytes / limit).min(self.limits().excerpt_bytes);
                for (index, version) in versions.iter().enumerate().rev() {
                    if before.is_some_and(|before| version.record.version >= before) {
                        continue;
                    }
                    if shown.len() == limit {
                        more = true;
                        break;
                    }
                    let earlier = index.checked_sub(1).and_then(|index| versions.get(index));
                    shown.push(VersionView {
                        record: Arc::clone(&version.record),
                        event: version.event,
                        position: version.place.seq,
                        time: version.time,
                        reason: version.reason.clone(),
                        changed: earlier
                            .map(|earlier| differences(&earlier.record, &version.record))
                            .unwrap_or_default(),
                        excerpt: Excerpt::from(&version.record.content, 0, room),
                    });
                }
                Ok((id, shown, more, newest))
            })
            .await?;
        let next_cursor = match versions.last() {
            Some(last) if more => Some(cursor::encode(&last.record.version, &binding)?),
            _ => None,
        };
        Ok(HistoryReply {
            id,
            versions,
            next_cursor,
            receipt: Self::receipt(&io, position),
        })
    }

    fn versions_of(
        &self,
        sight: &Sight<'_>,
        target: &Reference,
        newest: ostraca_object::key::Seq,
    ) -> Result<Vec<Version>> {
        let id = match target {
            Reference::Id(id) => Some(id.clone()),
            Reference::Key { .. } => self
                .resolve(sight, target, newest, newest)
                .map(|record| record.id.clone()),
        };
        let versions = id.map_or_else(Vec::new, |id| sight.versions(&id));
        let now = self.db.now().0;
        match versions.last() {
            Some(last)
                if last.record.realm == self.caller.realm
                    && last.record.expires.is_none_or(|expires| expires > now) =>
            {
                Ok(versions)
            }
            _ => Err(Error::not_found(format!(
                "no memory with {target}; a forgotten one is found by its id until it is purged"
            ))),
        }
    }
}

/// The names of the fields in which two versions differ.
fn differences(old: &Record, new: &Record) -> Vec<&'static str> {
    let pairs = [
        ("content", old.content != new.content),
        ("scope", old.scope != new.scope),
        ("key", old.key != new.key),
        ("title", old.title != new.title),
        ("kind", old.kind != new.kind),
        ("metadata", old.metadata != new.metadata),
        ("source", old.source != new.source),
        ("confidence", old.confidence != new.confidence),
        ("sensitivity", old.sensitivity != new.sensitivity),
        ("expires_at", old.expires != new.expires),
        ("status", old.status != new.status),
    ];
    pairs
        .into_iter()
        .filter(|(_, differs)| *differs)
        .map(|(name, _)| name)
        .collect()
}
