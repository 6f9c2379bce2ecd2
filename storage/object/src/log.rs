//! The log of a collection: one total order of immutable entries, of which the
//! state is a fold. This file holds what a process knows of one log; each verb
//! has a file of its own.

mod amend;
mod attempt;
mod carried;
pub mod carry;
mod catch_up;
pub mod checkpoint;
pub mod clean_up;
pub mod codec;
pub mod commit;
mod contention;
mod decide;
pub mod entry;
pub mod error;
pub mod fold;
mod known;
pub mod refresh;
mod seal;
mod state;
#[cfg(test)]
mod tests;
mod turn;
mod work;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use self::commit::{At, Committed, Decision};
use self::contention::Contention;
use self::entry::Entry;
use self::error::CommitError;
use self::fold::Fold;
use self::state::State;
use self::turn::Turns;
use self::work::{Item, Kind, Work};
use crate::io::Io;
use crate::key::{CollectionKey, Seq};
use crate::port::{CommitId, WriterId};

/// How fresh a read must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Freshness {
    /// It sees everything acknowledged before it started.
    #[default]
    Strong,
    /// It may miss what was acknowledged in the last so many milliseconds.
    Bounded(u64),
}

/// Whether writers in one process share entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Concurrent commits of the process go into one entry.
    #[default]
    Process,
    /// Each commit is an entry of its own. For Workers, where a request must
    /// never await another request's I/O.
    Alone,
}

/// How a log behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// How long a superseded entry stays, in milliseconds. All processes must
    /// agree on it, and their clocks must agree to a small part of it.
    pub horizon_ms: u64,
    /// Whether writers in this process share entries.
    pub grouping: Grouping,
    /// An entry takes no further commit once its rows have so many bytes.
    pub group_bytes: usize,
    /// A commit gives up after so many milliseconds.
    pub commit_timeout_ms: u64,
}

impl LogSettings {
    fn half_horizon_ms(&self) -> u64 {
        self.horizon_ms / 2
    }
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            horizon_ms: 3_600_000,
            grouping: Grouping::Process,
            group_bytes: 4 * 1024 * 1024,
            commit_timeout_ms: 60_000,
        }
    }
}

/// The log of one collection with the state that this process knows.
///
/// No lock is held over an await but `work`, whose holder drives the commits of
/// the whole process.
pub struct Log<F: Fold> {
    collection: CollectionKey,
    writer: WriterId,
    settings: LogSettings,
    state: RwLock<State<F>>,
    tickets: AtomicU64,
    contention: Mutex<Contention>,
    queue: Mutex<Vec<Item<F>>>,
    work: futures::lock::Mutex<Work<F>>,
    turns: Turns,
}

impl<F: Fold> Log<F> {
    /// A log of which nothing is known yet.
    pub fn new(collection: CollectionKey, writer: WriterId, settings: LogSettings) -> Self {
        Self {
            collection,
            writer,
            settings,
            state: RwLock::new(State::new()),
            tickets: AtomicU64::new(1),
            contention: Mutex::new(Contention::new(writer)),
            queue: Mutex::new(Vec::new()),
            work: futures::lock::Mutex::new(Work::default()),
            turns: Turns::default(),
        }
    }

    /// Whose log it is.
    pub fn collection(&self) -> &CollectionKey {
        &self.collection
    }

    /// How it behaves.
    pub fn settings(&self) -> &LogSettings {
        &self.settings
    }

    /// This process, as its entries name it.
    pub fn writer(&self) -> WriterId {
        self.writer
    }

    /// Looks at the state as it is, and the last entry in it. It is empty before
    /// the first refresh. Writers wait meanwhile, so look briefly.
    pub fn read<R>(&self, look: impl FnOnce(&F, Seq) -> R) -> R {
        let state = self.state();
        look(&state.fold, state.seq)
    }

    /// Decides on the newest state and makes the decision durable, once.
    ///
    /// `decide` may run several times, each time on a newer state, and must not
    /// change the draft unless it commits. When it is told of a replay, it
    /// writes nothing and says again what came of the commit. What it refuses or
    /// leaves unchanged is final only on a state that was the newest after the
    /// commit began.
    ///
    /// # Errors
    ///
    /// See [`CommitError`]: all but `Unknown` have written nothing.
    pub async fn commit<T, E, D>(
        &self,
        io: &Io,
        id: CommitId,
        decide: D,
    ) -> Result<Committed<T>, CommitError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        D: FnMut(&F, &mut F::Draft, At) -> Result<Decision<T>, E> + Send + 'static,
    {
        let (committed, _) = self.submit(io, id, Kind::Rows, decide).await?;
        Ok(committed)
    }

    fn state(&self) -> RwLockReadGuard<'_, State<F>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State<F>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn contention(&self) -> MutexGuard<'_, Contention> {
        self.contention
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Vec<Item<F>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) -> &futures::lock::Mutex<Work<F>> {
        &self.work
    }

    /// A number that is larger than all drawn before.
    fn draw_ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::SeqCst)
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn noticed(&self, entries: &[Arc<Entry>]) {
        let mut contention = self.contention();
        for entry in entries {
            contention.saw(entry);
        }
    }
}

impl<F: Fold> fmt::Debug for Log<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("collection", &self.collection)
            .field("writer", &self.writer)
            .field("settings", &self.settings)
            .field("seq", &self.state().seq)
            .finish_non_exhaustive()
    }
}
