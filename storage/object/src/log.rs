//! The log of a collection: one total order of immutable entries, of which the
//! state is a fold. This file is its surface; each verb has a file of its own.

pub mod commit;
pub mod entry;
pub mod error;
pub mod fold;

use bytes::Bytes;

use self::commit::{At, Committed, Decision};
use self::entry::Checkpoint;
use self::error::{CommitError, LogError};
use self::fold::Fold;
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
    /// How long a superseded entry stays, in milliseconds. It bounds how long
    /// any request may take, and all processes must agree on it.
    pub horizon_ms: u64,
    /// Whether writers in this process share entries.
    pub grouping: Grouping,
    /// Rows of at most so many bytes go into one entry, if more than one commit is in it.
    pub group_bytes: usize,
    /// A commit gives up after so many milliseconds.
    pub commit_timeout_ms: u64,
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
#[derive(Debug)]
pub struct Log<F: Fold> {
    collection: CollectionKey,
    writer: WriterId,
    settings: LogSettings,
    fold: std::marker::PhantomData<F>,
}

/// What clean-up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanedUp {
    /// Entries deleted.
    pub entries: u64,
    /// The floor below which there are none now.
    pub floor: Seq,
}

/// What a checkpoint entry is to hold.
#[derive(Clone, Debug)]
pub struct NewCheckpoint {
    /// The last entry that the segments cover. It must not be above the newest
    /// entry, and no checkpoint may lie above it.
    pub base: Seq,
    /// The segments, oldest first.
    pub segments: Vec<String>,
    /// Small objects that the head carries for readers that start cold, by name.
    pub attachments: Vec<(String, Bytes)>,
}

impl<F: Fold> Log<F> {
    /// A log of which nothing is known yet.
    pub fn new(collection: CollectionKey, writer: WriterId, settings: LogSettings) -> Self {
        Self {
            collection,
            writer,
            settings,
            fold: std::marker::PhantomData,
        }
    }

    /// Whose log it is.
    pub fn collection(&self) -> &CollectionKey {
        &self.collection
    }

    /// Brings the state up to date and says up to which entry.
    #[expect(clippy::todo, clippy::unused_async, reason = "signature first")]
    pub async fn refresh(&self, io: &Io, freshness: Freshness) -> Result<Seq, LogError> {
        let _ = (io, freshness, self.writer, self.settings);
        todo!()
    }

    /// Looks at the state as it is. It is the default before the first refresh.
    #[expect(clippy::todo, reason = "signature first")]
    pub fn read<R>(&self, look: impl FnOnce(&F, Seq) -> R) -> R {
        let _ = look;
        todo!()
    }

    /// The attachment of that name in the newest head that this process has read.
    pub fn attachment(&self, name: &str) -> Option<Bytes> {
        let _ = name;
        None
    }

    /// Decides on the current state and makes the decision durable, once.
    ///
    /// `decide` may run several times, each time on a newer state, and must not
    /// change the draft unless it commits.
    #[expect(clippy::todo, clippy::unused_async, reason = "signature first")]
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
        let _ = (io, id, decide);
        todo!()
    }

    /// Commits a checkpoint in an entry of its own and copies it to the head.
    /// `decide` gives the rows for everything that the segments do not cover, on
    /// the state that the checkpoint will replace.
    ///
    /// # Errors
    ///
    /// `CommitError::Superseded` if a newer checkpoint lies above `base`.
    #[expect(clippy::todo, clippy::unused_async, reason = "signature first")]
    pub async fn checkpoint<T, E, D>(
        &self,
        io: &Io,
        id: CommitId,
        checkpoint: NewCheckpoint,
        decide: D,
    ) -> Result<Committed<T>, CommitError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        D: FnMut(&F, &mut F::Draft, At) -> Result<Decision<T>, E> + Send + 'static,
    {
        let _ = (io, id, checkpoint, decide);
        todo!()
    }

    /// The newest checkpoint that the state has seen.
    pub fn newest_checkpoint(&self) -> Option<(Seq, Checkpoint)> {
        None
    }

    /// Deletes the entries below the floor of the newest checkpoint, oldest first.
    #[expect(clippy::todo, clippy::unused_async, reason = "signature first")]
    pub async fn clean_up(&self, io: &Io) -> Result<CleanedUp, LogError> {
        let _ = io;
        todo!()
    }
}
