//! Writing an object whose size is not known beforehand, in bounded memory: what is
//! small becomes one PUT, what is larger goes up in parts of equal size while more is
//! still being made. It must not be used for names that others may write too: it
//! overwrites.

#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::future::{Either, select};
use futures::stream::FuturesUnordered;
use object_store::{
    MultipartUpload, ObjectStoreExt, PutMultipartOptions, PutPayloadMut, UploadPart,
};

use super::{Io, Request, add};
use crate::error::{Operation, StoreError};
use crate::key::Key;

/// Parts on their way at once. With the one that is being filled, so many and one are in
/// memory.
const PARTS_IN_FLIGHT: usize = 3;
/// Smaller pieces are copied together.
const COPIED_BYTES: usize = 64 * 1024;

impl Io {
    /// Begins an object. Nothing is in the store under its name until
    /// [`Upload::finish`] has succeeded, and then all of it.
    ///
    /// The name must be the caller's own, such as a part of a segment with a random id:
    /// an object that is there already is replaced.
    pub fn upload(&self, key: Key) -> Upload<'_> {
        Upload {
            io: self,
            key,
            filling: PutPayloadMut::new(),
            written: 0,
            stage: Stage::Small,
        }
    }
}

/// An object that is being written.
///
/// If it is dropped without [`Upload::finish`] or [`Upload::abort`], an S3 bucket keeps
/// the parts that went up, and charges for them, until its lifecycle rule for
/// incomplete uploads removes them.
pub struct Upload<'a> {
    io: &'a Io,
    key: Key,
    /// The part that is being filled.
    filling: PutPayloadMut,
    written: u64,
    stage: Stage,
}

enum Stage {
    /// All of it fits one PUT so far.
    Small,
    /// Parts are on their way.
    Parts {
        upload: Box<dyn MultipartUpload>,
        sent: FuturesUnordered<UploadPart>,
    },
    /// It failed, and what had gone up was given up.
    Failed(StoreError),
}

