//! A store that fails on purpose, from a seed: lost answers, late and double
//! deliveries, conflicts that store nothing, delays. For simulation; what a
//! rule does not touch passes unharmed.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    RenameOptions, Result, UploadPart,
};

use super::{read_operation, write_operation};
use crate::error::Operation;
use crate::port::{Clock, Timestamp};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing happens but an error.
    ErrorBefore,
    /// It happens, but the answer is an error.
    LostAnswer,
    /// It happens after a delay of so many milliseconds, evenly from the range.
    Delay {
        /// At least.
        from_ms: u64,
        /// At most.
        to_ms: u64,
    },
    /// It happens at once, and the answer takes so long.
    SlowAnswer {
        /// At least.
        from_ms: u64,
        /// At most.
        to_ms: u64,
    },
    /// A write happens, is answered, and reaches the store once more later.
    Duplicate {
        /// So much later.
        after_ms: u64,
    },
    /// A write is answered with an error, and reaches the store only later.
    LateDelivery {
        /// So much later.
        after_ms: u64,
    },
    /// A create is refused as a conflict although nothing is there, as S3 may
    /// with 409.
    EmptyConflict,
}

/// When something goes wrong.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What.
    pub fault: Fault,
    /// On these operations.
    pub operations: Vec<Operation>,
    /// On names that contain this; empty for all.
    pub containing: String,
    /// In so many of a thousand cases.
    pub per_mille: u64,
    /// No more often than this.
    pub at_most: u64,
}

impl Rule {
    /// A rule for all names, without a limit.
    pub fn new(fault: Fault, operations: &[Operation], per_mille: u64) -> Self {
        Self {
            fault,
            operations: operations.to_vec(),
            containing: String::new(),
            per_mille,
            at_most: u64::MAX,
        }
    }

    /// Only on names that contain `text`.
    pub fn on(mut self, text: &str) -> Self {
        text.clone_into(&mut self.containing);
        self
    }

    /// Only the first `count` times.
    pub fn at_most(mut self, count: u64) -> Self {
        self.at_most = count;
        self
    }
}

/// A store that fails.
#[derive(Clone, Debug)]
pub struct FaultStore {
    inner: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug)]
struct Plan {
    dice: u64,
    rules: Vec<(Rule, u64)>,
    underway: Vec<Delivery>,
}

#[derive(Debug)]
struct Delivery {
    due: Timestamp,
    location: Path,
    payload: PutPayload,
    opts: PutOptions,
}

impl Plan {
    /// `SplitMix64`, because a seed has to mean the same for ever.
    fn roll(&mut self) -> u64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.dice;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.roll() % (to.saturating_sub(from) + 1)
    }
}

impl FaultStore {
    /// Fails on `inner` by `rules`, which can be changed at any time.
    pub fn new(
        inner: Arc<dyn ObjectStore>,
        clock: Arc<dyn Clock>,
        seed: u64,
        rules: Vec<Rule>,
    ) -> Self {
        Self {
            inner,
            clock,
            plan: Arc::new(Mutex::new(Plan {
                dice: seed,
                rules: rules.into_iter().map(|rule| (rule, 0)).collect(),
                underway: Vec::new(),
            })),
        }
    }

    /// From now on these rules hold.
    pub fn set_rules(&self, rules: Vec<Rule>) {
        self.plan().rules = rules.into_iter().map(|rule| (rule, 0)).collect();
    }

