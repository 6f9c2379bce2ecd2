//! What a caller says and hears when it commits. How a commit gets into the
//! log is the matter of `attempt`.

use arrow_array::RecordBatch;
use serde_json::Value;

use crate::key::Seq;
use crate::port::Timestamp;

/// The entry that is being decided on.
#[derive(Clone, Debug, PartialEq)]
pub struct At {
    /// The number it will have.
    pub seq: Seq,
    /// The time it will have.
    pub time: Timestamp,
    /// The commit id is in the log already: the decision writes nothing and
    /// only says again what came of it. What it returns as rows is dropped.
    pub replay: Option<Replay>,
}

/// Where a commit took effect before.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The entry that holds it.
    pub seq: Seq,
    /// That entry's time.
    pub time: Timestamp,
    /// What the domain noted with it.
    pub note: Option<Value>,
}

/// What a decision came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision<T> {
    /// Write these rows.
    Commit {
        /// The rows, with columns of the fold's schema; there may be none.
        rows: RecordBatch,
        /// Kept with the commit, so that a replay can answer as the first time.
        note: Option<Value>,
        /// What the caller gets once the rows are durable.
        value: T,
    },
    /// There is nothing to write.
    Unchanged(T),
}

/// A commit that is durable, or that had nothing to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed<T> {
    /// The entry that holds it; for `Unchanged`, the entry up to which the
    /// state was current.
    pub seq: Seq,
    /// That entry's time; for `Unchanged`, the time of the decision.
    pub time: Timestamp,
    /// What the decision gave.
    pub value: T,
    /// Whether anything was written, and when.
    pub effect: Effect,
}

/// Whether a commit wrote anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Its rows are in the entry.
    Written,
    /// There was nothing to write.
    Unchanged,
    /// An earlier request with the same commit id had written it.
    Replayed,
}
