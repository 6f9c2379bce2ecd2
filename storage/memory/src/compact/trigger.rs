//! Opportunistic compaction: the writer of the entry at which the log's tail passes a
//! threshold leaves a marker and folds the tail once it has answered. Which entry that is
//! follows from the log alone, so of any number of processes one does it. It must never
//! fail a write.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ostraca_object::due::{self, Due};
use ostraca_object::io::Io;
use ostraca_object::key::{CollectionKey, Seq};
use ostraca_object::log::Log;
use ostraca_object::log::commit::{Committed, Effect};
use ostraca_object::log::entry::Checkpoint;
use ostraca_object::port::Timestamp;
use ostraca_search::Embedding;

use super::{Compacted, CompactionOutcome, Effort};
use crate::database::Database;
use crate::error::Result;
use crate::row::Row;
use crate::session::Session;
use crate::view::View;

/// Entries after which a tail is due.
const ENTRIES: u64 = 64;
/// Bytes after which it is due, however few its entries.
const BYTES: u64 = 4 << 20;
/// What a row counts beside its content and its vectors.
const ROW_BYTES: u64 = 256;
/// After so many milliseconds a compaction counts as cut off: a runtime may neither go on
/// with it nor drop it.
const CUT_OFF_MS: u64 = 5 * 60_000;
/// How often in a horizon one process cleans up a collection.
const CLEANINGS: u64 = 8;
/// How often one task starts over because more became due while it worked.
const ROUNDS: u32 = 3;

/// What this process knows about the tail of one collection.
#[derive(Debug, Default)]
pub(crate) struct Trigger {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sizes: Sizes,
    /// Entries of this process that a marker is left for, by whichever of its commits.
    claimed: BTreeSet<Seq>,
    /// The markers that this process has left and not cleared.
    left: BTreeSet<Seq>,
    /// When the compaction began that this process is at.
    running: Option<Timestamp>,
    /// Whether something may be deleted, and when that was last done.
    frees: bool,
    cleaned: Option<Timestamp>,
}

/// The bytes of a tail up to each of its entries.
#[derive(Debug, Default)]
struct Sizes {
    base: Seq,
    sums: Vec<(Seq, u64)>,
}

impl Sizes {
    /// Counts the rows that are new.
    fn count(&mut self, base: Seq, recent: &[Row]) {
        if self.base != base {
            *self = Self {
                base,
                sums: Vec::new(),
            };
        }
        let (counted, mut sum) = self.sums.last().copied().unwrap_or_default();
        let from = recent.partition_point(|row| row.place.seq <= counted.0);
        for row in recent.get(from..).unwrap_or_default() {
            sum += weight(row);
            match self.sums.last_mut() {
                Some((seq, total)) if seq.0 == row.place.seq => *total = sum,
                _ => self.sums.push((Seq(row.place.seq), sum)),
            }
        }
    }

    /// The bytes up to an entry.
    fn through(&self, entry: Seq) -> u64 {
        let after = self.sums.partition_point(|(seq, _)| *seq <= entry);
        let last = after.checked_sub(1).and_then(|last| self.sums.get(last));
        last.map_or(0, |(_, sum)| *sum)
    }

    /// Whether the tail passes a threshold with this entry.
    fn passes_at(&self, entry: Seq) -> bool {
        if entry <= self.base {
            return false;
        }
        let entries = entry.0 - self.base.0;
        let (before, with) = (self.through(entry.prev()), self.through(entry));
        entries.is_multiple_of(ENTRIES) || with / BYTES > before / BYTES
    }
}

fn weight(row: &Row) -> u64 {
    let record = &row.change.record;
    let vectors = match &record.embedding {
        Embedding::Ready { chunks, .. } => {
            chunks.iter().map(|chunk| chunk.vector.len()).sum::<usize>() * size_of::<f32>()
        }
        Embedding::None | Embedding::Pending { .. } => 0,
    };
    (record.content.len() + vectors) as u64 + ROW_BYTES
}

impl Trigger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to leave a marker at an entry of this process: true once for each.
    fn is_due(&self, log: &Log<View>, entry: Seq) -> bool {
        log.read(|view, _| {
            let mut state = self.state();
            let base = view.catalogue().base;
            state.sizes.count(base, view.recent());
            state.claimed.retain(|claimed| *claimed > base);
            state.sizes.passes_at(entry) && state.claimed.insert(entry)
        })
    }

    /// Whether to clean up now. It lists, so it is not done each time that something frees.
    fn may_clean(&self, now: Timestamp, horizon_ms: u64) -> bool {
        let mut state = self.state();
        let rests = |last: Timestamp| now.millis_since(last) < horizon_ms / CLEANINGS;
        let may = state.frees && !state.cleaned.is_some_and(rests);
        if may {
            state.frees = false;
            state.cleaned = Some(now);
        }
        may
    }

    /// Takes the turn to compact, unless this process is at it.
    fn begin(self: &Arc<Self>, now: Timestamp) -> Option<Turn> {
        let mut state = self.state();
        let is_busy = |since: Timestamp| now.millis_since(since) <= CUT_OFF_MS;
        if state.running.is_some_and(is_busy) {
            return None;
        }
        state.running = Some(now);
        Some(Turn {
            trigger: Arc::clone(self),
            since: now,
        })
    }
}

