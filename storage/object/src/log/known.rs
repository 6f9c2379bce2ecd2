//! The commits of the recent past by id, so that a retried one takes effect
//! once. It is bounded: a retry is recognised for as long as it is in here.

use std::collections::{BTreeMap, VecDeque};

use super::commit::Replay;
use super::entry::{Entry, Recent};
use crate::port::{CommitId, Timestamp};

/// Commits that a process remembers.
const IN_MEMORY: usize = 8_192;
/// Commits that a checkpoint hands on to readers that start from it.
const IN_CHECKPOINT: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Known {
    by_id: BTreeMap<CommitId, Replay>,
    order: VecDeque<CommitId>,
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

    /// What a checkpoint hands on: the newest, not older than `since`.
    pub(super) fn recent(&self, since: Timestamp) -> Vec<Recent> {
        let mut recent: Vec<Recent> = self
            .order
            .iter()
            .rev()
            .take(IN_CHECKPOINT)
            .filter_map(|id| {
                let replay = self.by_id.get(id)?;
                (replay.time >= since).then(|| Recent {
                    id: *id,
                    seq: replay.seq,
                    time: replay.time,
                    note: replay.note.clone(),
                })
            })
            .collect();
        recent.reverse();
        recent
    }

    fn insert(&mut self, id: CommitId, replay: Replay) {
        if self.by_id.contains_key(&id) {
            return;
        }
        self.by_id.insert(id, replay);
        self.order.push_back(id);
        if self.order.len() > IN_MEMORY
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
    }
}
