//! A store that counts what passes through it, for tests and for the logs of a
//! process. Receipts come from `Io`, which knows the operation; this knows all
//! operations of a process together.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};

use super::{read_operation, write_operation};
use crate::error::Operation;

/// Requests by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Whole objects asked for, metadata included.
    pub gets: u64,
    /// Parts of objects asked for.
    pub ranges: u64,
    /// Listings.
    pub lists: u64,
    /// Conditional writes.
    pub creates: u64,
    /// Unconditional writes, copies and renames. An upload in parts is one for each
    /// part, and one each to begin and to end it.
    pub puts: u64,
    /// Deletions.
    pub deletes: u64,
    /// Bytes of objects that answers hold.
    pub bytes_read: u64,
    /// Bytes of objects that were sent, whatever became of them.
    pub bytes_written: u64,
}

/// Whether the requests themselves are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Only their number.
    Counts,
    /// Each, in order.
    Requests,
}

/// A store that counts.
#[derive(Debug)]
pub struct CountStore {
    inner: Arc<dyn ObjectStore>,
    tally: Arc<Tally>,
}

#[derive(Debug)]
struct Tally {
    keep: Keep,
    gets: AtomicU64,
    ranges: AtomicU64,
    lists: AtomicU64,
    creates: AtomicU64,
    puts: AtomicU64,
    deletes: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
    requests: Mutex<Vec<(Operation, Path)>>,
}

impl Tally {
    fn note(&self, operation: Operation, path: &Path) {
        let counter = match operation {
            Operation::Get => &self.gets,
            Operation::Range => &self.ranges,
            Operation::List => &self.lists,
            Operation::Create => &self.creates,
            Operation::Put | Operation::Upload => &self.puts,
            Operation::Delete => &self.deletes,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if self.keep == Keep::Requests {
            self.requests
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((operation, path.clone()));
        }
    }
}

impl CountStore {
    /// Counts what goes to `inner`.
    pub fn new(inner: Arc<dyn ObjectStore>, keep: Keep) -> Self {
        Self {
            inner,
            tally: Arc::new(Tally {
                keep,
                gets: AtomicU64::new(0),
                ranges: AtomicU64::new(0),
                lists: AtomicU64::new(0),
                creates: AtomicU64::new(0),
                puts: AtomicU64::new(0),
                deletes: AtomicU64::new(0),
                bytes_read: AtomicU64::new(0),
                bytes_written: AtomicU64::new(0),
                requests: Mutex::new(Vec::new()),
            }),
        }
    }

    /// The number of requests so far.
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            gets: read(&self.tally.gets),
            ranges: read(&self.tally.ranges),
            lists: read(&self.tally.lists),
            creates: read(&self.tally.creates),
            puts: read(&self.tally.puts),
            deletes: read(&self.tally.deletes),
            bytes_read: read(&self.tally.bytes_read),
            bytes_written: read(&self.tally.bytes_written),
        }
    }

    /// Takes the requests kept so far.
    pub fn take_requests(&self) -> Vec<(Operation, Path)> {
        std::mem::take(
            &mut *self
                .tally
                .requests
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

impl fmt::Display for CountStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountStore({})", self.inner)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ObjectStore for CountStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.tally.note(write_operation(&opts), location);
        let bytes = payload.content_length() as u64;
        self.tally.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.tally.note(Operation::Upload, location);
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(CountedUpload {
            inner,
            tally: Arc::clone(&self.tally),
            location: location.clone(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.tally.note(read_operation(&options), location);
        let is_body_asked_for = !options.head;
        let result = self.inner.get_opts(location, options).await?;
        if is_body_asked_for {
            let bytes = result.range.end.saturating_sub(result.range.start);
            self.tally.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.tally.note(Operation::Range, location);
        let parts = self.inner.get_ranges(location, ranges).await?;
        let bytes: usize = parts.iter().map(Bytes::len).sum();
        self.tally
            .bytes_read
            .fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(parts)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let tally = Arc::clone(&self.tally);
        let counted = locations.inspect(move |location| {
            if let Ok(location) = location {
                tally.note(Operation::Delete, location);
            }
        });
        self.inner.delete_stream(counted.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let root = Path::default();
        self.tally.note(Operation::List, prefix.unwrap_or(&root));
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.tally.note(Operation::List, offset);
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let root = Path::default();
        self.tally.note(Operation::List, prefix.unwrap_or(&root));
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.tally.note(Operation::Put, to);
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.tally.note(Operation::Put, to);
        self.inner.rename_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct CountedUpload {
    inner: Box<dyn MultipartUpload>,
    tally: Arc<Tally>,
    location: Path,
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl MultipartUpload for CountedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.tally.note(Operation::Upload, &self.location);
        let bytes = data.content_length() as u64;
        self.tally.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.tally.note(Operation::Upload, &self.location);
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.tally.note(Operation::Delete, &self.location);
        self.inner.abort().await
    }
}