    /// Delivers what is still under way, due or not.
    pub async fn flush(&self) {
        self.deliver(Timestamp(i64::MAX)).await;
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The faults that befall a request.
    fn faults(&self, operation: Operation, location: &Path) -> Vec<Fault> {
        let mut plan = self.plan();
        let mut faults = Vec::new();
        for index in 0..plan.rules.len() {
            let roll = plan.roll() % 1_000;
            let Some((rule, used)) = plan.rules.get_mut(index) else {
                break;
            };
            if rule.operations.contains(&operation)
                && location.as_ref().contains(&rule.containing)
                && *used < rule.at_most
                && roll < rule.per_mille
            {
                *used += 1;
                faults.push(rule.fault);
            }
        }
        faults
    }

    async fn deliver(&self, until: Timestamp) {
        let due: Vec<Delivery> = {
            let mut plan = self.plan();
            let (due, later) = std::mem::take(&mut plan.underway)
                .into_iter()
                .partition(|delivery| delivery.due <= until);
            plan.underway = later;
            due
        };
        for Delivery {
            location,
            payload,
            opts,
            ..
        } in due
        {
            // Nobody waits for the answer.
            let _ = self.inner.put_opts(&location, payload, opts).await;
        }
    }

    async fn pause(&self, from_ms: u64, to_ms: u64) {
        let wait = self.plan().between(from_ms, to_ms);
        self.clock.sleep(Duration::from_millis(wait)).await;
    }

    fn later(&self, after_ms: u64, location: &Path, payload: &PutPayload, opts: &PutOptions) {
        let due = self.clock.now().plus_millis(after_ms);
        self.plan().underway.push(Delivery {
            due,
            location: location.clone(),
            payload: payload.clone(),
            opts: opts.clone(),
        });
    }

    /// A request other than a write, with what befalls it.
    async fn befallen<T, R>(
        &self,
        operation: Operation,
        location: &Path,
        ask: impl FnOnce() -> R + Send,
    ) -> Result<T>
    where
        R: Future<Output = Result<T>> + Send,
        T: Send,
    {
        self.deliver(self.clock.now()).await;
        let faults = self.faults(operation, location);
        for fault in &faults {
            match fault {
                Fault::Delay { from_ms, to_ms } => self.pause(*from_ms, *to_ms).await,
                Fault::ErrorBefore => return Err(failure(operation)),
                _ => {}
            }
        }
        self.deliver(self.clock.now()).await;
        let answer = ask().await;
        for fault in faults {
            match fault {
                Fault::SlowAnswer { from_ms, to_ms } => self.pause(from_ms, to_ms).await,
                Fault::LostAnswer => return Err(failure(operation)),
                _ => {}
            }
        }
        answer
    }

    fn listing(
        &self,
        at: &Path,
        open: impl FnOnce(&dyn ObjectStore) -> BoxStream<'static, Result<ObjectMeta>> + Send + 'static,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let this = self.clone();
        let at = at.clone();
        async move {
            let inner = Arc::clone(&this.inner);
            this.befallen(Operation::List, &at, move || {
                open(inner.as_ref()).try_collect::<Vec<_>>()
            })
            .await
        }
        .map(|names| match names {
            Ok(names) => stream::iter(names.into_iter().map(Ok).collect::<Vec<_>>()),
            Err(error) => stream::iter(vec![Err(error)]),
        })
        .flatten_stream()
        .boxed()
    }
}

fn failure(operation: Operation) -> Error {
    Error::Generic {
        store: "FaultStore",
        source: format!("injected failure of a {operation}").into(),
    }
}

impl fmt::Display for FaultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultStore({})", self.inner)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ObjectStore for FaultStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        let operation = write_operation(&opts);
        self.deliver(self.clock.now()).await;
        let faults = self.faults(operation, location);
        for fault in &faults {
            match fault {
                Fault::Delay { from_ms, to_ms } => self.pause(*from_ms, *to_ms).await,
                Fault::ErrorBefore => return Err(failure(operation)),
                Fault::EmptyConflict => {
                    return Err(Error::AlreadyExists {
                        path: location.to_string(),
                        source: "injected conflict".into(),
                    });
                }
                Fault::LateDelivery { after_ms } => {
                    self.later(*after_ms, location, &payload, &opts);
                    return Err(failure(operation));
                }
                Fault::Duplicate { after_ms } => self.later(*after_ms, location, &payload, &opts),
                Fault::LostAnswer | Fault::SlowAnswer { .. } => {}
            }
        }
        self.deliver(self.clock.now()).await;
        let answer = self.inner.put_opts(location, payload, opts).await;
        for fault in faults {
            match fault {
                Fault::SlowAnswer { from_ms, to_ms } => self.pause(from_ms, to_ms).await,
                Fault::LostAnswer => return Err(failure(operation)),
                _ => {}
            }
        }
        answer
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self
            .befallen(Operation::Upload, location, || {
                self.inner.put_multipart_opts(location, opts)
            })
            .await?;
        Ok(Box::new(FaultyUpload {
            inner,
            store: self.clone(),
            location: location.clone(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.befallen(read_operation(&options), location, || {
            self.inner.get_opts(location, options)
        })
        .await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.befallen(Operation::Range, location, || {
            self.inner.get_ranges(location, ranges)
        })
        .await
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
                    this.befallen(Operation::Delete, &location, || {
                        this.inner.delete(&location)
                    })
                    .await?;
                    Ok(location)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let at = prefix.cloned().unwrap_or_default();
        let prefix = prefix.cloned();
        self.listing(&at, move |inner| inner.list(prefix.as_ref()))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let at = prefix.cloned().unwrap_or_default();
        let prefix = prefix.cloned();
        let offset = offset.clone();
        self.listing(&at, move |inner| {
            inner.list_with_offset(prefix.as_ref(), &offset)
        })
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let at = prefix.cloned().unwrap_or_default();
        self.befallen(Operation::List, &at, || {
            self.inner.list_with_delimiter(prefix)
        })
        .await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct FaultyUpload {
    inner: Box<dyn MultipartUpload>,
    store: FaultStore,
    location: Path,
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let part = self.inner.put_part(data);
        let (store, location) = (self.store.clone(), self.location.clone());
        async move { store.befallen(Operation::Upload, &location, || part).await }.boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let (store, inner) = (&self.store, &mut self.inner);
        store
            .befallen(Operation::Upload, &self.location, || inner.complete())
            .await
    }

    async fn abort(&mut self) -> Result<()> {
        let (store, inner) = (&self.store, &mut self.inner);
        store
            .befallen(Operation::Delete, &self.location, || inner.abort())
            .await
    }
}
