//! `history` on the wire: the versions of one memory, the newest first, each with
//! what happened and which fields it changed.

use ostraca_memory as domain;
use ostraca_memory::{Error, HistoryRequest, VersionView, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::Names;
use super::{Arguments, Memory, Receipt};

/// Whose history to read.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryArgs {
    /// The id of the memory.
    pub id: Option<String>,
    /// Its key, instead of `id`.
    pub key: Option<String>,
    /// The scope that the key belongs to. Absent: the root.
    pub scope: Option<String>,
    /// How many versions at most.
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl Arguments for HistoryArgs {}

impl TryFrom<HistoryArgs> for HistoryRequest {
    type Error = Error;

    fn try_from(args: HistoryArgs) -> Result<Self, Error> {
        let HistoryArgs {
            id,
            key,
            scope,
            limit,
            cursor,
        } = args;
        let target = Names {
            id,
            key,
            scope,
            ..Names::default()
        }
        .one()?;
        Ok(Self {
            target,
            limit,
            cursor,
            freshness: domain::Freshness::default(),
        })
    }
}

/// The versions of one memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HistoryReply {
    /// The id of the memory.
    pub id: String,
    /// Its versions, the newest first.
    pub versions: Vec<Version>,
    /// Pass it as `cursor` for older ones; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

/// One version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Version {
    /// What happened.
    pub event: Event,
    /// The log position; usable as `as_of`.
    pub position: u64,
    /// When, RFC 3339 in UTC.
    pub time: String,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Why, in the words of whoever did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The fields that differ from the version before.
    pub changed: Vec<String>,
    /// The memory as it was then.
    pub memory: Memory,
}

/// What happened to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Event {
    /// It was remembered.
    Created,
    /// It was changed.
    Updated,
    /// It was forgotten and can be restored.
    Forgotten,
    /// It came back.
    Restored,
    /// It was erased.
    Purged,
}

impl From<domain::Event> for Event {
    fn from(event: domain::Event) -> Self {
        match event {
            domain::Event::Created => Self::Created,
            // Settings and catalogues are no memories, so they are in no history and no feed.
            domain::Event::Updated | domain::Event::Setting | domain::Event::Catalogue => {
                Self::Updated
            }
            domain::Event::Forgotten => Self::Forgotten,
            domain::Event::Restored => Self::Restored,
            domain::Event::Purged => Self::Purged,
        }
    }
}

impl From<VersionView> for Version {
    fn from(view: VersionView) -> Self {
        Self {
            event: view.event.into(),
            position: view.position,
            time: time::format_instant(view.time),
            author: view.record.author.clone(),
            reason: view.reason,
            changed: view.changed.into_iter().map(str::to_owned).collect(),
            memory: Memory::excerpt(&view.record, view.excerpt),
        }
    }
}

impl From<domain::HistoryReply> for HistoryReply {
    fn from(reply: domain::HistoryReply) -> Self {
        Self {
            id: reply.id,
            versions: reply.versions.into_iter().map(Into::into).collect(),
            next_cursor: reply.next_cursor,
            receipt: reply.receipt.into(),
        }
    }
}
