//! The only way to touch the store: waves of typed requests, metered for one
//! operation. It is separate from `Store` so that every answer can carry an
//! exact receipt; it must not decide what to read.

mod coalesce;
#[cfg(test)]
mod tests;
pub mod upload;

use std::fmt;
use std::ops::Range;
use std::pin::pin;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{Either, select};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, ObjectMeta, ObjectStoreExt, PutMode, PutOptions, PutPayload,
};
use serde::{Deserialize, Serialize};

use self::coalesce::Fetch;
use crate::decorator::range_cache::FromCache;
use crate::error::{Operation, StoreError};
use crate::key::{CollectionId, Key, Prefix, TenantId};
use crate::port::{Clock, Ids, Timestamp};
use crate::store::Store;

/// Names that one listing request of S3 returns at most.
const LIST_PAGE: u64 = 1_000;

/// One thing to ask of the store.
#[derive(Clone, Debug)]
pub enum Request {
    /// A whole object.
    Get {
        /// Which.
        key: Key,
    },
    /// A part of an object. Near ranges of one object in a wave become one request.
    Range {
        /// Which object.
        key: Key,
        /// Which bytes.
        range: Range<u64>,
    },
    /// The last bytes of an object.
    Suffix {
        /// Which object.
        key: Key,
        /// How many bytes.
        bytes: u64,
    },
    /// The names under a prefix in ascending order.
    List {
        /// Which set.
        prefix: Prefix,
        /// Only names after this one.
        after: Option<Key>,
    },
    /// The tenants that have objects.
    Tenants,
    /// The collections of a tenant that have objects.
    Collections {
        /// Whose.
        tenant: TenantId,
    },
    /// Write an object that must not be there yet. Never repeated below this.
    Create {
        /// Its name.
        key: Key,
        /// Its content.
        bytes: Bytes,
    },
    /// Write or overwrite an object.
    Put {
        /// Its name.
        key: Key,
        /// Its content.
        bytes: Bytes,
    },
    /// Delete an object; one that is not there is no error.
    Delete {
        /// Its name.
        key: Key,
    },
}

/// A name in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The object.
    pub key: Key,
    /// Its size.
    pub bytes: u64,
    /// When it was written, by the store's clock.
    pub modified: Timestamp,
}

/// What a request was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// Content, for `Get`, `Range` and `Suffix`.
    Bytes(Bytes),
    /// Names, for `List`. Objects that are not ours are left out.
    Listed(Vec<Listed>),
    /// Tenants, for `Tenants`.
    Tenants(Vec<TenantId>),
    /// Collections, for `Collections`.
    Collections(Vec<CollectionId>),
    /// Done, for `Create`, `Put` and `Delete`.
    Done,
}

impl Response {
    /// The content; empty for an answer without.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => Bytes::new(),
        }
    }

    /// The names; none for an answer without.
    pub fn into_listed(self) -> Vec<Listed> {
        match self {
            Self::Listed(names) => names,
            _ => Vec::new(),
        }
    }
}

/// What an operation has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Dependent round trips: waves in which at least one request went out.
    pub steps: u64,
    /// Reads of objects or parts of them, those that found nothing included.
    pub gets: u64,
    /// Writes, conditional ones that lost included. An upload in parts is one for each
    /// part, and one each to begin and to end it.
    pub puts: u64,
    /// Listing requests, one for each thousand names.
    pub lists: u64,
    /// Deletions.
    pub deletes: u64,
    /// Content received.
    pub bytes_read: u64,
    /// Content sent.
    pub bytes_written: u64,
    /// Reads that a cache answered; they are in none of the above.
    pub cached: u64,
}

#[derive(Debug, Default)]
struct Meter {
    steps: AtomicU64,
    gets: AtomicU64,
    puts: AtomicU64,
    lists: AtomicU64,
    deletes: AtomicU64,
    bytes_read: AtomicU64,
    bytes_written: AtomicU64,
    cached: AtomicU64,
}

fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

/// The store for one operation.
pub struct Io {
    store: Arc<Store>,
    meter: Meter,
}

