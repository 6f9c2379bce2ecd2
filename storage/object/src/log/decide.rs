//! From waiting commits and a state to the bytes of the next entry. Synchronous
//! and without I/O, so that what is decided depends on nothing but these.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::commit::At;
use super::entry::{Checkpoint, Commit, Earlier, Entry, Header, Superseded};
use super::fold::Fold;
use super::state::State;
use super::work::{Attempt, Failure, Item, Kind, Settled, Verdict, Work};
use super::{Log, codec};
use crate::error::Corrupt;
use crate::key::{Key, Seq};
use crate::port::Timestamp;

/// Commits in one entry.
const GROUP_COMMITS: usize = 1_024;

/// For how many horizons a checkpoint hands on the commits before it.
const HORIZONS_KNOWN: u64 = 4;

/// What the decisions came to.
pub(super) enum Decided<F: Fold> {
    /// This entry is to be created.
    Entry(Box<Attempt<F>>),
    /// All that could be settled is; some items remain that want a verified state.
    Unverified,
    /// Nothing remains to be done for the items looked at.
    Settled,
}

struct Written<F: Fold> {
    item: Item<F>,
    rows: RecordBatch,
    commit: Commit,
}

impl<F: Fold> Log<F> {
    /// Decides on the waiting items in their order. An item that has nothing to
    /// write is settled at once if the state was verified after it began and no
    /// undecided write came before it.
    pub(super) fn decide(&self, work: &mut Work<F>, now: Timestamp) -> Decided<F> {
        let state = self.state();
        let seq = state.seq.next();
        let time = now.max(state.time);
        let mut draft = F::Draft::default();
        let mut written: Vec<Written<F>> = Vec::new();
        let mut ids = BTreeSet::new();
        let mut bystanders = Vec::new();
        let mut unverified = Vec::new();
        let mut later = Vec::new();
        let mut kind = Kind::Rows;
        let mut rows_count = 0_usize;
        let mut bytes = 0_usize;
        let mut closed = false;

        for mut item in work.items.drain(..) {
            if item.is_abandoned() {
                continue;
            }
            if closed || ids.contains(&item.id) {
                later.push(item);
                continue;
            }
            if let Some(replay) = state.known.get(item.id) {
                let at = At {
                    seq,
                    time,
                    replay: Some(replay.clone()),
                };
                let settled = match item.decide(&state.fold, &mut F::Draft::default(), at) {
                    Verdict::Rows { .. } | Verdict::Unchanged => Settled::Replayed {
                        seq: replay.seq,
                        time: replay.time,
                    },
                    Verdict::Failed => Settled::Failed,
                };
                item.settle(settled);
                continue;
            }
            // Only now, as it may be in the log through an earlier try.
            if item.tries > 0 && now.millis_since(item.began) > self.settings().commit_timeout_ms {
                let attempts = item.tries;
                item.settle(Settled::Broken(Failure::Contended { attempts }));
                continue;
            }
            if let Kind::Checkpoint { base, .. } = &item.kind {
                // A checkpoint has an entry of its own.
                if !written.is_empty() {
                    closed = true;
                    later.push(item);
                    continue;
                }
                match &state.checkpoint {
                    Some(newest) if newest.seq > *base => {
                        let by = newest.seq;
                        item.settle(Settled::Broken(Failure::Superseded { by }));
                        continue;
                    }
                    _ if *base > state.seq => {
                        let reason =
                            format!("its base {base} lies above the last entry {}", state.seq);
                        item.settle(Settled::Broken(Failure::Invalid(Corrupt::new(
                            Key::Log(self.collection().clone(), seq),
                            reason,
                        ))));
                        continue;
                    }
                    _ => {}
                }
            }
            let at = At {
                seq,
                time,
                replay: None,
            };
            let settled = match item.decide(&state.fold, &mut draft, at) {
                Verdict::Rows { rows, note } => {
                    ids.insert(item.id);
                    let end = rows_count + rows.num_rows();
                    let commit = Commit {
                        id: item.id,
                        rows: rows_count..end,
                        note,
                    };
                    rows_count = end;
                    bytes = bytes.saturating_add(rows.get_array_memory_size());
                    kind = item.kind.clone();
                    closed = matches!(kind, Kind::Checkpoint { .. })
                        || bytes >= self.settings().group_bytes
                        || ids.len() >= GROUP_COMMITS;
                    written.push(Written { item, rows, commit });
                    continue;
                }
                Verdict::Unchanged => Settled::Unchanged {
                    seq: state.seq,
                    time,
                },
                Verdict::Failed => Settled::Failed,
            };
            if !written.is_empty() {
                bystanders.push((item, settled));
            } else if state.verified.ticket > item.ticket {
                item.settle(settled);
            } else {
                unverified.push((item, settled));
            }
        }
        work.items = later;
        if written.is_empty() {
            let waiting = !unverified.is_empty();
            work.items
                .extend(unverified.into_iter().map(|(item, _)| item));
            work.items.sort_by_key(|item| item.ticket);
            return if waiting {
                Decided::Unverified
            } else {
                Decided::Settled
            };
        }
        bystanders.append(&mut unverified);
        match self.attempt(&state, written, kind, now, work.losses) {
            Ok(mut attempt) => {
                attempt.bystanders = bystanders;
                Decided::Entry(Box::new(attempt))
            }
            Err((writers, corrupt)) => {
                for item in writers {
                    item.settle(Settled::Broken(Failure::Invalid(corrupt.clone())));
                }
                work.items
                    .extend(bystanders.into_iter().map(|(item, _)| item));
                work.items.sort_by_key(|item| item.ticket);
                Decided::Settled
            }
        }
    }

