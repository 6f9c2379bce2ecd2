//! Which collections want compaction: a marker for each, under one prefix, so that
//! the scheduled job finds its work with one listing. It is no part of the log and
//! says nothing about it; what is due is decided by whoever reads the log.
//!
//! A marker names the entry up to which it asks for compaction. Whoever has compacted
//! (or has found nothing to do) clears the markers up to the last entry that it had
//! read, and no other. So a marker that a writer leaves meanwhile stays, whoever
//! clears, however often, and wherever it is interrupted.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::error::{Corrupt, StoreError};
use crate::io::{Io, Request};
use crate::key::{CollectionKey, Key, Prefix, Seq};
use crate::log::codec;
use crate::port::Timestamp;

/// Deletions in one wave.
const WAVE: usize = 64;

/// A collection that wants compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Which.
    pub collection: CollectionKey,
    /// The entries that its markers name, ascending; there is at least one.
    pub markers: Vec<Seq>,
    /// When the oldest of them was left, by the store's clock.
    pub since: Timestamp,
}

/// A marker could not be left.
#[derive(Debug, thiserror::Error)]
pub enum DueError {
    /// The store failed. The marker may or may not be there; leaving it again does no harm.
    #[error("the marker that {collection} is due was not left")]
    Store {
        /// Of which collection.
        collection: CollectionKey,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The marker could not be encoded.
    #[error("the marker that {collection} is due could not be written")]
    Encode {
        /// Of which collection.
        collection: CollectionKey,
        /// Why.
        #[source]
        source: Corrupt,
    },
}

/// Leaves a marker that the entries up to `entry` want compaction: one PUT, whether
/// it is there already or not.
///
/// `entry` must be in the log, so that a job that starts from the marker finds it.
/// Numbers are dense, so if each writer does this for the entries of its own that are
/// a multiple of a threshold away from the newest checkpoint, one writer does it for
/// each.
///
/// It is an overwrite and no create: its content is the same whoever writes it, and a
/// create may be refused as a conflict with nothing stored.
///
/// # Errors
///
/// See [`DueError`].
pub async fn mark(io: &Io, collection: &CollectionKey, entry: Seq) -> Result<(), DueError> {
    let key = Key::Due(collection.clone(), entry);
    let bytes = codec::marker_file(&key, Some(entry.0)).map_err(|source| DueError::Encode {
        collection: collection.clone(),
        source,
    })?;
    match io.one(Request::Put { key, bytes }).await {
        Ok(_) => Ok(()),
        Err(source) => Err(DueError::Store {
            collection: collection.clone(),
            source,
        }),
    }
}

/// The collections that want compaction, the longest waiting first: one listing,
/// which is one request for each thousand markers.
///
/// # Errors
///
/// The store failed.
pub async fn list(io: &Io) -> Result<Vec<Due>, StoreError> {
    let request = Request::List {
        prefix: Prefix::Due,
        after: None,
    };
    let listed = io.one(request).await?.into_listed();
    let mut due: BTreeMap<CollectionKey, Due> = BTreeMap::new();
    for marker in listed {
        if let Key::Due(collection, seq) = marker.key {
            let due = due.entry(collection.clone()).or_insert_with(|| Due {
                collection,
                markers: Vec::new(),
                since: marker.modified,
            });
            due.markers.push(seq);
            due.since = due.since.min(marker.modified);
        }
    }
    let mut due: Vec<Due> = due.into_values().collect();
    due.sort_by_key(|due| due.since);
    Ok(due)
}

/// Deletes those of the markers that ask for nothing above `through`, and says how
/// many.
///
/// `through` is the base of a checkpoint that is in the log, or the last entry of a
/// state in which nothing was due. Clear *after* that is certain: who is interrupted
/// before leaves a marker that costs a look, who clears first and is interrupted then
/// loses it.
///
/// # Errors
///
/// The store failed. What was deleted until then stays deleted; do it again.
pub async fn clear(io: &Io, due: &Due, through: Seq) -> Result<u64, StoreError> {
    let keys: Vec<Key> = due
        .markers
        .iter()
        .filter(|seq| **seq <= through)
        .map(|seq| Key::Due(due.collection.clone(), *seq))
        .collect();
    for wave in keys.chunks(WAVE) {
        let requests = wave
            .iter()
            .map(|key| Request::Delete { key: key.clone() })
            .collect();
        for answer in io.wave(requests).await {
            answer?;
        }
    }
    Ok(keys.len() as u64)
}
