//! A store that keeps what it has read of objects that never change, up to a
//! number of bytes. It never keeps a miss, a listing or the head, for those are
//! how anyone learns that something is new.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Extensions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, RenameOptions, Result,
};

use crate::key::Key;

/// Marks an answer that a cache gave without asking the store. It lies in the
/// extensions of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromCache;

/// A store that remembers.
#[derive(Debug)]
pub struct RangeCache {
    inner: Arc<dyn ObjectStore>,
    cache: Arc<Mutex<Cache>>,
}

/// Which part of an object, so that equal requests meet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Whole,
    Bounded(u64, u64),
    Offset(u64),
    Suffix(u64),
}

#[derive(Clone, Debug)]
struct Kept {
    bytes: Bytes,
    meta: ObjectMeta,
    range: Range<u64>,
    used: u64,
}

#[derive(Debug)]
struct Cache {
    limit_bytes: usize,
    held_bytes: usize,
    clock: u64,
    parts: BTreeMap<(Path, Part), Kept>,
    by_use: BTreeMap<u64, (Path, Part)>,
}

impl RangeCache {
    /// Keeps up to `limit_bytes` of what is read from `inner`.
    pub fn new(inner: Arc<dyn ObjectStore>, limit_bytes: usize) -> Self {
        Self {
            inner,
            cache: Arc::new(Mutex::new(Cache {
                limit_bytes,
                held_bytes: 0,
                clock: 0,
                parts: BTreeMap::new(),
                by_use: BTreeMap::new(),
            })),
        }
    }

    /// How many bytes are kept now.
    pub fn held_bytes(&self) -> usize {
        self.cache().held_bytes
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn find(&mut self, at: &(Path, Part)) -> Option<Kept> {
        self.clock += 1;
        let now = self.clock;
        let kept = self.parts.get_mut(at)?;
        self.by_use.remove(&kept.used);
        kept.used = now;
        self.by_use.insert(now, at.clone());
        Some(kept.clone())
    }

    fn keep(&mut self, at: (Path, Part), mut kept: Kept) {
        let size = kept.bytes.len();
        // One large object must not empty the cache.
        if size > self.limit_bytes / 4 || self.parts.contains_key(&at) {
            return;
        }
        self.clock += 1;
        kept.used = self.clock;
        self.held_bytes += size;
        self.by_use.insert(kept.used, at.clone());
        self.parts.insert(at, kept);
        while self.held_bytes > self.limit_bytes {
            let Some((_, oldest)) = self.by_use.pop_first() else {
                break;
            };
            if let Some(dropped) = self.parts.remove(&oldest) {
                self.held_bytes -= dropped.bytes.len();
            }
        }
    }

    fn forget(&mut self, path: &Path) {
        let parts: Vec<(Path, Part)> = self
            .parts
            .range((path.clone(), Part::Whole)..)
            .take_while(|((other, _), _)| other == path)
            .map(|(at, _)| at.clone())
            .collect();
        for at in parts {
            if let Some(dropped) = self.parts.remove(&at) {
                self.held_bytes -= dropped.bytes.len();
                self.by_use.remove(&dropped.used);
            }
        }
    }
}

/// The part that a request is for, if its answer may be kept.
fn cacheable(location: &Path, options: &GetOptions) -> Option<Part> {
    let plain = options.if_match.is_none()
        && options.if_none_match.is_none()
        && options.if_modified_since.is_none()
        && options.if_unmodified_since.is_none()
        && options.version.is_none()
        && !options.head;
    if !plain || !Key::parse(location)?.is_immutable() {
        return None;
    }
    Some(match &options.range {
        None => Part::Whole,
        Some(GetRange::Bounded(range)) => Part::Bounded(range.start, range.end),
        Some(GetRange::Offset(from)) => Part::Offset(*from),
        Some(GetRange::Suffix(length)) => Part::Suffix(*length),
    })
}

impl Kept {
    fn answer(self, extensions: Extensions) -> GetResult {
        let bytes = self.bytes;
        GetResult {
            payload: GetResultPayload::Stream(
                stream::once(futures::future::ready(Ok(bytes))).boxed(),
            ),
            meta: self.meta,
            range: self.range,
            attributes: object_store::Attributes::default(),
            extensions,
        }
    }
}

impl fmt::Display for RangeCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RangeCache({})", self.inner)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ObjectStore for RangeCache {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let Some(part) = cacheable(location, &options) else {
            return self.inner.get_opts(location, options).await;
        };
        let at = (location.clone(), part);
        let found = self.cache().find(&at);
        if let Some(kept) = found {
            let mut extensions = Extensions::new();
            extensions.insert(FromCache);
            return Ok(kept.answer(extensions));
        }
        let answer = self.inner.get_opts(location, options).await?;
        let (meta, range) = (answer.meta.clone(), answer.range.clone());
        let extensions = answer.extensions.clone();
        let kept = Kept {
            bytes: answer.bytes().await?,
            meta,
            range,
            used: 0,
        };
        self.cache().keep(at, kept.clone());
        Ok(kept.answer(extensions))
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        // What is purged must be gone from here too.
        let cache = Arc::clone(&self.cache);
        let forgotten = locations.inspect(move |location| {
            if let Ok(location) = location {
                cache
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .forget(location);
            }
        });
        self.inner.delete_stream(forgotten.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}