/// The right to compact; it ends with this value.
struct Turn {
    trigger: Arc<Trigger>,
    since: Timestamp,
}

impl Turn {
    /// Gives the turn up, unless more has become due: whoever found it taken relies on it.
    fn is_over(&self, through: Seq) -> bool {
        let mut state = self.trigger.state();
        let is_over = state.left.last().is_none_or(|newest| *newest <= through);
        if is_over && state.running == Some(self.since) {
            state.running = None;
        }
        is_over
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.trigger.state();
        // After a cut-off another may have taken it over.
        if state.running == Some(self.since) {
            state.running = None;
        }
    }
}

impl Session {
    /// Sees to it that the tail is folded if this commit made it long enough.
    pub(crate) async fn after<T>(&self, io: &Io, committed: &Committed<T>) {
        if committed.effect != Effect::Written || !self.trigger.is_due(&self.log, committed.seq) {
            return;
        }
        let collection = self.log.collection().clone();
        match self.db.background() {
            Some(background) => {
                let (db, trigger) = (Arc::clone(&self.db), Arc::clone(&self.trigger));
                let entry = committed.seq;
                background.spawn(Box::pin(async move {
                    mark(&db.io(), &collection, entry).await;
                    // Whoever is at it must not clear the marker before it is there.
                    trigger.state().left.insert(entry);
                    db.fold_behind(&collection, &trigger).await;
                }));
            }
            // Nobody goes on after the answer; the scheduled job will.
            None => mark(io, &collection, committed.seq).await,
        }
    }
}

impl Database {
    /// Folds the tail of a collection, and again if more becomes due meanwhile.
    async fn fold_behind(self: &Arc<Self>, collection: &CollectionKey, trigger: &Arc<Trigger>) {
        let Some(turn) = trigger.begin(self.now()) else {
            return;
        };
        for _ in 0..ROUNDS {
            match self.fold_once(collection, trigger).await {
                Ok(through) if turn.is_over(through) => return,
                Ok(_) => {}
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(%collection, error, "compaction failed; its marker stays");
                    return;
                }
            }
        }
    }

    /// One compaction with what belongs to it; up to which entry the log is folded now.
    async fn fold_once(
        self: &Arc<Self>,
        collection: &CollectionKey,
        trigger: &Trigger,
    ) -> Result<Seq> {
        let log = self.log(collection);
        let before = log.newest_checkpoint();
        let compacted = self.compact(collection, Effort::SMALL).await?;
        tell(collection, &compacted);
        let after = log.newest_checkpoint();
        let through = folded_through(&compacted, after.as_ref());
        let left = {
            let mut state = trigger.state();
            state.frees |= frees(before.as_ref(), after.as_ref());
            state.left.clone()
        };
        if left.first().is_some_and(|oldest| *oldest <= through) {
            let due = Due {
                collection: collection.clone(),
                markers: left.into_iter().collect(),
                since: self.now(),
            };
            due::clear(&self.io(), &due, through).await?;
            trigger.state().left.retain(|marker| *marker > through);
        }
        if trigger.may_clean(self.now(), log.settings().horizon_ms) {
            let cleaned = self.clean_up(collection).await?;
            tracing::info!(
                %collection,
                entries = cleaned.entries,
                segment_objects = cleaned.segment_objects,
                floor = cleaned.floor.0,
                "cleaned up"
            );
        }
        Ok(through)
    }
}

/// Leaves a marker. The write that it follows is durable already, so failing is only told.
async fn mark(io: &Io, collection: &CollectionKey, entry: Seq) {
    if let Err(error) = due::mark(io, collection, entry).await {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(%collection, entry = entry.0, error, "no marker was left");
    }
}

/// Says what a compaction did.
pub(super) fn tell(collection: &CollectionKey, compacted: &Compacted) {
    let Compacted {
        outcome,
        folded,
        rows,
        merged,
        segments,
        receipt,
    } = compacted;
    tracing::info!(
        %collection, ?outcome, folded, rows, merged, segments,
        gets = receipt.gets, puts = receipt.puts, lists = receipt.lists,
        bytes_read = receipt.bytes_read, bytes_written = receipt.bytes_written,
        "compacted"
    );
}

/// Up to which entry the markers of a collection are dealt with after a compaction.
pub(super) fn folded_through(compacted: &Compacted, newest: Option<&(Seq, Checkpoint)>) -> Seq {
    let base = newest.map_or(Seq::ZERO, |(_, checkpoint)| checkpoint.base);
    match compacted.outcome {
        CompactionOutcome::Nothing => base.max(Seq(compacted.receipt.position)),
        CompactionOutcome::Committed | CompactionOutcome::Superseded => base,
    }
}

/// Whether something may be deleted since the newest checkpoint that had to stay before.
fn frees(before: Option<&(Seq, Checkpoint)>, after: Option<&(Seq, Checkpoint)>) -> bool {
    let Some((_, after)) = after else {
        return false;
    };
    let Some((_, before)) = before else {
        return after.floor > Seq::ZERO;
    };
    let is_kept = |segment: &String| {
        after.segments.contains(segment)
            || after.superseded.iter().any(|old| old.segment == *segment)
    };
    after.floor > before.floor || !before.superseded.iter().all(|old| is_kept(&old.segment))
}

#[cfg(test)]
mod tests;
