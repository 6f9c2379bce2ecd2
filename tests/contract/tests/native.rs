//! The contract on every store that a native process can have. A real server is tested
//! when `OSTRACA_TEST_S3` names its endpoint, `OSTRACA_TEST_S3_BUCKET` a bucket, and
//! `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` the way in.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::prefix::PrefixStore;
use ostraca_contract::CASES;
use ostraca_object::decorator::count::{CountStore, Keep};
use ostraca_object::decorator::fault::FaultStore;
use ostraca_object::decorator::range_cache::RangeCache;
use ostraca_object::decorator::retry::{RetryPolicy, RetryStore};
use ostraca_object::port::{Clock, Ids};
use ostraca_object::s3::{S3Settings, Transport};

mod ports {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use async_trait::async_trait;
    use ostraca_object::port::{Clock, Ids, Timestamp};

    #[derive(Debug)]
    pub(crate) struct Wall;

    #[expect(clippy::disallowed_methods, reason = "this is the edge of the test")]
    #[async_trait]
    impl Clock for Wall {
        fn now(&self) -> Timestamp {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            Timestamp(i64::try_from(since.as_millis()).unwrap())
        }

        async fn sleep(&self, duration: Duration) {
            tokio::time::sleep(duration).await;
        }
    }

    #[derive(Debug)]
    pub(crate) struct Random;

    #[expect(clippy::disallowed_methods, reason = "this is the edge of the test")]
    impl Ids for Random {
        fn random(&self) -> u128 {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes).unwrap();
            u128::from_le_bytes(bytes)
        }
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(ports::Wall)
}

fn ids() -> Arc<dyn Ids> {
    Arc::new(ports::Random)
}

async fn holds(store: Arc<dyn ObjectStore>) {
    let root = format!("contract/{:032x}", ids().random());
    let mut broken = Vec::new();
    for case in CASES {
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

#[expect(
    clippy::disallowed_methods,
    reason = "the server to test comes from the environment"
)]
#[tokio::test(flavor = "multi_thread")]
async fn s3_server() {
    let Ok(endpoint) = std::env::var("OSTRACA_TEST_S3") else {
        eprintln!("skipped: OSTRACA_TEST_S3 is not set");
        return;
    };
    let settings = S3Settings {
        bucket: std::env::var("OSTRACA_TEST_S3_BUCKET").unwrap(),
        prefix: "in/a/folder".to_owned(),
        endpoint: Some(endpoint),
        region: std::env::var("AWS_REGION").unwrap_or_else(|_| "us-east-1".to_owned()),
        access_key_id: std::env::var("AWS_ACCESS_KEY_ID").ok(),
        secret_access_key: std::env::var("AWS_SECRET_ACCESS_KEY").ok(),
        transport: Transport::PlainAllowed,
        ..S3Settings::default()
    };
    holds(ostraca_object::s3::open(&settings, clock(), ids()).unwrap()).await;
}
