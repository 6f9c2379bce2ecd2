//! The contract on every store that a native process has by itself; S3 servers and the
//! Worker's stores are held to it in `tests/edge`.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::prefix::PrefixStore;
use ostraca_contract::{CASES, NATIVE_CASES};
use ostraca_object::decorator::count::{CountStore, Keep};
use ostraca_object::decorator::fault::FaultStore;
use ostraca_object::decorator::range_cache::RangeCache;
use ostraca_object::decorator::retry::{RetryPolicy, RetryStore};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::port::{Clock, Ids};

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

fn ids() -> Arc<dyn Ids> {
    Arc::new(OsIds)
}

async fn holds(store: Arc<dyn ObjectStore>) {
    let root = format!("contract/{:032x}", ids().random());
    let mut broken = Vec::new();
    for case in CASES.iter().chain(NATIVE_CASES) {
        if let Err(failure) = case.run(Arc::clone(&store), &root).await {
            broken.push(format!("{}: {failure:?}", case.name));
        }
    }
    assert!(broken.is_empty(), "{store}:\n{}", broken.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    holds(Arc::new(InMemory::new())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn local_folder() {
    let name = format!("ostraca-contract-Ä-{:032x}", ids().random());
    let folder = std::env::temp_dir().join(name);
    holds(ostraca_object::local::open(&folder).unwrap()).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_decorator_stacked() {
    let inner: Arc<dyn ObjectStore> = Arc::new(PrefixStore::new(InMemory::new(), "some/where"));
    let faults: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(inner, clock(), 1, Vec::new()));
    let counts: Arc<dyn ObjectStore> = Arc::new(CountStore::new(faults, Keep::Requests));
    let retries: Arc<dyn ObjectStore> = Arc::new(RetryStore::new(
        counts,
        clock(),
        ids(),
        RetryPolicy::default(),
    ));
    holds(Arc::new(RangeCache::new(retries, 1024 * 1024))).await;
}