impl Upload<'_> {
    /// The object's name.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// How many bytes it has so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Appends bytes. It waits while as many parts are on their way as memory allows.
    ///
    /// # Errors
    ///
    /// The store failed, or knows no uploads in parts ([`StoreError::Unsupported`]). The
    /// upload has been aborted then; begin another.
    pub async fn write(&mut self, mut bytes: Bytes) -> Result<(), StoreError> {
        let part_bytes = self.io.store().part_bytes;
        while !bytes.is_empty() {
            if let Stage::Failed(error) = &self.stage {
                return Err(error.clone());
            }
            // A full part goes up only when there is more: the last may be of any size.
            if self.filling.content_length() >= part_bytes {
                let sent = self.send_part().await;
                self.or_give_up(sent).await?;
            }
            let room = part_bytes.saturating_sub(self.filling.content_length());
            let piece = bytes.split_to(room.min(bytes.len()));
            self.written = self.written.saturating_add(piece.len() as u64);
            if piece.len() < COPIED_BYTES {
                self.filling.extend_from_slice(&piece);
            } else {
                self.filling.push(piece);
            }
        }
        Ok(())
    }

    /// Ends the object and says how many bytes it has. From now on it is readable.
    ///
    /// # Errors
    ///
    /// As for [`Upload::write`]. Nothing is stored then, unless the last answer was lost
    /// and the store cannot be asked either.
    pub async fn finish(mut self) -> Result<u64, StoreError> {
        match &self.stage {
            Stage::Failed(error) => return Err(error.clone()),
            Stage::Small => {
                let filling = std::mem::take(&mut self.filling);
                let request = Request::Put {
                    key: self.key.clone(),
                    bytes: filling.freeze().into(),
                };
                self.io.one(request).await?;
            }
            Stage::Parts { .. } => {
                let sent = self.send_rest().await;
                self.or_give_up(sent).await?;
                let ended = self.end().await;
                self.or_give_up(ended).await?;
            }
        }
        Ok(self.written)
    }

    /// Gives the object up: nothing of it stays in the store.
    pub async fn abort(mut self) {
        let error = StoreError::not_found(&self.key);
        self.give_up(error).await;
    }

    /// Sends what has been filled, once there is room.
    async fn send_part(&mut self) -> Result<(), StoreError> {
        if matches!(self.stage, Stage::Small) {
            self.begin().await?;
        }
        self.wait_for_parts(PARTS_IN_FLIGHT - 1).await?;
        if let Stage::Parts { upload, sent } = &mut self.stage {
            let payload = std::mem::take(&mut self.filling).freeze();
            add(&self.io.meter.puts, 1);
            let bytes = payload.content_length() as u64;
            add(&self.io.meter.bytes_written, bytes);
            sent.push(upload.put_part(payload));
        }
        Ok(())
    }

    async fn begin(&mut self) -> Result<(), StoreError> {
        let path = self.key.path();
        let objects = &self.io.store().objects;
        add(&self.io.meter.puts, 1);
        // To begin, the parts, and to end.
        add(&self.io.meter.steps, 3);
        let begun = objects.put_multipart_opts(&path, PutMultipartOptions::default());
        let upload = self.io.timed(Operation::Upload, &self.key, begun).await?;
        self.stage = Stage::Parts {
            upload,
            sent: FuturesUnordered::new(),
        };
        Ok(())
    }

    /// Waits until no more than `most` parts are on their way.
    ///
    /// The limit is on the waiting and not on a part, because parts stand still while
    /// the caller makes the next.
    async fn wait_for_parts(&mut self, most: usize) -> Result<(), StoreError> {
        let Stage::Parts { sent, .. } = &mut self.stage else {
            return Ok(());
        };
        let patience = Duration::from_millis(
            self.io
                .store()
                .request_timeout_ms
                .saturating_mul(PARTS_IN_FLIGHT as u64),
        );
        while sent.len() > most {
            let key = self.key.to_string();
            let pause = self.io.clock().sleep(patience);
            match select(pin!(sent.next()), pin!(pause)).await {
                Either::Left((Some(Err(error)), _)) => {
                    return Err(StoreError::from_store(Operation::Upload, key, error));
                }
                Either::Left((_, _)) => {}
                Either::Right(((), _)) => {
                    return Err(StoreError::silent(Operation::Upload, key, None));
                }
            }
        }
        Ok(())
    }

    async fn send_rest(&mut self) -> Result<(), StoreError> {
        self.send_part().await?;
        self.wait_for_parts(0).await
    }

    async fn end(&mut self) -> Result<(), StoreError> {
        let Stage::Parts { upload, .. } = &mut self.stage else {
            return Ok(());
        };
        add(&self.io.meter.puts, 1);
        let completed = upload.complete();
        match self.io.timed(Operation::Upload, &self.key, completed).await {
            Ok(_) => Ok(()),
            Err(_) if self.is_there().await => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether the object is there after all, when the answer said that it is not.
    async fn is_there(&self) -> bool {
        let path = self.key.path();
        add(&self.io.meter.gets, 1);
        let objects = &self.io.store().objects;
        let asked = async { objects.head(&path).await };
        let found = self.io.timed(Operation::Get, &self.key, asked).await;
        found.is_ok_and(|meta| meta.size == self.written)
    }

    async fn or_give_up(&mut self, done: Result<(), StoreError>) -> Result<(), StoreError> {
        if let Err(error) = &done {
            self.give_up(error.clone()).await;
        }
        done
    }

    async fn give_up(&mut self, error: StoreError) {
        let stage = std::mem::replace(&mut self.stage, Stage::Failed(error));
        self.filling = PutPayloadMut::new();
        if let Stage::Parts { mut upload, sent } = stage {
            drop(sent);
            add(&self.io.meter.deletes, 1);
            let aborted = upload.abort();
            if let Err(error) = self.io.timed(Operation::Delete, &self.key, aborted).await {
                tracing::warn!(%error, key = %self.key, "parts of an upload were left behind");
            }
        }
    }
}

impl fmt::Debug for Upload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("key", &self.key)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}
