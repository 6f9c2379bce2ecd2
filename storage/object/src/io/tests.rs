use std::sync::Arc;

use object_store::{ObjectStore, ObjectStoreExt};

use super::*;
use crate::decorator::count::{CountStore, Keep};
use crate::decorator::fault::{Fault, FaultStore, Rule};
use crate::decorator::range_cache::RangeCache;
use crate::key::{SegmentPart, Seq};
use crate::testing::*;

fn rows() -> Key {
    Key::Segment(collection(), "s1".parse().unwrap(), SegmentPart::Rows)
}

async fn with_rows(objects: &Arc<dyn ObjectStore>) {
    let content: Vec<u8> = (0..=255).collect();
    objects.put(&rows().path(), content.into()).await.unwrap();
}

fn range(range: Range<u64>) -> Request {
    Request::Range { key: rows(), range }
}

#[tokio::test(start_paused = true)]
async fn near_ranges_are_one_request_and_far_ones_are_not() {
    let objects = memory();
    with_rows(&objects).await;
    let store = Arc::new(
        Arc::into_inner(store(&objects))
            .unwrap()
            .with_coalesce_gap(10),
    );
    let io = Io::new(&store);
    let answers = io
        .wave(vec![
            range(100..104),
            range(0..4),
            range(12..16),
            range(2..6),
        ])
        .await;
    let bytes: Vec<Vec<u8>> = answers
        .into_iter()
        .map(|answer| answer.unwrap().into_bytes().to_vec())
        .collect();
    assert_eq!(
        bytes,
        [
            vec![100, 101, 102, 103],
            vec![0, 1, 2, 3],
            vec![12, 13, 14, 15],
            vec![2, 3, 4, 5]
        ]
    );
    let receipt = io.receipt();
    assert_eq!(
        (receipt.steps, receipt.gets, receipt.bytes_read),
        (1, 2, 20)
    );
}

#[tokio::test(start_paused = true)]
async fn a_wave_that_a_cache_answers_is_no_step() {
    let objects = memory();
    with_rows(&objects).await;
    let cached: Arc<dyn ObjectStore> = Arc::new(RangeCache::new(objects, 10_000));
    let store = store(&cached);
    for (steps, gets, from_cache) in [(1, 1, 0), (0, 0, 1)] {
        let io = Io::new(&store);
        io.wave(vec![range(0..4)]).await;
        let receipt = io.receipt();
        assert_eq!(
            (receipt.steps, receipt.gets, receipt.cached),
            (steps, gets, from_cache)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn answers_keep_the_order_of_the_requests() {
    let objects = memory();
    with_rows(&objects).await;
    let slow = Rule::new(
        Fault::Delay {
            from_ms: 1,
            to_ms: 50,
        },
        &[Operation::Get],
        500,
    );
    let objects: Arc<dyn ObjectStore> =
        Arc::new(FaultStore::new(objects, VirtualClock::new(), 5, vec![slow]));
    let store = store(&objects);
    let requests = (0..40)
        .map(|n| match n % 2 {
            0 => Request::Get { key: rows() },
            _ => Request::Get {
                key: Key::Log(collection(), Seq(n)),
            },
        })
        .collect();
    let found: Vec<bool> = Io::new(&store)
        .wave(requests)
        .await
        .iter()
        .map(Result::is_ok)
        .collect();
    assert_eq!(found, (0..40).map(|n| n % 2 == 0).collect::<Vec<bool>>());
}

#[tokio::test(start_paused = true)]
async fn no_more_requests_are_in_flight_than_allowed() {
    let slow = Rule::new(
        Fault::Delay {
            from_ms: 100,
            to_ms: 100,
        },
        &[Operation::Get],
        1_000,
    );
    let objects: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
        memory(),
        VirtualClock::new(),
        5,
        vec![slow],
    ));
    let store = Arc::new(Arc::into_inner(store(&objects)).unwrap().with_in_flight(6));
    let before = store.clock().now();
    let io = Io::new(&store);
    io.wave((0..12).map(|_| Request::Get { key: rows() }).collect())
        .await;
    assert_eq!(
        store.clock().now().millis_since(before),
        200,
        "two rounds of six"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_comes_ends_in_what_is_known() {
    let stuck = Rule::new(
        Fault::Delay {
            from_ms: 10_000_000,
            to_ms: 10_000_000,
        },
        &[Operation::Get, Operation::Create],
        1_000,
    );
    let objects: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
        memory(),
        VirtualClock::new(),
        5,
        vec![stuck],
    ));
    let io = Io::new(&store(&objects));
    let get = io.one(Request::Get { key: rows() }).await.unwrap_err();
    assert!(matches!(get, StoreError::Unavailable { .. }), "{get}");
    let create = Request::Create {
        key: rows(),
        bytes: Bytes::new(),
    };
    let create = io.one(create).await.unwrap_err();
    assert!(
        matches!(create, StoreError::UnknownOutcome { .. }),
        "{create}"
    );
}

#[tokio::test(start_paused = true)]
async fn names_come_in_order_and_foreign_ones_are_left_out() {
    let objects = memory();
    for seq in [3, 1, 2] {
        let key = Key::Log(collection(), Seq(seq));
        objects.put(&key.path(), "x".into()).await.unwrap();
    }
    let foreign = Path::from("t/acme/c/memory/log/notes.txt");
    objects.put(&foreign, "x".into()).await.unwrap();
    let counted = Arc::new(CountStore::new(objects, Keep::Requests));
    let objects: Arc<dyn ObjectStore> = Arc::<CountStore>::clone(&counted);
    let io = Io::new(&store(&objects));
    let listed = io
        .one(Request::List {
            prefix: Prefix::Log(collection()),
            after: Some(Key::Log(collection(), Seq(1))),
        })
        .await
        .unwrap()
        .into_listed();
    let keys: Vec<Key> = listed.into_iter().map(|listed| listed.key).collect();
    assert_eq!(
        keys,
        [
            Key::Log(collection(), Seq(2)),
            Key::Log(collection(), Seq(3))
        ]
    );
    let tenants = io.one(Request::Tenants).await.unwrap();
    assert_eq!(tenants, Response::Tenants(vec!["acme".parse().unwrap()]));
    let tenant = "acme".parse().unwrap();
    let collections = io.one(Request::Collections { tenant }).await.unwrap();
    assert_eq!(
        collections,
        Response::Collections(vec![CollectionId::memory()])
    );
    assert_eq!(io.receipt().lists, 3);
    assert_eq!(counted.counts().lists, 3);
}

#[tokio::test(start_paused = true)]
async fn deleting_what_is_not_there_is_no_error() {
    let io = Io::new(&store(&memory()));
    assert_eq!(
        io.one(Request::Delete { key: rows() }).await.unwrap(),
        Response::Done
    );
}
