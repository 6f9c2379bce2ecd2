//! Committing a checkpoint and copying it to the head. The copy is a hint for
//! readers that start cold; the log alone says which checkpoint counts.

use std::sync::Arc;

use bytes::Bytes;

use super::commit::{At, Committed, Decision};
use super::entry::{Checkpoint, Entry};
use super::error::{CommitError, LogError};
use super::fold::Fold;
use super::work::Kind;
use super::{Freshness, Log, codec};
use crate::error::StoreError;
use crate::io::{Io, Request};
use crate::key::{Key, Prefix, Seq};
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
        self.date_newest(io).await?;
        let kind = Kind::Checkpoint { base, segments };
        let (committed, entry) = self.submit(io, id, kind, decide).await?;
        if let Some(entry) = entry {
            if let Err(error) = self.write_head(io, &entry, &attachments).await {
                // The checkpoint counts all the same; cold readers take a step more.
                tracing::warn!(%error, collection = %self.collection(), "the head was not written");
            }
            self.state_mut().attachments = attachments.into_iter().collect();
        }
        Ok(committed)
    }

    /// The newest checkpoint that the state has seen, and its entry's number.
    pub fn newest_checkpoint(&self) -> Option<(Seq, Checkpoint)> {
        let state = self.state();
        let newest = state.checkpoint.as_ref()?;
        Some((newest.seq, newest.checkpoint.clone()))
    }

    /// The attachment of that name in a head that this process has read or written.
    pub fn attachment(&self, name: &str) -> Option<Bytes> {
        self.state().attachments.get(name).cloned()
    }

    /// Finds out when the newest checkpoint was stored, if no entry after it says so.
    /// The age of a checkpoint decides when what it superseded may be deleted.
    async fn date_newest(&self, io: &Io) -> Result<(), LogError> {
        self.refresh(io, Freshness::Strong).await?;
        let undated = {
            let state = self.state();
            let newest = state.checkpoint.as_ref();
            newest
                .filter(|newest| newest.stored_by.is_none())
                .map(|newest| newest.seq)
        };
        let Some(seq) = undated else {
            return Ok(());
        };
        let collection = self.collection();
        let request = Request::List {
            prefix: Prefix::Log(collection.clone()),
            after: Some(Key::Log(collection.clone(), seq.prev())),
        };
        let listed = io.one(request).await?.into_listed();
        let key = Key::Log(collection.clone(), seq);
        let stored = listed.into_iter().find(|listed| listed.key == key);
        if let Some(newest) = &mut self.state_mut().checkpoint
            && newest.seq == seq
            && newest.stored_by.is_none()
        {
            newest.stored_by = stored.map(|listed| listed.modified);
        }
        Ok(())
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
