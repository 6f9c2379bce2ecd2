//! What this process knows of a log: the fold, how far it goes, when that was
//! last verified, and what the next entry has to repeat. It does no I/O.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::carried::{Carried, Object};
use super::entry::{Checkpoint, Entry};
use super::fold::Fold;
use super::known::Known;
use crate::error::Corrupt;
use crate::key::{CollectionKey, Key, Seq};
use crate::port::Timestamp;

/// The state of a log in this process.
#[derive(Debug)]
pub(super) struct State<F> {
    pub(super) fold: F,
    /// The last entry that is in the fold.
    pub(super) seq: Seq,
    /// Its time.
    pub(super) time: Timestamp,
    /// Whether anything has been read yet.
    pub(super) loaded: bool,
    /// What the next entry repeats.
    pub(super) carried: Carried,
    /// The newest checkpoint that is in the fold.
    pub(super) checkpoint: Option<Newest>,
    pub(super) known: Known,
    pub(super) verified: Verified,
    pub(super) attachments: BTreeMap<String, Bytes>,
}

/// The newest checkpoint.
#[derive(Clone, Debug)]
pub(super) struct Newest {
    pub(super) seq: Seq,
    pub(super) checkpoint: Checkpoint,
    /// The time of the entry after it: by then it was in the log. Its own time
    /// says only when it was decided on.
    pub(super) stored_by: Option<Timestamp>,
}

/// When the state was last known to be the newest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verified {
    /// The ticket drawn before the request that verified it went out. Whoever
    /// drew a smaller ticket began before.
    pub(super) ticket: u64,
    /// The time when that request went out.
    pub(super) time: Timestamp,
}

/// A run of entries that continues the state or replaces it.
pub(super) struct Run {
    /// Consecutive entries, the first of which follows the state or is a checkpoint.
    pub(super) entries: Vec<Arc<Entry>>,
    /// The objects from which they come, ascending, the last entry's among them unless
    /// it is from the head.
    pub(super) objects: Vec<Object>,
    /// Whether the state starts over.
    pub(super) origin: Origin,
}

/// What a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The state as it is.
    Continued,
    /// An empty state, because nothing was known or nothing known connects.
    Fresh,
}

/// The run does not connect to the state, which another task has moved.
#[derive(Debug)]
pub(super) struct Disconnected;

impl<F: Fold> State<F> {
    pub(super) fn new() -> Self {
        Self {
            fold: F::default(),
            seq: Seq::ZERO,
            time: Timestamp::default(),
            loaded: false,
            carried: Carried::default(),
            checkpoint: None,
            known: Known::default(),
            verified: Verified::default(),
            attachments: BTreeMap::new(),
        }
    }

    /// Takes a run, as far as it is new.
    pub(super) fn advance(
        &mut self,
        collection: &CollectionKey,
        run: &Run,
    ) -> Result<Result<(), Disconnected>, Corrupt> {
        match (run.entries.last(), run.origin) {
            // Nothing is new, if what this continues is still there.
            (None, Origin::Continued) if self.loaded => return Ok(Ok(())),
            (None, Origin::Continued) => return Ok(Err(Disconnected)),
            (newest, _) if self.loaded && newest.is_none_or(|newest| newest.seq <= self.seq) => {
                return Ok(Ok(()));
            }
            (_, Origin::Continued) if !self.loaded => return Ok(Err(Disconnected)),
            (_, Origin::Continued) => {}
            (_, Origin::Fresh) => {
                let attachments = std::mem::take(&mut self.attachments);
                *self = Self {
                    verified: self.verified,
                    attachments,
                    ..Self::new()
                };
            }
        }
        let before = self.seq;
        for entry in &run.entries {
            if entry.seq <= self.seq {
                continue;
            }
            let follows = entry.seq == self.seq.next();
            if !follows && entry.header.checkpoint.is_none() {
                return Ok(Err(Disconnected));
            }
            if let Err(corrupt) = self.take(entry) {
                *self = Self::new();
                return Err(Corrupt {
                    key: Key::Log(collection.clone(), entry.seq).to_string(),
                    ..corrupt
                });
            }
        }
        self.loaded = true;
        for object in &run.objects {
            if object.entries.last().is_some_and(|own| own.seq > before) {
                self.carried.took(object);
            }
        }
        Ok(Ok(()))
    }

    fn take(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        self.fold.apply(entry)?;
        if entry.seq != self.seq.next()
            && let Some(checkpoint) = &entry.header.checkpoint
        {
            self.known.skip_to(checkpoint);
        }
        self.known.learn(entry);
        self.seq = entry.seq;
        self.time = entry.header.time;
        if let Some(checkpoint) = &entry.header.checkpoint {
            self.checkpoint = Some(Newest {
                seq: entry.seq,
                checkpoint: checkpoint.clone(),
                stored_by: None,
            });
        } else if let Some(newest) = &mut self.checkpoint
            && newest.seq.next() == entry.seq
        {
            newest.stored_by = Some(entry.header.time);
        }
        Ok(())
    }

    /// The state was the newest when the holder of `verified` asked.
    pub(super) fn verify(&mut self, verified: Verified) {
        if verified.ticket > self.verified.ticket {
            self.verified = verified;
        }
    }
}
