//! Deleting what nobody can need any more: entries below the floor, and
//! segments that no checkpoint has had for longer than the horizon. Safe to run
//! at any time, twice at once, and to stop anywhere.

use std::collections::BTreeSet;

use super::Log;
use super::error::LogError;
use super::fold::Fold;
use crate::io::{Io, Request};
use crate::key::{Key, Prefix, Seq};

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
    /// first, and the segments that have been out of use for the horizon.
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
            .map_or(now, |listed| listed.modified);
        let void: Vec<Key> = log
            .into_iter()
            .map(|listed| listed.key)
            .filter(|key| matches!(key, Key::Log(_, seq) if *seq < newest.floor))
            .collect();
        let superseded = newest.superseded.iter().filter(|old| {
            now.millis_since(old.time.unwrap_or(stored)) <= self.settings().horizon_ms
        });
        let in_use: BTreeSet<&str> = newest
            .segments
            .iter()
            .chain(superseded.map(|old| &old.segment))
            .map(String::as_str)
            .collect();
        let segments = io.one(list(Prefix::Segments(collection.clone()))).await?;
        let unused: Vec<Key> = segments
            .into_listed()
            .into_iter()
            // A young one may belong to a compaction that has not committed yet.
            .filter(|listed| now.millis_since(listed.modified) > self.settings().horizon_ms)
            .map(|listed| listed.key)
            .filter(|key| {
                matches!(key, Key::Segment(_, segment, _) if !in_use.contains(segment.as_str()))
            })
            .collect();
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
