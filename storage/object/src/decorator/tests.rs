use std::sync::Arc;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload};

use super::count::{CountStore, Keep};
use super::fault::{Fault, FaultStore, Rule};
use super::range_cache::RangeCache;
use super::retry::{RetryPolicy, RetryStore};
use crate::error::Operation;
use crate::key::{Key, Seq};
use crate::port::Clock;
use crate::testing::*;

fn log_path(seq: u64) -> Path {
    Key::Log(collection(), Seq(seq)).path()
}

fn counted(inner: Arc<dyn ObjectStore>) -> (Arc<CountStore>, Arc<dyn ObjectStore>) {
    let counted = Arc::new(CountStore::new(inner, Keep::Requests));
    let objects: Arc<dyn ObjectStore> = Arc::<CountStore>::clone(&counted);
    (counted, objects)
}

fn faulty(inner: Arc<dyn ObjectStore>, rules: Vec<Rule>) -> Arc<FaultStore> {
    Arc::new(FaultStore::new(inner, VirtualClock::new(), 1, rules))
}

fn retrying(inner: Arc<dyn ObjectStore>) -> RetryStore {
    RetryStore::new(
        inner,
        VirtualClock::new(),
        Arc::new(CountingIds::default()),
        RetryPolicy::default(),
    )
}

async fn create(objects: &dyn ObjectStore, path: &Path, text: &'static str) -> Result<(), Error> {
    objects
        .put_opts(
            path,
            PutPayload::from_static(text.as_bytes()),
            PutMode::Create.into(),
        )
        .await
        .map(|_| ())
}

