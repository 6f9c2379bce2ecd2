//! A store whose objects are as old as a clock says, for simulations: a store in memory
//! takes the time from the machine, and the age of objects decides what clean-up may
//! delete.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};

use crate::port::{Clock, Timestamp};

/// A store on a clock.
#[derive(Clone, Debug)]
pub struct ClockedStore {
    inner: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
    written: Written,
}

/// When objects were written.
#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<BTreeMap<Path, Timestamp>>>);

impl Written {
    fn note(&self, location: &Path, now: Timestamp) {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.insert(location.clone(), now);
    }

    fn date(&self, mut meta: ObjectMeta) -> ObjectMeta {
        let written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(time) = written.get(&meta.location) {
            let millis = |time: i64| Duration::from_millis(u64::try_from(time).unwrap_or(0));
            let machine = millis(meta.last_modified.timestamp_millis());
            meta.last_modified = meta.last_modified - machine + millis(time.0);
        }
        meta
    }
}

impl ClockedStore {
    /// Dates what is written to `inner` by `clock`.
    pub fn new(inner: Arc<dyn ObjectStore>, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner,
            clock,
            written: Written::default(),
        }
    }

    fn dated(
        &self,
        listing: BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let written = self.written.clone();
        listing
            .map(move |meta| meta.map(|meta| written.date(meta)))
            .boxed()
    }
}

impl fmt::Display for ClockedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClockedStore({})", self.inner)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ObjectStore for ClockedStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        let put = self.inner.put_opts(location, payload, opts).await?;
        self.written.note(location, self.clock.now());
        Ok(put)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(ClockedUpload {
            inner,
            store: self.clone(),
            location: location.clone(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let mut result = self.inner.get_opts(location, options).await?;
        result.meta = self.written.date(result.meta);
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.dated(self.inner.list(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.dated(self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut listed = self.inner.list_with_delimiter(prefix).await?;
        listed.objects = listed
            .objects
            .into_iter()
            .map(|meta| self.written.date(meta))
            .collect();
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await?;
        self.written.note(to, self.clock.now());
        Ok(())
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await?;
        self.written.note(to, self.clock.now());
        Ok(())
    }
}

#[derive(Debug)]
struct ClockedUpload {
    inner: Box<dyn MultipartUpload>,
    store: ClockedStore,
    location: Path,
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl MultipartUpload for ClockedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let put = self.inner.complete().await?;
        let now = self.store.clock.now();
        self.store.written.note(&self.location, now);
        Ok(put)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}
