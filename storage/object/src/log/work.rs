//! The commits that wait for an entry, and the entry on its way. It is kept
//! apart from the task that drives it: when that task is dropped in the middle,
//! another takes the work over where it stood. No I/O here.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use bytes::Bytes;
use futures::channel::oneshot;
use serde_json::Value;

use super::commit::{At, Decision};
use super::entry::Entry;
use super::error::{CommitError, LogError};
use super::fold::Fold;
use crate::error::{Corrupt, StoreError};
use crate::key::Seq;
use crate::port::{CommitId, Timestamp};

/// One commit that waits for an entry.
pub(super) struct Item<F: Fold> {
    pub(super) id: CommitId,
    /// Drawn when the commit began: what was verified later is current for it.
    pub(super) ticket: u64,
    pub(super) began: Timestamp,
    pub(super) kind: Kind,
    pub(super) tries: u32,
    /// Never contended: the lock makes an item shareable, as futures that only look at
    /// one must be `Send`.
    decide: Mutex<Box<dyn Decide<F>>>,
    done: Option<oneshot::Sender<Settled>>,
}

/// What an item wants to write.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Rows, together with those of others.
    Rows,
    /// A checkpoint, in an entry of its own.
    Checkpoint { base: Seq, segments: Vec<String> },
}

/// What a decision came to, without the value for the caller.
pub(super) enum Verdict {
    Rows {
        rows: RecordBatch,
        note: Option<Value>,
    },
    Unchanged,
    Failed,
}

/// How an item ended.
#[derive(Clone, Debug)]
pub(super) enum Settled {
    /// It is in this entry.
    Written(Arc<Entry>),
    /// It was in the log before.
    Replayed { seq: Seq, time: Timestamp },
    /// There was nothing to write.
    Unchanged { seq: Seq, time: Timestamp },
    /// The decision said no.
    Failed,
    /// It did not come to pass.
    Broken(Failure),
}

/// A [`CommitError`] that all commits of an entry can share.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    Log(LogError),
    Contended { attempts: u32 },
    Invalid(Corrupt),
    Superseded { by: Seq },
    Unknown { seq: Seq, source: StoreError },
}

impl<E> From<Failure> for CommitError<E> {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Log(error) => Self::Log(error),
            Failure::Contended { attempts } => Self::Contended { attempts },
            Failure::Invalid(error) => Self::Invalid(error),
            Failure::Superseded { by } => Self::Superseded { by },
            Failure::Unknown { seq, source } => Self::Unknown { seq, source },
        }
    }
}

/// Where a decision leaves its value for the caller.
pub(super) type Slot<T, E> = Arc<Mutex<Option<Result<T, E>>>>;

trait Decide<F: Fold>: Send {
    fn decide(&mut self, fold: &F, draft: &mut F::Draft, at: At) -> Verdict;
}

struct Typed<D, T, E> {
    decide: D,
    slot: Slot<T, E>,
}

impl<F, D, T, E> Decide<F> for Typed<D, T, E>
where
    F: Fold,
    D: FnMut(&F, &mut F::Draft, At) -> Result<Decision<T>, E> + Send,
    T: Send,
    E: Send,
{
    fn decide(&mut self, fold: &F, draft: &mut F::Draft, at: At) -> Verdict {
        let (result, verdict) = match (self.decide)(fold, draft, at) {
            Ok(Decision::Commit { rows, note, value }) => (Ok(value), Verdict::Rows { rows, note }),
            Ok(Decision::Unchanged(value)) => (Ok(value), Verdict::Unchanged),
            Err(error) => (Err(error), Verdict::Failed),
        };
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        verdict
    }
}

impl<F: Fold> Item<F> {
    /// An item, where its value will be, and how its end is heard of.
    pub(super) fn new<T, E, D>(
        id: CommitId,
        ticket: u64,
        began: Timestamp,
        kind: Kind,
        decide: D,
    ) -> (Self, Slot<T, E>, oneshot::Receiver<Settled>)
    where
        T: Send + 'static,
        E: Send + 'static,
        D: FnMut(&F, &mut F::Draft, At) -> Result<Decision<T>, E> + Send + 'static,
    {
        let slot: Slot<T, E> = Arc::new(Mutex::new(None));
        let (done, heard) = oneshot::channel();
        let item = Self {
            id,
            ticket,
            began,
            kind,
            tries: 0,
            decide: Mutex::new(Box::new(Typed {
                decide,
                slot: Arc::clone(&slot),
            })),
            done: Some(done),
        };
        (item, slot, heard)
    }

    pub(super) fn decide(&mut self, fold: &F, draft: &mut F::Draft, at: At) -> Verdict {
        let decide = self
            .decide
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        decide.decide(fold, draft, at)
    }

    /// Tells the caller how it ended.
    pub(super) fn settle(mut self, settled: Settled) {
        if let Some(done) = self.done.take() {
            // Nobody listens any more: the caller went away.
            let _ = done.send(settled);
        }
    }

    /// Whether the caller went away.
    pub(super) fn is_abandoned(&self) -> bool {
        self.done.as_ref().is_none_or(oneshot::Sender::is_canceled)
    }
}

/// An entry on its way, whose create has not been answered for sure.
pub(super) struct Attempt<F: Fold> {
    pub(super) entry: Arc<Entry>,
    /// The entries in its object.
    pub(super) object: Vec<Arc<Entry>>,
    pub(super) bytes: Bytes,
    /// When the state on which it was decided was last verified.
    pub(super) view: Timestamp,
    /// When the first create went out.
    pub(super) began: Timestamp,
    /// Creates that went out.
    pub(super) sent: u32,
    /// The commits in it.
    pub(super) writers: Vec<Item<F>>,
    /// Those that had nothing to write, provided that this entry comes to be:
    /// then the state on which they were decided was the newest.
    pub(super) bystanders: Vec<(Item<F>, Settled)>,
}

/// What a writer has to do.
pub(super) struct Work<F: Fold> {
    pub(super) items: Vec<Item<F>>,
    pub(super) attempt: Option<Attempt<F>>,
    pub(super) losses: u32,
    /// Whether the state has to be read before the next decision.
    pub(super) look_first: bool,
}

impl<F: Fold> Default for Work<F> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            attempt: None,
            losses: 0,
            look_first: false,
        }
    }
}

impl<F: Fold> Work<F> {
    /// Ends every waiting item in the same way.
    pub(super) fn fail_all(&mut self, failure: &Failure) {
        for item in self.items.drain(..) {
            item.settle(Settled::Broken(failure.clone()));
        }
    }

    /// Ends the commits of an attempt; who merely stood by decides again.
    pub(super) fn abandon(&mut self, attempt: Attempt<F>, failure: &Failure) {
        for item in attempt.writers {
            item.settle(Settled::Broken(failure.clone()));
        }
        self.items
            .extend(attempt.bystanders.into_iter().map(|(item, _)| item));
    }

    /// Puts the items of an attempt that did not come to be back in front.
    pub(super) fn reopen(&mut self, attempt: Attempt<F>) {
        let mut items = attempt.writers;
        items.extend(attempt.bystanders.into_iter().map(|(item, _)| item));
        for item in &mut items {
            item.tries += 1;
        }
        items.append(&mut self.items);
        items.sort_by_key(|item| item.ticket);
        self.items = items;
    }
}
