//! Deleting what nobody can need any more: entries below the floor, segments that a
//! checkpoint left out longer ago than the horizon, and those of compactions that can no
//! longer commit. Safe to run at any time, twice at once, and to stop anywhere.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::Log;
use super::entry::Checkpoint;
use super::error::LogError;
use super::fold::Fold;
use crate::io::{Io, Listed, Request};
use crate::key::{Key, Prefix, SegmentId, Seq};
use crate::port::Timestamp;

/// Deletions in one wave.
const WAVE: usize = 64;

/// What clean-up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanedUp {
    /// Entries deleted.
    pub entries: u64,
    /// Objects of segments deleted.
    pub segment_objects: u64,
    /// The floor, below which there are no entries now.
    pub floor: Seq,
}

impl<F: Fold> Log<F> {
    /// Deletes the entries below the floor of the newest checkpoint, oldest
    /// first, the segments that have been out of use for the horizon, and what
    /// compactions left behind that were overtaken by the newest checkpoint.
    ///
    /// The floor moves only with a checkpoint: to be rid of what the newest one
    /// superseded, commit another after the horizon.
    ///
    /// # Errors
    ///
    /// The store failed, or the log could not be read. What was deleted until then
    /// stays deleted; run it again.
    pub async fn clean_up(&self, io: &Io) -> Result<CleanedUp, LogError> {
        self.reload(io).await?;
        let Some((seq, newest)) = self.newest_checkpoint() else {
            return Ok(CleanedUp::default());
        };
        let now = io.clock().now();
        let list = |prefix| Request::List {
            prefix,
            after: None,
        };
        let collection = self.collection();
        let log = io.one(list(Prefix::Log(collection.clone()))).await?;
        let log = log.into_listed();
        let newest_key = Key::Log(collection.clone(), seq);
        let stored = log
            .iter()
            .find(|listed| listed.key == newest_key)
            .map(|listed| listed.modified);
        let void: Vec<Key> = log
            .into_iter()
            .map(|listed| listed.key)
            .filter(|key| matches!(key, Key::Log(_, seq) if *seq < newest.floor))
            .collect();
        let segments = io.one(list(Prefix::Segments(collection.clone()))).await?;
        let unused = match stored {
            Some(stored) => {
                let horizon_ms = self.settings().horizon_ms;
                unused(&newest, segments.into_listed(), stored, now, horizon_ms)
            }
            // Another job has cleaned up, by a newer checkpoint.
            None => Vec::new(),
        };
        let cleaned = CleanedUp {
            entries: void.len() as u64,
            segment_objects: unused.len() as u64,
            floor: newest.floor,
        };
        delete(io, void).await?;
        delete(io, unused).await?;
        Ok(cleaned)
    }
}

/// The objects of segments that nobody needs, when the newest checkpoint was stored at
/// `stored`.
///
/// A segment that no checkpoint names may belong to a compaction that has not committed
/// yet, however long it has been held up. But one that began to write before the newest
/// checkpoint was stored had read the log before that: its own checkpoint would be
/// superseded. Both times are the store's, and half a horizon makes up for its clocks.
fn unused(
    newest: &Checkpoint,
    segments: Vec<Listed>,
    stored: Timestamp,
    now: Timestamp,
    horizon_ms: u64,
) -> Vec<Key> {
    let old = |time: Timestamp| now.millis_since(time) > horizon_ms;
    let named: BTreeSet<&str> = newest.segments.iter().map(String::as_str).collect();
    let superseded: BTreeMap<&str, Timestamp> = newest
        .superseded
        .iter()
        .map(|old| (old.segment.as_str(), old.time.unwrap_or(stored)))
        .collect();
    let mut began: BTreeMap<SegmentId, Timestamp> = BTreeMap::new();
    for listed in &segments {
        if let Key::Segment(_, segment, _) = &listed.key {
            began
                .entry(segment.clone())
                .and_modify(|began| *began = listed.modified.min(*began))
                .or_insert(listed.modified);
        }
    }
    let is_unused = |segment: &SegmentId| {
        if named.contains(segment.as_str()) {
            return false;
        }
        if let Some(since) = superseded.get(segment.as_str()) {
            return old(*since);
        }
        began
            .get(segment)
            .is_some_and(|began| old(*began) && stored.millis_since(*began) > horizon_ms / 2)
    };
    segments
        .into_iter()
        .map(|listed| listed.key)
        .filter(|key| matches!(key, Key::Segment(_, segment, _) if is_unused(segment)))
        .collect()
}

async fn delete(io: &Io, keys: Vec<Key>) -> Result<(), LogError> {
    for wave in keys.chunks(WAVE) {
        let requests = wave
            .iter()
            .map(|key| Request::Delete { key: key.clone() })
            .collect();
        for answer in io.wave(requests).await {
            answer?;
        }
    }
    Ok(())
}