    fn attempt(
        &self,
        state: &State<F>,
        written: Vec<Written<F>>,
        kind: Kind,
        now: Timestamp,
        lost: u32,
    ) -> Result<Attempt<F>, (Vec<Item<F>>, Corrupt)> {
        let seq = state.seq.next();
        let key = Key::Log(self.collection().clone(), seq);
        let mut writers = Vec::with_capacity(written.len());
        let mut batches = Vec::with_capacity(written.len());
        let mut commits = Vec::with_capacity(written.len());
        for written in written {
            writers.push(written.item);
            batches.push(written.rows);
            commits.push(written.commit);
        }
        let rows = match codec::unite_rows(&key, &F::schema(), &batches) {
            Ok(rows) => rows,
            Err(corrupt) => return Err((writers, corrupt)),
        };
        let checkpoint = match kind {
            Kind::Rows => None,
            Kind::Checkpoint { base, segments } => {
                Some(self.new_checkpoint(state, base, segments, now))
            }
        };
        let mut object = match &checkpoint {
            Some(_) => Vec::new(),
            None => state.carried.for_entry(seq),
        };
        let entry = Arc::new(Entry {
            seq,
            header: Header {
                time: now.max(state.time),
                writer: self.writer(),
                lost,
                commits,
                checkpoint,
            },
            rows,
        });
        object.push(Arc::clone(&entry));
        match codec::encode(&key, &F::schema(), &object) {
            Ok(bytes) => Ok(Attempt {
                entry,
                object,
                bytes,
                view: state.verified.time,
                began: now,
                sent: 0,
                writers,
                bystanders: Vec::new(),
            }),
            Err(corrupt) => Err((writers, corrupt)),
        }
    }

    fn new_checkpoint(
        &self,
        state: &State<F>,
        base: Seq,
        segments: Vec<String>,
        now: Timestamp,
    ) -> Checkpoint {
        let horizon = self.settings().horizon_ms;
        let (mut earlier, mut floor) = match &state.checkpoint {
            None => (Vec::new(), Seq::ZERO),
            Some(newest) => {
                let mut earlier = newest.checkpoint.earlier.clone();
                earlier.push(Earlier {
                    seq: newest.seq,
                    time: newest.stored_by.unwrap_or(now),
                });
                (earlier, newest.checkpoint.floor)
            }
        };
        // What was superseded for longer than the horizon by now may go.
        let old = |earlier: &Earlier| now.millis_since(earlier.time) > horizon;
        if let Some(newest_old) = earlier.iter().rev().find(|earlier| old(earlier)) {
            floor = floor.max(newest_old.seq);
        }
        earlier.retain(|earlier| !old(earlier));
        thin_out(&mut earlier, horizon / 8);
        let window = i64::try_from(horizon.saturating_mul(HORIZONS_KNOWN)).unwrap_or(i64::MAX);
        let handed_on = state.known.hand_on(Timestamp(now.0.saturating_sub(window)));
        let superseded = superseded(state, &segments, now, horizon);
        Checkpoint {
            base,
            floor,
            segments,
            earlier,
            superseded,
            recent: handed_on.recent,
            recent_since: handed_on.since,
        }
    }
}

/// The segments that the newest checkpoint has and `segments` has not, and those
/// that were left out before, for as long as the horizon.
fn superseded<F: Fold>(
    state: &State<F>,
    segments: &[String],
    now: Timestamp,
    horizon_ms: u64,
) -> Vec<Superseded> {
    let Some(newest) = &state.checkpoint else {
        return Vec::new();
    };
    let stored_by = newest.stored_by.unwrap_or(now);
    let before = newest.checkpoint.superseded.iter().map(|old| Superseded {
        segment: old.segment.clone(),
        time: old.time.or(Some(stored_by)),
    });
    let left_out = newest.checkpoint.segments.iter().map(|segment| Superseded {
        segment: segment.clone(),
        time: None,
    });
    before
        .chain(left_out)
        .filter(|old| !segments.contains(&old.segment))
        .filter(|old| {
            old.time
                .is_none_or(|time| now.millis_since(time) <= horizon_ms)
        })
        .collect()
}

/// Keeps of checkpoints in quick succession only those at least `apart_ms` apart.
fn thin_out(earlier: &mut Vec<Earlier>, apart_ms: u64) {
    let mut last: Option<Timestamp> = None;
    earlier.retain(|checkpoint| match last {
        Some(before) if checkpoint.time.millis_since(before) < apart_ms => false,
        _ => {
            last = Some(checkpoint.time);
            true
        }
    });
}
