use std::sync::Arc;

use object_store::{ObjectStore, ObjectStoreExt, PutMode};

use super::*;
use crate::decorator::count::{CountStore, Keep};
use crate::decorator::fault::{Fault, FaultStore, Rule};
use crate::error::Operation;
use crate::testing::*;

fn faulty(rules: Vec<Rule>) -> Arc<dyn ObjectStore> {
    Arc::new(FaultStore::new(memory(), VirtualClock::new(), 3, rules))
}

/// A store with a defect in its create.
#[derive(Debug)]
enum Defect {
    /// Overwrites, as if the header were ignored.
    IgnoresCondition,
    /// Looks first and writes after a while.
    ChecksThenWrites,
}

#[derive(Debug)]
struct Defective {
    inner: Arc<dyn ObjectStore>,
    clock: Arc<VirtualClock>,
    defect: Defect,
}

impl fmt::Display for Defective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.defect)
    }
}

use crate::port::Clock;
use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as StoreResult,
};

#[async_trait]
impl ObjectStore for Defective {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> StoreResult<PutResult> {
        if opts.mode == PutMode::Create {
            match self.defect {
                Defect::IgnoresCondition => {}
                Defect::ChecksThenWrites => {
                    let there = self.inner.head(location).await.is_ok();
                    self.clock.sleep(Duration::from_millis(5)).await;
                    if there {
                        return self.inner.put_opts(location, payload, opts).await;
                    }
                }
            }
        }
        self.inner
            .put_opts(location, payload, PutMode::Overwrite.into())
            .await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> StoreResult<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn defective(defect: Defect) -> Arc<dyn ObjectStore> {
    Arc::new(Defective {
        inner: memory(),
        clock: VirtualClock::new(),
        defect,
    })
}

#[tokio::test(start_paused = true)]
async fn a_sound_store_is_proven_once_and_remembered() {
    let counted = Arc::new(CountStore::new(memory(), Keep::Counts));
    let objects: Arc<dyn ObjectStore> = Arc::<CountStore>::clone(&counted);
    let first = store(&objects);
    prove_create_only(&Io::new(&first)).await.unwrap();
    let spent = counted.counts();
    prove_create_only(&Io::new(&first)).await.unwrap();
    assert_eq!(counted.counts(), spent, "this process remembers");
    let io = Io::new(&store(&objects));
    prove_create_only(&io).await.unwrap();
    assert_eq!(
        (io.receipt().gets, io.receipt().puts),
        (1, 0),
        "the store remembers"
    );
    let left: Vec<_> = futures::TryStreamExt::try_collect::<Vec<_>>(objects.list(None))
        .await
        .unwrap();
    assert_eq!(left.len(), 1, "only the marker stays: {left:?}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_ignores_the_condition_is_refused() {
    let store = store(&defective(Defect::IgnoresCondition));
    let error = prove_create_only(&Io::new(&store)).await.unwrap_err();
    assert!(
        matches!(
            &error,
            ProbeError::NotCreateOnly {
                seen: Seen::SecondCreate
            }
        ),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_only_in_a_race_is_refused() {
    let store = store(&defective(Defect::ChecksThenWrites));
    let error = prove_create_only(&Io::new(&store)).await.unwrap_err();
    assert!(
        matches!(
            &error,
            ProbeError::NotCreateOnly {
                seen: Seen::ManyWinners {
                    winners: 8,
                    racers: 8
                }
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("8 of 8 racing creates"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn conflicts_that_store_nothing_and_lost_answers_are_probed_again() {
    for fault in [Fault::EmptyConflict, Fault::LostAnswer, Fault::ErrorBefore] {
        let rule = Rule::new(fault, &[Operation::Create], 1_000).at_most(2);
        let store = store(&faulty(vec![rule]));
        prove_create_only(&Io::new(&store)).await.unwrap();
    }
    let rule = Rule::new(Fault::ErrorBefore, &[Operation::Create], 1_000);
    let store = store(&faulty(vec![rule]));
    let error = prove_create_only(&Io::new(&store)).await.unwrap_err();
    assert!(matches!(error, ProbeError::Inconclusive { .. }), "{error}");
}
