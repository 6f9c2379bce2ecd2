//! An R2 bucket, through the Worker's binding, as an `ObjectStore`. It is separate from
//! `s3` because the binding needs no signature and no HTTP; it must not retry anything:
//! whoever writes conditionally has to see every answer.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::DateTime;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};
use worker::send::{SendFuture, SendWrapper};
use worker::{Bucket, Conditional, Object, Range};

const STORE: &str = "R2";
/// Keys that one call of the binding deletes at most.
const DELETE_BATCH: usize = 1_000;
/// The largest integer that a JavaScript number holds exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A bucket binding. JavaScript objects are single-threaded and so is a Worker: the
/// wrapper says so to the compiler.
#[derive(Debug)]
pub(crate) struct R2Store {
    bucket: SendWrapper<Bucket>,
}

impl R2Store {
    pub(crate) fn new(bucket: Bucket) -> Self {
        Self {
            bucket: SendWrapper::new(bucket),
        }
    }

    async fn read(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let key = location.as_ref();
        let object = if options.head {
            self.bucket.head(key).await
        } else {
            let mut get = self.bucket.get(key).only_if(Conditional {
                etag_matches: options.if_match.as_deref().map(unquoted),
                etag_does_not_match: options.if_none_match.as_deref().map(unquoted),
                ..Conditional::default()
            });
            if let Some(range) = &options.range {
                range.is_valid().map_err(|source| refused(source.into()))?;
                get = get.range(r2_range(range));
            }
            get.execute().await
        };
        let object = object.map_err(failed)?.ok_or_else(|| Error::NotFound {
            path: location.to_string(),
            source: "no such object".into(),
        })?;
        let meta = meta(&object)?;
        options.check_preconditions(&meta)?;
        let (range, bytes) = if options.head {
            (0..meta.size, Vec::new())
        } else {
            let range = match &options.range {
                Some(range) => range.as_range(meta.size).map_err(|e| refused(e.into()))?,
                None => 0..meta.size,
            };
            let body = object.body().ok_or_else(|| refused("no content".into()))?;
            (range, body.bytes().await.map_err(failed)?)
        };
        Ok(GetResult {
            payload: GetResultPayload::Stream(
                stream::once(futures::future::ok(Bytes::from(bytes))).boxed(),
            ),
            meta,
            range,
            attributes: Attributes::default(),
            extensions: http::Extensions::default(),
        })
    }

    async fn write(&self, path: &Path, payload: PutPayload, mode: PutMode) -> Result<PutResult> {
        let condition = match &mode {
            PutMode::Overwrite => Conditional::default(),
            PutMode::Create => Conditional {
                etag_does_not_match: Some("*".to_owned()),
                ..Conditional::default()
            },
            PutMode::Update(version) => Conditional {
                etag_matches: Some(match &version.e_tag {
                    Some(tag) => unquoted(tag),
                    None => return Err(refused("an update needs the ETag it replaces".into())),
                }),
                ..Conditional::default()
            },
        };
        let bytes = Vec::from(Bytes::from(payload));
        let put = self.bucket.put(path.as_ref(), bytes).only_if(condition);
        // The binding answers a failed condition with nothing.
        let Some(object) = put.execute().await.map_err(failed)? else {
            let (path, source) = (path.to_string(), "the condition does not hold".into());
            return Err(match mode {
                PutMode::Create => Error::AlreadyExists { path, source },
                PutMode::Overwrite | PutMode::Update(_) => Error::Precondition { path, source },
            });
        };
        Ok(PutResult {
            e_tag: Some(object.http_etag()),
            version: None,
            extensions: http::Extensions::default(),
        })
    }

    /// The pages of a listing below `folder`, in the order of their names.
    fn pages(
        &self,
        folder: Option<&Path>,
        after: Option<&Path>,
        delimiter: Option<&'static str>,
    ) -> BoxStream<'static, Result<ListResult>> {
        let listing = Listing {
            bucket: self.bucket.clone(),
            prefix: folder
                .filter(|folder| !folder.as_ref().is_empty())
                .map(|folder| format!("{folder}/")),
            after: after.map(ToString::to_string),
            delimiter,
        };
        stream::try_unfold(Some((listing, None)), |state| {
            SendFuture::new(async move {
                let Some((listing, cursor)) = state else {
                    return Ok(None);
                };
                let (page, cursor) = listing.page(cursor).await?;
                Ok(Some((page, cursor.map(|cursor| (listing, Some(cursor))))))
            })
        })
        .boxed()
    }
}

struct Listing {
    bucket: SendWrapper<Bucket>,
    prefix: Option<String>,
    after: Option<String>,
    delimiter: Option<&'static str>,
}

