//! A store that tries again what may safely be tried again: reads, listings,
//! deletions and overwrites. A conditional write passes once, whatever comes:
//! only the log can tell what became of it.

#[cfg(feature = "s3")]
mod parts;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryFutureExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    RenameOptions, Result,
};

use crate::error::OutOfRange;
use crate::port::{Clock, Ids};

/// How patient to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all, the first included.
    pub attempts: u32,
    /// The longest first wait, in milliseconds. It doubles with each try, and the
    /// wait is a random part of it.
    pub base_ms: u64,
    /// It doubles no further.
    pub most_ms: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            base_ms: 100,
            most_ms: 5_000,
        }
    }
}

/// A store that tries again.
#[derive(Clone, Debug)]
pub struct RetryStore {
    inner: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    policy: RetryPolicy,
}

impl RetryStore {
    /// Tries again on `inner`.
    pub fn new(
        inner: Arc<dyn ObjectStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        policy: RetryPolicy,
    ) -> Self {
        Self {
            inner,
            clock,
            ids,
            policy,
        }
    }

    async fn again<T, R>(&self, mut ask: impl FnMut() -> R + Send) -> Result<T>
    where
        R: Future<Output = Result<T>> + Send,
        T: Send,
    {
        let mut limit_ms = self.policy.base_ms.max(1);
        for _ in 1..self.policy.attempts {
            match ask().await {
                Err(error) if is_transient(&error) => {
                    let wait = self.ids.random() % u128::from(limit_ms);
                    let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(limit_ms));
                    tracing::debug!(%error, wait_ms = wait.as_millis(), "trying again");
                    self.clock.sleep(wait).await;
                    limit_ms = (limit_ms * 2).min(self.policy.most_ms.max(1));
                }
                answer => return answer,
            }
        }
        ask().await
    }

    /// Whether a read failed because it began beyond the end of the object, which no try
    /// changes. Stores do not say so in a way that can be told from a bad moment.
    async fn explain(&self, location: &Path, start: Option<u64>, error: Error) -> Error {
        let Some(start) = start else {
            return error;
        };
        match self.inner.head(location).await {
            Ok(meta) if meta.size <= start => Error::Generic {
                store: "RetryStore",
                source: Box::new(OutOfRange {
                    start,
                    length: meta.size,
                }),
            },
            _ => error,
        }
    }

    /// A listing is tried again as a whole, so that none is seen twice.
    fn list_again(
        &self,
        open: impl Fn(&dyn ObjectStore) -> BoxStream<'static, Result<ObjectMeta>>
        + Send
        + Sync
        + 'static,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let this = self.clone();
        async move {
            this.again(|| open(this.inner.as_ref()).try_collect::<Vec<_>>())
                .await
        }
        .map_ok_or_else(
            |error| stream::iter(vec![Err(error)]),
            |names| stream::iter(names.into_iter().map(Ok).collect::<Vec<_>>()),
        )
        .flatten_stream()
        .boxed()
    }
}

/// Whether the same request may well succeed in a moment.
fn is_transient(error: &Error) -> bool {
    // Everything that a store says about the request itself has a variant of its
    // own; what is left is the network and the server.
    matches!(error, Error::Generic { source, .. } if !source.is::<OutOfRange>())
}

impl fmt::Display for RetryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RetryStore({})", self.inner)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ObjectStore for RetryStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        match opts.mode {
            PutMode::Create | PutMode::Update(_) => {
                self.inner.put_opts(location, payload, opts).await
            }
            PutMode::Overwrite => {
                self.again(|| self.inner.put_opts(location, payload.clone(), opts.clone()))
                    .await
            }
        }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        // A part is known by its number, which only the store that gave it can repeat.
        #[cfg(feature = "s3")]
        let opts = opts.with_retry_policy(Arc::new(self.part_policy()));
        // One that was begun twice leaves parts that nothing refers to.
        self.again(|| self.inner.put_multipart_opts(location, opts.clone()))
            .await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let start = match options.range {
            Some(GetRange::Bounded(Range { start, .. }) | GetRange::Offset(start)) => Some(start),
            Some(GetRange::Suffix(_)) | None => None,
        };
        self.again(
            async || match self.inner.get_opts(location, options.clone()).await {
                Err(error) if is_transient(&error) => {
                    Err(self.explain(location, start, error).await)
                }
                answer => answer,
            },
        )
        .await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.again(|| self.inner.get_ranges(location, ranges)).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let this = self.clone();
        locations
            .then(move |location| {
                let this = this.clone();
                async move {
                    let location = location?;
                    this.again(|| this.inner.delete(&location)).await?;
                    Ok(location)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let prefix = prefix.cloned();
        self.list_again(move |inner| inner.list(prefix.as_ref()))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let prefix = prefix.cloned();
        let offset = offset.clone();
        self.list_again(move |inner| inner.list_with_offset(prefix.as_ref(), &offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.again(|| self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}
