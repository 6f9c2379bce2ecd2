//! One atomic commit as the domain sees it. Its bytes are `codec`'s matter.

use std::ops::Range;

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::key::Seq;
use crate::port::{CommitId, Timestamp, WriterId};

/// A batch of changes with a place in the total order.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place.
    pub seq: Seq,
    /// Who wrote it, when and as which commits.
    pub header: Header,
    /// Its own rows with the columns that their writer knew, without `seq`.
    pub rows: RecordBatch,
}

/// What an entry says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// When it was written; never before the entry that precedes it.
    pub time: Timestamp,
    /// Which process wrote it.
    pub writer: WriterId,
    /// How many creates its writer lost before this one succeeded. All writers
    /// read it and pace themselves by it.
    pub lost: u32,
    /// The commits in it, in the order of their rows.
    pub commits: Vec<Commit>,
    /// If this entry is a checkpoint, what it stands for.
    pub checkpoint: Option<Checkpoint>,
}

/// One commit in an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// Its name.
    pub id: CommitId,
    /// Its rows within the entry's.
    pub rows: Range<usize>,
    /// What the domain noted with it.
    pub note: Option<Value>,
}

/// Segments that stand for everything up to `base`, and rows for the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The last entry that the segments cover.
    pub base: Seq,
    /// Numbers below are void: clean-up may delete them.
    pub floor: Seq,
    /// The names of the segments, oldest first.
    pub segments: Vec<String>,
    /// Checkpoints before this one that may become the floor later, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
    /// Segments of earlier checkpoints that readers may still be reading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<Superseded>,
    /// Commits that entries before this one held and that may still be retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<Recent>,
    /// All commits from this time on are in `recent`; without it, all there are.
    #[serde(
        default,
        rename = "recent_since_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub recent_since: Option<Timestamp>,
}

/// A checkpoint before another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// Its number.
    pub seq: Seq,
    /// When it was certainly in the log. Its own time is when it was decided on,
    /// and a stalled writer may store it long after.
    #[serde(rename = "time_ms")]
    pub time: Timestamp,
}

/// A segment that no longer counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// Its name.
    pub segment: String,
    /// When the checkpoint that left it out was certainly in the log; nothing in
    /// that checkpoint itself, which cannot know when it will be stored.
    #[serde(default, rename = "time_ms", skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
}

/// A commit that is in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recent {
    /// Its name.
    pub id: CommitId,
    /// The entry that holds it.
    pub seq: Seq,
    /// That entry's time.
    #[serde(rename = "time_ms")]
    pub time: Timestamp,
    /// What the domain noted with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Value>,
}