impl Listing {
    /// One page, and the cursor of the next one.
    async fn page(&self, cursor: Option<String>) -> Result<(ListResult, Option<String>)> {
        let mut list = self.bucket.list();
        if let Some(prefix) = &self.prefix {
            list = list.prefix(prefix);
        }
        if let Some(delimiter) = self.delimiter {
            list = list.delimiter(delimiter);
        }
        list = match (cursor, &self.after) {
            (Some(cursor), _) => list.cursor(cursor),
            (None, Some(after)) => list.start_after(after),
            (None, None) => list,
        };
        let answer = list.execute().await.map_err(failed)?;
        let page = ListResult {
            common_prefixes: answer
                .delimited_prefixes()
                .into_iter()
                .map(|name| Path::parse(name).map_err(Error::from))
                .collect::<Result<_>>()?,
            objects: answer.objects().iter().map(meta).collect::<Result<_>>()?,
            extensions: http::Extensions::default(),
        };
        Ok((page, answer.cursor().filter(|_| answer.truncated())))
    }
}

impl fmt::Display for R2Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(STORE)
    }
}

#[async_trait]
impl ObjectStore for R2Store {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        if opts.attributes.iter().next().is_some() || !opts.tags.encoded().is_empty() {
            return Err(unsupported("attributes and tags"));
        }
        SendFuture::new(self.write(location, payload, opts.mode)).await
    }

    async fn put_multipart_opts(
        &self,
        _location: &Path,
        _opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        // A multipart upload cannot be conditional, so nothing here may depend on one.
        Err(unsupported("multipart uploads"))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if options.version.is_some() {
            return Err(unsupported("object versions"));
        }
        SendFuture::new(self.read(location, options)).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let bucket = self.bucket.clone();
        locations
            .try_chunks(DELETE_BATCH)
            .map_err(|interrupted| interrupted.1)
            .and_then(move |paths| {
                let bucket = bucket.clone();
                SendFuture::new(async move {
                    let keys: Vec<&str> = paths.iter().map(Path::as_ref).collect();
                    bucket.delete_multiple(keys).await.map_err(failed)?;
                    Ok(stream::iter(paths.into_iter().map(Ok)))
                })
            })
            .try_flatten()
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        objects(self.pages(prefix, None, None))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        objects(self.pages(prefix, Some(offset), None))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.pages(prefix, None, Some("/"))
            .try_fold(empty(), |mut all, page| async move {
                all.common_prefixes.extend(page.common_prefixes);
                all.objects.extend(page.objects);
                Ok(all)
            })
            .await
    }

    async fn copy_opts(&self, _from: &Path, _to: &Path, _options: CopyOptions) -> Result<()> {
        Err(unsupported("copies"))
    }
}

fn empty() -> ListResult {
    ListResult {
        common_prefixes: Vec::new(),
        objects: Vec::new(),
        extensions: http::Extensions::default(),
    }
}

fn objects(
    pages: BoxStream<'static, Result<ListResult>>,
) -> BoxStream<'static, Result<ObjectMeta>> {
    pages
        .map_ok(|page| stream::iter(page.objects.into_iter().map(Ok)))
        .try_flatten()
        .boxed()
}

fn meta(object: &Object) -> Result<ObjectMeta> {
    let uploaded = i64::try_from(object.uploaded().as_millis()).unwrap_or(i64::MAX);
    Ok(ObjectMeta {
        location: Path::parse(object.key())?,
        last_modified: DateTime::from_timestamp_millis(uploaded).unwrap_or_default(),
        size: object.size(),
        e_tag: Some(object.http_etag()),
        version: None,
    })
}

/// The binding takes JavaScript numbers; no object is as long as where they end.
fn r2_range(range: &GetRange) -> Range {
    let safe = |number: u64| number.min(MAX_SAFE_INTEGER);
    match range {
        GetRange::Bounded(range) => Range::OffsetWithLength {
            offset: safe(range.start),
            length: safe(range.end.saturating_sub(range.start)),
        },
        GetRange::Offset(offset) => Range::OffsetToEnd {
            offset: safe(*offset),
        },
        GetRange::Suffix(bytes) => Range::Suffix {
            suffix: safe(*bytes),
        },
    }
}

/// HTTP quotes an `ETag`, the binding does not.
fn unquoted(tag: &str) -> String {
    tag.trim_matches('"').to_owned()
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
fn failed(source: worker::Error) -> Error {
    refused(source.to_string().into())
}

fn refused(source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::Generic {
        store: STORE,
        source,
    }
}

fn unsupported(what: &str) -> Error {
    Error::NotSupported {
        source: format!("the R2 store does not support {what}").into(),
    }
}
