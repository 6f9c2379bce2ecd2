//! Committing a checkpoint and copying it to the head. The copy is a hint for
//! readers that start cold; the log alone says which checkpoint counts.

use std::sync::Arc;

use bytes::Bytes;

use super::commit::{At, Committed, Decision};
use super::entry::{Checkpoint, Entry};
use super::error::CommitError;
use super::fold::Fold;
use super::work::Kind;
use super::{Log, codec};
use crate::error::StoreError;
use crate::io::{Io, Request};
use crate::key::{Key, Seq};
use crate::port::CommitId;

/// What a checkpoint entry is to hold.
#[derive(Clone, Debug, Default)]
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
    /// Commits a checkpoint in an entry of its own and copies it to the head.
    ///
    /// `decide` gives the rows for everything that the segments do not cover, on
    /// the state that the checkpoint will replace: whoever starts from the
    /// checkpoint sees its segments and these rows, and nothing before.
    ///
    /// # Errors
    ///
    /// [`CommitError::Superseded`] if a newer checkpoint lies above the base; the
    /// caller deletes the segments that it built. Otherwise as for [`Log::commit`].
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
        let NewCheckpoint {
            base,
            segments,
            attachments,
        } = checkpoint;
        let kind = Kind::Checkpoint { base, segments };
        let (committed, entry) = self.submit(io, id, kind, decide).await?;
        if let Some(entry) = entry
            && let Err(error) = self.write_head(io, &entry, &attachments).await
        {
            // The checkpoint counts all the same; cold readers take a step more.
            tracing::warn!(%error, collection = %self.collection(), "the head was not written");
        }
        Ok(committed)
    }

    /// The newest checkpoint that the state has seen, and its entry's number.
    pub fn newest_checkpoint(&self) -> Option<(Seq, Checkpoint)> {
        let state = self.state();
        let (seq, _, checkpoint) = state.checkpoint.as_ref()?;
        Some((*seq, checkpoint.clone()))
    }

    /// The attachment of that name in a head that this process has read or written.
    pub fn attachment(&self, name: &str) -> Option<Bytes> {
        self.state().attachments.get(name).cloned()
    }

    async fn write_head(
        &self,
        io: &Io,
        entry: &Arc<Entry>,
        attachments: &[(String, Bytes)],
    ) -> Result<(), StoreError> {
        let key = Key::Head(self.collection().clone());
        match codec::encode_head(&key, entry, attachments) {
            Ok(bytes) => io.one(Request::Put { key, bytes }).await.map(|_| ()),
            Err(corrupt) => {
                tracing::warn!(error = %corrupt, "the head was not encoded");
                Ok(())
            }
        }
    }
}