async fn text(objects: &dyn ObjectStore, path: &Path) -> String {
    let bytes = objects.get(path).await.unwrap().bytes().await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn everything_but_a_conditional_write_is_tried_again() {
    let all = [
        Operation::Get,
        Operation::Range,
        Operation::List,
        Operation::Put,
        Operation::Delete,
    ];
    for operation in all {
        let rule = Rule::new(Fault::ErrorBefore, &[operation], 1_000).at_most(3);
        let store = retrying(faulty(memory(), vec![rule]));
        store.put(&log_path(1), "x".into()).await.unwrap();
        assert_eq!(text(&store, &log_path(1)).await, "x");
        assert_eq!(
            &store.get_range(&log_path(1), 0..1).await.unwrap()[..],
            b"x"
        );
        let names: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert_eq!(names.len(), 1);
        store.delete(&log_path(1)).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_conditional_write_goes_out_once_whatever_comes() {
    let (counted, objects) = counted(memory());
    let rule = Rule::new(Fault::LostAnswer, &[Operation::Create], 1_000);
    let store = retrying(faulty(objects, vec![rule]));
    let answer = create(&store, &log_path(1), "x").await;
    assert!(matches!(answer, Err(Error::Generic { .. })), "{answer:?}");
    assert_eq!(counted.counts().creates, 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_store_says_of_the_request_itself_is_not_tried_again() {
    let (counted, objects) = counted(memory());
    let store = retrying(objects);
    assert!(store.get(&log_path(9)).await.is_err());
    assert_eq!(counted.counts().gets, 1);
}

#[tokio::test(start_paused = true)]
async fn patience_ends() {
    let rule = Rule::new(Fault::ErrorBefore, &[Operation::Get], 1_000);
    let (counted, objects) = counted(faulty(memory(), vec![rule]));
    assert!(retrying(objects).get(&log_path(1)).await.is_err());
    assert_eq!(counted.counts().gets, 5);
}

#[tokio::test(start_paused = true)]
async fn the_cache_keeps_immutable_objects_only_and_never_a_miss() {
    let (counted, objects) = counted(memory());
    let cache = RangeCache::new(objects, 1_000);
    assert!(cache.get(&log_path(1)).await.is_err());
    cache.put(&log_path(1), "entry".into()).await.unwrap();
    for _ in 0..3 {
        assert_eq!(text(&cache, &log_path(1)).await, "entry");
    }
    let head = Key::Head(collection()).path();
    for content in ["one", "two"] {
        cache.put(&head, content.into()).await.unwrap();
        assert_eq!(text(&cache, &head).await, content);
    }
    assert_eq!(
        counted.counts().gets,
        4,
        "a miss, a hit that is kept, and the head twice"
    );
    cache.delete(&log_path(1)).await.unwrap();
    assert_eq!(cache.held_bytes(), 0);
    assert!(cache.get(&log_path(1)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_cache_stays_within_its_bytes_and_drops_the_least_used() {
    let (counted, objects) = counted(memory());
    let cache = RangeCache::new(objects, 40);
    for seq in 1..=5 {
        cache
            .put(&log_path(seq), "0123456789".into())
            .await
            .unwrap();
    }
    for seq in [1, 2, 3, 4, 1, 5] {
        text(&cache, &log_path(seq)).await;
    }
    assert_eq!(cache.held_bytes(), 40);
    let before = counted.counts().gets;
    text(&cache, &log_path(1)).await;
    assert_eq!(counted.counts().gets, before, "it was used, and stayed");
    text(&cache, &log_path(2)).await;
    assert_eq!(counted.counts().gets, before + 1, "it was not, and went");
}

#[tokio::test(start_paused = true)]
async fn faults_do_what_they_say() {
    let objects = memory();
    let rule = |fault| vec![Rule::new(fault, &[Operation::Create], 1_000).at_most(1)];
    let store = faulty(Arc::clone(&objects), vec![]);

    store.set_rules(rule(Fault::ErrorBefore));
    assert!(create(&*store, &log_path(1), "a").await.is_err());
    assert!(objects.head(&log_path(1)).await.is_err());

    store.set_rules(rule(Fault::LostAnswer));
    assert!(create(&*store, &log_path(1), "a").await.is_err());
    assert_eq!(text(&*objects, &log_path(1)).await, "a");

    store.set_rules(rule(Fault::EmptyConflict));
    let answer = create(&*store, &log_path(2), "a").await;
    assert!(matches!(answer, Err(Error::AlreadyExists { .. })));
    assert!(objects.head(&log_path(2)).await.is_err());

    store.set_rules(rule(Fault::LateDelivery { after_ms: 1_000 }));
    assert!(create(&*store, &log_path(2), "late").await.is_err());
    assert!(store.get(&log_path(2)).await.is_err());
    VirtualClock::new()
        .sleep(std::time::Duration::from_secs(2))
        .await;
    assert_eq!(text(&*store, &log_path(2)).await, "late");

    store.set_rules(rule(Fault::Duplicate { after_ms: 1_000 }));
    create(&*store, &log_path(3), "again").await.unwrap();
    objects.delete(&log_path(3)).await.unwrap();
    store.flush().await;
    assert_eq!(
        text(&*objects, &log_path(3)).await,
        "again",
        "a deleted name came back"
    );
}

#[tokio::test(start_paused = true)]
async fn rules_hold_for_names_and_operations_only() {
    let rule = Rule::new(Fault::ErrorBefore, &[Operation::Get], 1_000).on("/log/");
    let store = faulty(memory(), vec![rule]);
    let head = Key::Head(collection()).path();
    for path in [&head, &log_path(1)] {
        store.put(path, "x".into()).await.unwrap();
    }
    assert!(store.get(&head).await.is_ok());
    assert!(store.get(&log_path(1)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_seed_replays_the_same_faults() {
    let run = |seed| async move {
        let rules = vec![Rule::new(Fault::ErrorBefore, &[Operation::Put], 500)];
        let store = FaultStore::new(memory(), VirtualClock::new(), seed, rules);
        let mut failed = Vec::new();
        for seq in 0..64 {
            failed.push(store.put(&log_path(seq), "x".into()).await.is_err());
        }
        failed
    };
    assert_eq!(run(7).await, run(7).await);
    assert_ne!(run(7).await, run(8).await);
}

/// It fails at once and says why, where a bad moment would be waited out.
#[tokio::test(start_paused = true)]
async fn a_range_beyond_the_end_is_not_tried_again() {
    let inner = memory();
    let path = log_path(1);
    inner.put(&path, "four".into()).await.unwrap();
    let hiccup = Rule::new(Fault::ErrorBefore, &[Operation::Range], 1_000).at_most(2);
    let (counts, line) = counted(faulty(inner, vec![hiccup]));
    let retries: Arc<dyn ObjectStore> = Arc::new(retrying(line));
    let io = crate::io::Io::new(&store(&retries));
    let read = |range| crate::io::Request::Range {
        key: Key::Log(collection(), Seq(1)),
        range,
    };
    let bytes = io.one(read(1..3)).await.unwrap().into_bytes();
    assert_eq!(bytes.as_ref(), b"ou");
    assert_eq!(counts.counts().ranges, 3, "two hiccups are waited out");
    let error = io.one(read(4..6)).await.unwrap_err();
    assert!(
        matches!(
            error,
            crate::error::StoreError::OutOfRange {
                start: 4,
                length: 4,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(counts.counts().ranges, 4);
}
