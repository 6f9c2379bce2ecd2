//! `watch` on the wire: changes after a cursor, waiting for the first one if asked
//! to. The cursor is durable: nothing between two calls is lost.

use std::time::Duration;

use ostraca_memory as domain;
use ostraca_memory::{Error, WatchRequest, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::history::Event;
use super::target::{Reach, selector};
use super::{Arguments, Memory, Receipt};

/// What to watch.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatchArgs {
    /// The `next_cursor` of the call before. Absent: from now on.
    pub cursor: Option<String>,
    /// Where to look, as a path. Absent: the root.
    pub scope: Option<String>,
    /// How far to look from the scope: `below` (the default), `exact`, `inherited` or `all`.
    pub reach: Option<Reach>,
    /// How long to wait for the first change; 0 if absent.
    #[schemars(range(min = 0, max = 25))]
    pub wait_seconds: Option<u32>,
    /// How many changes at most; 100 if absent.
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
}

impl Arguments for WatchArgs {}

impl TryFrom<WatchArgs> for WatchRequest {
    type Error = Error;

    fn try_from(args: WatchArgs) -> Result<Self, Error> {
        Ok(Self {
            cursor: args.cursor,
            scope: selector(args.scope.as_deref(), args.reach, Reach::Below)?,
            wait: Duration::from_secs(args.wait_seconds.unwrap_or(0).into()),
            limit: args.limit,
        })
    }
}

/// What changed, in order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WatchReply {
    /// The changes, the oldest first.
    pub changes: Vec<Change>,
    /// Pass it as `cursor` next time.
    pub next_cursor: String,
    /// Whether the wait ended without a change.
    pub timed_out: bool,
    /// What it took.
    pub receipt: Receipt,
}

/// One change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Change {
    /// The log position; changes of one commit share it.
    pub position: u64,
    /// What happened.
    pub event: Event,
    /// The id of the memory.
    pub id: String,
    /// The version that the change made.
    pub version: u64,
    /// When, RFC 3339 in UTC.
    pub time: String,
    /// The memory after the change; absent once it is forgotten or purged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

impl From<domain::Watched> for Change {
    fn from(change: domain::Watched) -> Self {
        Self {
            position: change.position,
            event: change.event.into(),
            id: change.id,
            version: change.version,
            time: time::format_instant(change.time),
            memory: change.record.map(|record| match change.excerpt {
                Some(excerpt) => Memory::excerpt(&record, excerpt),
                None => Memory::whole(&record),
            }),
        }
    }
}

impl From<domain::WatchReply> for WatchReply {
    fn from(reply: domain::WatchReply) -> Self {
        Self {
            changes: reply.changes.into_iter().map(Into::into).collect(),
            next_cursor: reply.next_cursor,
            timed_out: reply.timed_out,
            receipt: reply.receipt.into(),
        }
    }
}
