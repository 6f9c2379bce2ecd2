//! The commits of the recent past by id, so that a retried one takes effect
//! once. It is bounded: a retry is recognised for as long as it is in here.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use super::commit::Replay;
use super::entry::{Checkpoint, Entry, Recent};
use crate::port::{CommitId, Timestamp};

/// Commits that a process remembers.
const IN_MEMORY: usize = 8_192;
/// Commits that a checkpoint hands on to readers that start from it.
const IN_CHECKPOINT: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Known {
    by_id: BTreeMap<CommitId, Replay>,
    order: VecDeque<CommitId>,
    /// All commits from this time on are known; without it, all there are.
    since: Option<Timestamp>,
}

/// What a checkpoint hands on.
pub(super) struct HandedOn {
    pub(super) recent: Vec<Recent>,
    pub(super) since: Option<Timestamp>,
}

impl Known {
    pub(super) fn get(&self, id: CommitId) -> Option<&Replay> {
        self.by_id.get(&id)
    }

    pub(super) fn learn(&mut self, entry: &Entry) {
        if let Some(checkpoint) = &entry.header.checkpoint {
            for recent in &checkpoint.recent {
                let replay = Replay {
                    seq: recent.seq,
                    time: recent.time,
                    note: recent.note.clone(),
                };
                self.insert(recent.id, replay);
            }
        }
        for commit in &entry.header.commits {
            let replay = Replay {
                seq: entry.seq,
                time: entry.header.time,
                note: commit.note.clone(),
            };
            self.insert(commit.id, replay);
        }
    }

    /// Whether a commit of that time would be known if it were in the log.
    pub(super) fn covers(&self, time: Timestamp) -> bool {
        self.since.is_none_or(|since| time >= since)
    }

    /// The commits before a checkpoint were not read, but for those that it hands on.
    pub(super) fn skip_to(&mut self, checkpoint: &Checkpoint) {
        self.since = self.since.max(checkpoint.recent_since);
    }

    /// The newest commits that are not older than `oldest`.
    pub(super) fn hand_on(&self, oldest: Timestamp) -> HandedOn {
        let kept = self
            .order
            .iter()
            .filter_map(|id| Some((*id, self.by_id.get(id)?)))
            .filter(|(_, replay)| replay.time >= oldest);
        let dropped = kept.clone().count().saturating_sub(IN_CHECKPOINT);
        // Commits share an entry's time: what is as old as a dropped one may be missing.
        let after_dropped = kept
            .clone()
            .take(dropped)
            .last()
            .map(|(_, replay)| replay.time.plus_millis(1));
        let too_old = self.order.len() > kept.clone().count();
        HandedOn {
            recent: kept
                .skip(dropped)
                .map(|(id, replay)| Recent {
                    id,
                    seq: replay.seq,
                    time: replay.time,
                    note: replay.note.clone(),
                })
                .collect(),
            since: self.since.max(after_dropped).max(too_old.then_some(oldest)),
        }
    }

    fn insert(&mut self, id: CommitId, replay: Replay) {
        if self.by_id.contains_key(&id) {
            return;
        }
        self.by_id.insert(id, replay);
        self.order.push_back(id);
        if self.order.len() > IN_MEMORY
            && let Some(oldest) = self.order.pop_front()
            && let Some(replay) = self.by_id.remove(&oldest)
        {
            self.since = self.since.max(Some(replay.time.plus_millis(1)));
        }
    }
}