impl Io {
    /// Starts an operation with an empty receipt.
    pub fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
            meter: Meter::default(),
        }
    }

    /// The store behind.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The clock of this process.
    pub fn clock(&self) -> &dyn Clock {
        self.store.clock()
    }

    /// The randomness of this process.
    pub fn ids(&self) -> &dyn Ids {
        self.store.ids()
    }

    /// What has been spent so far.
    pub fn receipt(&self) -> Cost {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Cost {
            steps: read(&self.meter.steps),
            gets: read(&self.meter.gets),
            puts: read(&self.meter.puts),
            lists: read(&self.meter.lists),
            deletes: read(&self.meter.deletes),
            bytes_read: read(&self.meter.bytes_read),
            bytes_written: read(&self.meter.bytes_written),
            cached: read(&self.meter.cached),
        }
    }

    /// Runs requests that do not depend on each other, in parallel up to the
    /// platform's limit. Answers come in the order of the requests; a wave in
    /// which anything went out counts as one step.
    pub async fn wave(&self, requests: Vec<Request>) -> Vec<Result<Response, StoreError>> {
        let fetches: Vec<_> = coalesce::plan(requests, self.store.coalesce_gap_bytes)
            .into_iter()
            .map(|fetch| self.fetch(fetch))
            .collect();
        let mut running = stream::iter(fetches).buffer_unordered(self.store.in_flight);
        let mut answers = Vec::new();
        let mut step = 0;
        while let Some(fetched) = running.next().await {
            if fetched.source == Source::Store {
                step = 1;
            }
            answers.extend(fetched.answers);
        }
        add(&self.meter.steps, step);
        answers.sort_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// A wave of one request.
    pub async fn one(&self, request: Request) -> Result<Response, StoreError> {
        let key = "nothing".to_owned();
        self.wave(vec![request])
            .await
            .pop()
            .unwrap_or(Err(StoreError::NotFound { key }))
    }

    async fn fetch(&self, fetch: Fetch) -> Fetched {
        match fetch {
            Fetch::One { index, request } => {
                let (answer, source) = self.perform(request).await;
                Fetched {
                    answers: vec![(index, answer)],
                    source,
                }
            }
            Fetch::Span { key, span, parts } => {
                let start = span.start;
                let (answer, source) = self.read(&key, Some(GetRange::Bounded(span))).await;
                let answers = match answer {
                    Ok(bytes) => parts
                        .into_iter()
                        .map(|(index, range)| (index, Ok(coalesce::cut(&bytes, start, &range))))
                        .collect(),
                    Err(error) => parts
                        .into_iter()
                        .map(|(index, _)| (index, Err(error.clone())))
                        .collect(),
                };
                Fetched { answers, source }
            }
        }
    }

    async fn perform(&self, request: Request) -> (Result<Response, StoreError>, Source) {
        match request {
            Request::Get { key } => {
                let (answer, source) = self.read(&key, None).await;
                (answer.map(Response::Bytes), source)
            }
            Request::Range { key, range } => {
                let (answer, source) = self.read(&key, Some(GetRange::Bounded(range))).await;
                (answer.map(Response::Bytes), source)
            }
            Request::Suffix { key, bytes } => {
                let (answer, source) = self.read(&key, Some(GetRange::Suffix(bytes))).await;
                (answer.map(Response::Bytes), source)
            }
            Request::List { prefix, after } => {
                (self.list(&prefix, after.as_ref()).await, Source::Store)
            }
            Request::Tenants => {
                let names = self.folders("t").await;
                (names.map(Response::Tenants), Source::Store)
            }
            Request::Collections { tenant } => {
                let names = self.folders(&format!("t/{tenant}/c")).await;
                (names.map(Response::Collections), Source::Store)
            }
            Request::Create { key, bytes } => {
                let answer = self
                    .write(Operation::Create, &key, bytes, PutMode::Create)
                    .await;
                (answer, Source::Store)
            }
            Request::Put { key, bytes } => {
                let answer = self
                    .write(Operation::Put, &key, bytes, PutMode::Overwrite)
                    .await;
                (answer, Source::Store)
            }
            Request::Delete { key } => (self.delete(&key).await, Source::Store),
        }
    }

    async fn read(
        &self,
        key: &Key,
        range: Option<GetRange>,
    ) -> (Result<Bytes, StoreError>, Source) {
        let operation = match range {
            None => Operation::Get,
            Some(_) => Operation::Range,
        };
        let path = key.path();
        let options = GetOptions {
            range,
            ..GetOptions::default()
        };
        let answer = self
            .timed(operation, key, async {
                let result = self.store.objects.get_opts(&path, options).await?;
                let source = match result.extensions.get::<FromCache>() {
                    Some(FromCache) => Source::Cache,
                    None => Source::Store,
                };
                Ok((result.bytes().await?, source))
            })
            .await;
        match answer {
            Ok((bytes, Source::Cache)) => {
                add(&self.meter.cached, 1);
                (Ok(bytes), Source::Cache)
            }
            Ok((bytes, Source::Store)) => {
                add(&self.meter.gets, 1);
                add(&self.meter.bytes_read, bytes.len() as u64);
                (Ok(bytes), Source::Store)
            }
            Err(error) => {
                add(&self.meter.gets, 1);
                (Err(error), Source::Store)
            }
        }
    }

    async fn list(&self, prefix: &Prefix, after: Option<&Key>) -> Result<Response, StoreError> {
        let path = prefix.path();
        let names: Result<Vec<ObjectMeta>, StoreError> = self
            .timed(Operation::List, prefix, async {
                match after {
                    Some(after) => self
                        .store
                        .objects
                        .list_with_offset(Some(&path), &after.path()),
                    None => self.store.objects.list(Some(&path)),
                }
                .try_collect()
                .await
            })
            .await;
        let seen = names.as_ref().map_or(0, |names| names.len() as u64);
        add(&self.meter.lists, seen.div_ceil(LIST_PAGE).max(1));
        let mut listed: Vec<Listed> = names?
            .into_iter()
            .filter_map(|meta| {
                Some(Listed {
                    key: Key::parse(&meta.location)?,
                    bytes: meta.size,
                    modified: Timestamp(meta.last_modified.timestamp_millis()),
                })
            })
            .collect();
        listed.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Response::Listed(listed))
    }

    async fn folders<N: FromStr + Ord>(&self, root: &str) -> Result<Vec<N>, StoreError> {
        let path = Path::from(root);
        add(&self.meter.lists, 1);
        let found = self
            .timed(Operation::List, root, async {
                self.store.objects.list_with_delimiter(Some(&path)).await
            })
            .await?;
        let mut names: Vec<N> = found
            .common_prefixes
            .iter()
            .filter_map(|path| path.filename()?.parse().ok())
            .collect();
        names.sort();
        Ok(names)
    }

    async fn write(
        &self,
        operation: Operation,
        key: &Key,
        bytes: Bytes,
        mode: PutMode,
    ) -> Result<Response, StoreError> {
        let path = key.path();
        add(&self.meter.puts, 1);
        add(&self.meter.bytes_written, bytes.len() as u64);
        self.timed(operation, key, async {
            self.store
                .objects
                .put_opts(&path, PutPayload::from(bytes), PutOptions::from(mode))
                .await
        })
        .await
        .map(|_| Response::Done)
    }

    async fn delete(&self, key: &Key) -> Result<Response, StoreError> {
        let path = key.path();
        add(&self.meter.deletes, 1);
        let answer = self
            .timed(Operation::Delete, key, async {
                self.store.objects.delete(&path).await
            })
            .await;
        match answer {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(Response::Done),
            Err(error) => Err(error),
        }
    }

    /// Awaits an answer, but not for ever: a connection that hangs must end in
    /// an error that says what is known.
    async fn timed<T>(
        &self,
        operation: Operation,
        key: impl fmt::Display,
        answer: impl Future<Output = object_store::Result<T>> + Send,
    ) -> Result<T, StoreError> {
        let limit = Duration::from_millis(self.store.request_timeout_ms);
        match select(pin!(answer), pin!(self.store.clock.sleep(limit))).await {
            Either::Left((answer, _)) => {
                answer.map_err(|error| StoreError::from_store(operation, key.to_string(), error))
            }
            Either::Right(((), _)) => Err(StoreError::silent(operation, key.to_string(), None)),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Store,
    Cache,
}

struct Fetched {
    answers: Vec<(usize, Result<Response, StoreError>)>,
    source: Source,
}

impl fmt::Debug for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Io")
            .field("store", &self.store)
            .field("receipt", &self.receipt())
            .finish_non_exhaustive()
    }
}
