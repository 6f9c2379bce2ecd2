use std::sync::Arc;

use futures::future::join_all;
use object_store::ObjectStoreExt;

use super::checkpoint::NewCheckpoint;
use super::commit::{Decision, Effect};
use super::error::CommitError;
use super::*;
use crate::decorator::count::{CountStore, Keep};
use crate::decorator::fault::{Fault, FaultStore, Rule};
use crate::error::Operation;
use crate::io::{Cost, Request};
use crate::key::Key;
use crate::port::Timestamp;
use crate::testing::*;

fn value(log: &Log<Numbers>, name: &str) -> Option<u64> {
    log.read(|fold, _| fold.0.get(name).copied())
}

#[tokio::test(start_paused = true)]
async fn a_commit_is_seen_by_another_process_at_once() {
    let store = store(&memory());
    let (a, b) = (log(1), log(2));
    put(&a, &Io::new(&store), 1, "x", 7).await;
    let io = Io::new(&store);
    assert_eq!(b.refresh(&io, Freshness::Strong).await.unwrap(), Seq(1));
    assert_eq!(value(&b, "x"), Some(7));
    assert_eq!(io.receipt().steps, 2, "head and listing, then the tail");
}

#[tokio::test(start_paused = true)]
async fn a_warm_commit_is_one_put() {
    let store = store(&memory());
    let a = log(1);
    put(&a, &Io::new(&store), 1, "x", 1).await;
    let io = Io::new(&store);
    put(&a, &io, 2, "x", 2).await;
    let receipt = io.receipt();
    assert_eq!(
        (receipt.steps, receipt.gets, receipt.puts, receipt.lists),
        (1, 0, 1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_warm_read_that_finds_nothing_new_is_one_get() {
    let store = store(&memory());
    let a = log(1);
    put(&a, &Io::new(&store), 1, "x", 1).await;
    let io = Io::new(&store);
    a.refresh(&io, Freshness::Strong).await.unwrap();
    assert_eq!(
        io.receipt(),
        Cost {
            steps: 1,
            gets: 1,
            ..Cost::default()
        }
    );
    let io = Io::new(&store);
    a.refresh(&io, Freshness::Bounded(1_000)).await.unwrap();
    assert_eq!(io.receipt(), Cost::default());
}

#[tokio::test(start_paused = true)]
async fn two_hundred_entries_cost_a_cold_reader_four_gets_and_the_head() {
    let store = store(&memory());
    let a = log(1);
    for n in 0..200 {
        put(&a, &Io::new(&store), n, "x", 1).await;
    }
    let io = Io::new(&store);
    let b = log(2);
    assert_eq!(b.refresh(&io, Freshness::Strong).await.unwrap(), Seq(200));
    let receipt = io.receipt();
    assert_eq!((receipt.steps, receipt.gets, receipt.lists), (2, 5, 1));
}

#[tokio::test(start_paused = true)]
async fn the_loser_decides_again_on_the_winners_state() {
    let store = store(&memory());
    let (a, b) = (log(1), log(2));
    for log in [&a, &b] {
        log.refresh(&Io::new(&store), Freshness::Strong)
            .await
            .unwrap();
    }
    let first = a
        .commit(&Io::new(&store), CommitId(1), increment("n"))
        .await
        .unwrap();
    let io = Io::new(&store);
    let second = b.commit(&io, CommitId(2), increment("n")).await.unwrap();
    assert_eq!((first.value, second.value), (1, 2));
    assert_eq!(second.seq, Seq(2));
    assert_eq!(io.receipt().puts, 2, "one lost, one won");
}

#[tokio::test(start_paused = true)]
async fn a_retried_commit_takes_effect_once() {
    let store = store(&memory());
    let (a, b) = (log(1), log(2));
    let first = a
        .commit(&Io::new(&store), CommitId(1), increment("n"))
        .await
        .unwrap();
    put(&a, &Io::new(&store), 9, "other", 1).await;
    // The same process, and one that starts cold.
    for log in [&a, &b] {
        let again = log
            .commit(&Io::new(&store), CommitId(1), increment("n"))
            .await
            .unwrap();
        assert_eq!((again.seq, again.value), (first.seq, first.value));
        assert_eq!(again.effect, Effect::Replayed);
    }
    assert_eq!(value(&b, "n"), Some(1));
}

#[tokio::test(start_paused = true)]
async fn concurrent_commits_of_a_process_share_entries() {
    let counted = Arc::new(CountStore::new(memory(), Keep::Counts));
    let slow = Rule::new(
        Fault::Delay {
            from_ms: 10,
            to_ms: 10,
        },
        &[Operation::Create],
        1_000,
    );
    let inner: Arc<dyn object_store::ObjectStore> = Arc::<CountStore>::clone(&counted);
    let objects: Arc<dyn object_store::ObjectStore> =
        Arc::new(FaultStore::new(inner, VirtualClock::new(), 1, vec![slow]));
    let store = store(&objects);
    let a = log(1);
    let commits = (0..100).map(|n| {
        let (a, io) = (&a, Io::new(&store));
        async move {
            a.commit(&io, CommitId(n), increment("n"))
                .await
                .unwrap()
                .value
        }
    });
    let mut values = join_all(commits).await;
    values.sort_unstable();
    assert_eq!(values, (1..=100).collect::<Vec<u64>>());
    assert!(counted.counts().creates <= 3, "{:?}", counted.counts());
}

#[tokio::test(start_paused = true)]
async fn alone_each_commit_is_an_entry() {
    let store = store(&memory());
    let settings = LogSettings {
        grouping: Grouping::Alone,
        ..LogSettings::default()
    };
    let a = log_with(1, settings);
    let commits = (0..10).map(|n| {
        let (a, io) = (&a, Io::new(&store));
        async move {
            a.commit(&io, CommitId(n), increment("n"))
                .await
                .unwrap()
                .value
        }
    });
    let mut values = join_all(commits).await;
    values.sort_unstable();
    assert_eq!(values, (1..=10).collect::<Vec<u64>>());
    assert_eq!(a.read(|_, seq| seq), Seq(10));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final_only_on_a_verified_state() {
    let store = store(&memory());
    let (a, b) = (log(1), log(2));
    b.refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    put(&a, &Io::new(&store), 1, "x", 1).await;
    // What b knows says that x is missing; it must look before it says so.
    let io = Io::new(&store);
    let found = b
        .commit(&io, CommitId(2), |fold: &Numbers, _, _| {
            fold.0
                .get("x")
                .copied()
                .map(Decision::Unchanged)
                .ok_or(Never)
        })
        .await
        .unwrap();
    assert_eq!((found.value, found.effect), (1, Effect::Unchanged));
    let refused = b
        .commit(&Io::new(&store), CommitId(3), |_: &Numbers, _, _| {
            Err::<Decision<()>, _>(Never)
        })
        .await;
    assert!(matches!(refused, Err(CommitError::Decided(Never))));
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_stands_for_what_came_before() {
    let store = store(&memory());
    let a = log(1);
    for n in 0..20 {
        put(&a, &Io::new(&store), n, &format!("k{n}"), 1).await;
    }
    let new = NewCheckpoint {
        base: Seq(20),
        segments: vec!["s1".to_owned()],
        attachments: vec![("root".to_owned(), "tiny".into())],
    };
    let done = a
        .checkpoint(
            &Io::new(&store),
            CommitId(100),
            new.clone(),
            |fold: &Numbers, _, _| {
                let rows = numbers(fold.0.iter().map(|(name, value)| (name.as_str(), *value)));
                Ok::<_, Never>(Decision::Commit {
                    rows,
                    note: None,
                    value: (),
                })
            },
        )
        .await
        .unwrap();
    assert_eq!(done.seq, Seq(21));
    for n in 30..33 {
        put(&a, &Io::new(&store), n, &format!("k{n}"), 1).await;
    }

    let b = log(2);
    let io = Io::new(&store);
    b.refresh(&io, Freshness::Strong).await.unwrap();
    let receipt = io.receipt();
    assert_eq!(
        (receipt.steps, receipt.gets),
        (2, 2),
        "the head and one object of the tail"
    );
    assert_eq!(b.attachment("root").as_deref(), Some(b"tiny".as_slice()));
    assert_eq!(b.newest_checkpoint().unwrap().1.segments, ["s1"]);
    assert_eq!(b.read(|fold, _| fold.0.len()), 23);
    a.read(|ours, _| b.read(|theirs, _| assert_eq!(ours, theirs)));

    // A retry of what the checkpoint covers is known still.
    let again = b
        .commit(&Io::new(&store), CommitId(3), increment("k3"))
        .await
        .unwrap();
    assert_eq!((again.seq, again.effect), (Seq(4), Effect::Replayed));

    // Another that was built meanwhile on an older base loses.
    let late = a
        .checkpoint(&Io::new(&store), CommitId(101), new, |_: &Numbers, _, _| {
            Ok::<_, Never>(Decision::Commit {
                rows: numbers([]),
                note: None,
                value: (),
            })
        })
        .await;
    assert!(matches!(late, Err(CommitError::Superseded { by: Seq(21) })));
}

/// A checkpoint of everything, without segments.
async fn snapshot(log: &Log<Numbers>, io: &Io, id: u128) -> Seq {
    log.refresh(io, Freshness::Strong).await.unwrap();
    let new = NewCheckpoint {
        base: log.read(|_, seq| seq),
        ..NewCheckpoint::default()
    };
    log.checkpoint(io, CommitId(id), new, |fold: &Numbers, _, _| {
        let rows = numbers(fold.0.iter().map(|(name, value)| (name.as_str(), *value)));
        Ok::<_, Never>(Decision::Commit {
            rows,
            note: None,
            value: (),
        })
    })
    .await
    .unwrap()
    .seq
}

async fn listed(store: &Arc<crate::store::Store>) -> Vec<Seq> {
    let request = Request::List {
        prefix: crate::key::Prefix::Log(collection()),
        after: None,
    };
    let answer = Io::new(store).one(request).await.unwrap();
    answer
        .into_listed()
        .into_iter()
        .filter_map(|listed| match listed.key {
            Key::Log(_, seq) => Some(seq),
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn clean_up_keeps_what_was_superseded_for_less_than_the_horizon() {
    let store = store(&memory());
    let hour = std::time::Duration::from_secs(3_601);
    let a = log(1);
    let reader = log(2);
    for n in 0..5 {
        put(&a, &Io::new(&store), n, "x", u64::try_from(n).unwrap()).await;
    }
    reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    assert_eq!(snapshot(&a, &Io::new(&store), 50).await, Seq(6));
    put(&a, &Io::new(&store), 51, "y", 1).await;
    assert_eq!(a.clean_up(&Io::new(&store)).await.unwrap().entries, 0);
    store.clock().sleep(hour).await;
    // The floor moves with the next checkpoint, to the one that is old enough.
    assert_eq!(snapshot(&a, &Io::new(&store), 52).await, Seq(8));
    let cleaned = a.clean_up(&Io::new(&store)).await.unwrap();
    assert_eq!((cleaned.entries, cleaned.floor), (5, Seq(6)));
    assert_eq!(listed(&store).await, [Seq(6), Seq(7), Seq(8)]);
    // A reader whose state lies below finds its way, and so does a cold one
    // without the head.
    reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    let cold = log(3);
    let head = Key::Head(collection());
    Io::new(&store)
        .one(Request::Delete { key: head })
        .await
        .unwrap();
    cold.refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    for log in [&reader, &cold] {
        assert_eq!(value(log, "x"), Some(4));
        assert_eq!(value(log, "y"), Some(1));
    }
}

/// The bucket knows when it stored a checkpoint, so that a quiet collection need not
/// wait for an entry that says so.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_nothing_follows_ages_by_the_clock_of_the_bucket() {
    let objects = memory();
    let written = store(&objects);
    let a = log(1);
    put(&a, &Io::new(&written), 1, "x", 1).await;
    snapshot(&a, &Io::new(&written), 2).await;
    let last = Key::Log(collection(), Seq(2)).path();
    let stored = objects.head(&last).await.unwrap().last_modified;
    let stored = Timestamp(stored.timestamp_millis());
    for (after_ms, entries) in [(3_599_000, 0), (3_601_000, 1)] {
        // The snapshots of this loop are copies, so that each sees the same bucket.
        let copy = memory();
        for seq in [1, 2] {
            let key = Key::Log(collection(), Seq(seq)).path();
            let bytes = objects.get(&key).await.unwrap().bytes().await.unwrap();
            copy.put(&key, bytes.into()).await.unwrap();
        }
        let later = store_at(
            &copy,
            VirtualClock::starting_at(stored.plus_millis(after_ms)),
        );
        let b = log(2);
        snapshot(&b, &Io::new(&later), 3).await;
        let cleaned = b.clean_up(&Io::new(&later)).await.unwrap();
        assert_eq!(cleaned.entries, entries, "{after_ms} ms later");
    }
}

/// A checkpoint that a stalled writer stores late is no older than its storing.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_ages_from_when_it_was_stored_and_not_from_when_it_was_decided() {
    let objects = memory();
    let hour = 3_601_000;
    let stall = Rule::new(
        Fault::Delay {
            from_ms: hour,
            to_ms: hour,
        },
        &[Operation::Create],
        1_000,
    );
    let line: Arc<dyn object_store::ObjectStore> = Arc::new(FaultStore::new(
        Arc::clone(&objects),
        VirtualClock::new(),
        1,
        vec![stall.at_most(1)],
    ));
    let patient = |objects| {
        Arc::new(
            Arc::into_inner(store(objects))
                .unwrap()
                .with_request_timeout(2 * hour),
        )
    };
    let (slow, quick) = (patient(&line), patient(&objects));
    let a = log(1);
    put(&a, &Io::new(&quick), 1, "x", 1).await;
    // It is decided on now and stored in an hour, when nothing else has been written.
    snapshot(&a, &Io::new(&slow), 2).await;
    let reader = log(3);
    put(&a, &Io::new(&quick), 3, "y", 1).await;
    reader
        .refresh(&Io::new(&quick), Freshness::Strong)
        .await
        .unwrap();
    snapshot(&a, &Io::new(&quick), 4).await;
    let cleaned = a.clean_up(&Io::new(&quick)).await.unwrap();
    assert_eq!(cleaned.entries, 0, "readers may still stand below it");
}

#[tokio::test(start_paused = true)]
async fn what_lies_below_the_floor_is_void() {
    let objects = memory();
    let store = store(&objects);
    let hour = std::time::Duration::from_secs(3_601);
    let a = log(1);
    put(&a, &Io::new(&store), 1, "x", 1).await;
    put(&a, &Io::new(&store), 2, "x", 2).await;
    let ghost = Key::Log(collection(), Seq(2)).path();
    let bytes = objects.get(&ghost).await.unwrap().bytes().await.unwrap();
    snapshot(&a, &Io::new(&store), 3).await;
    put(&a, &Io::new(&store), 6, "y", 1).await;
    store.clock().sleep(hour).await;
    snapshot(&a, &Io::new(&store), 4).await;
    assert_eq!(a.clean_up(&Io::new(&store)).await.unwrap().entries, 2);
    put(&a, &Io::new(&store), 5, "x", 5).await;
    // A number below the floor comes back.
    objects.put(&ghost, bytes.into()).await.unwrap();
    let cold = log(2);
    cold.refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    assert_eq!(value(&cold, "x"), Some(5));
}

#[tokio::test(start_paused = true)]
async fn a_damaged_entry_is_reported_and_not_skipped() {
    let objects = memory();
    let store = store(&objects);
    let a = log(1);
    put(&a, &Io::new(&store), 1, "x", 1).await;
    let key = Key::Log(collection(), Seq(2));
    objects.put(&key.path(), "not arrow".into()).await.unwrap();
    let error = a
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap_err();
    assert!(matches!(error, error::LogError::Corrupt(_)), "{error}");
    assert!(
        error.to_string().contains("00000000000000000002"),
        "{error}"
    );
    let error = a
        .commit(&Io::new(&store), CommitId(2), set("x", 2))
        .await
        .unwrap_err();
    assert!(
        matches!(error, CommitError::Log(error::LogError::Corrupt(_))),
        "{error}"
    );
}

/// A line on which `faults` befall creates, the first so many times.
fn line(
    objects: &Arc<dyn object_store::ObjectStore>,
    fault: Fault,
    at_most: u64,
) -> Arc<FaultStore> {
    let rule = Rule::new(fault, &[Operation::Create], 1_000).at_most(at_most);
    Arc::new(FaultStore::new(
        Arc::clone(objects),
        VirtualClock::new(),
        1,
        vec![rule],
    ))
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_a_create_the_commit_takes_effect_once() {
    for fault in [
        Fault::LostAnswer,
        Fault::ErrorBefore,
        Fault::EmptyConflict,
        Fault::LateDelivery { after_ms: 100 },
        Fault::Duplicate { after_ms: 100 },
    ] {
        let objects = memory();
        let bad: Arc<dyn object_store::ObjectStore> = line(&objects, fault, 2);
        let store = store(&bad);
        let a = log(1);
        let done = a
            .commit(&Io::new(&store), CommitId(1), increment("n"))
            .await
            .unwrap();
        assert_eq!((done.value, done.seq), (1, Seq(1)), "{fault:?}");
        put(&a, &Io::new(&store), 2, "other", 1).await;
        store.clock().sleep(std::time::Duration::from_secs(1)).await;
        let b = log(2);
        b.refresh(&Io::new(&store), Freshness::Strong)
            .await
            .unwrap();
        assert_eq!(value(&b, "n"), Some(1), "{fault:?}");
        assert_eq!(b.read(|_, seq| seq), Seq(2), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_create_that_is_never_answered_ends_as_unknown_and_a_retry_as_once() {
    let objects = memory();
    let bad: Arc<dyn object_store::ObjectStore> = line(&objects, Fault::ErrorBefore, u64::MAX);
    let dead = store(&bad);
    let a = log(1);
    let error = a
        .commit(&Io::new(&dead), CommitId(1), increment("n"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, CommitError::Unknown { seq: Seq(1), .. }),
        "{error}"
    );
    let store = store(&objects);
    for _ in 0..2 {
        let done = a
            .commit(&Io::new(&store), CommitId(1), increment("n"))
            .await
            .unwrap();
        assert_eq!(done.value, 1);
    }
}

#[test]
fn a_refused_create_says_what_to_fix_and_is_not_unknown() {
    let denied = object_store::Error::PermissionDenied {
        path: "p".to_owned(),
        source: "policy".into(),
    };
    let error = crate::error::StoreError::from_store(Operation::Create, "log/1".to_owned(), denied);
    let said = error.to_string();
    assert!(said.contains("create of log/1 with status 403"), "{said}");
    assert!(matches!(error, crate::error::StoreError::Denied { .. }));
}

/// The task that drives the commits of a process is dropped with its create under way.
/// Those who wait take over: what it sent is found, nothing is sent under another number.
#[tokio::test(start_paused = true)]
async fn a_dropped_leader_leaves_its_work_to_the_next() {
    let objects = memory();
    let slow = Fault::SlowAnswer {
        from_ms: 100,
        to_ms: 100,
    };
    let bad: Arc<dyn object_store::ObjectStore> = line(&objects, slow, u64::MAX);
    let store = store(&bad);
    let a = Arc::new(log(1));
    let commit = |id: u128| {
        let (a, io) = (Arc::clone(&a), Io::new(&store));
        async move { a.commit(&io, CommitId(id), increment("n")).await.unwrap() }
    };
    let mut leader = Box::pin(commit(1));
    let mut second = Box::pin(commit(2));
    let mut third = Box::pin(commit(3));
    // All three are in line; the leader has sent the first entry.
    assert!(futures::poll!(leader.as_mut()).is_pending());
    assert!(futures::poll!(second.as_mut()).is_pending());
    assert!(futures::poll!(third.as_mut()).is_pending());
    drop(leader);
    let (second, third) = futures::join!(second, third);
    let mut values = [second.value, third.value];
    values.sort_unstable();
    let total = value(&a, "n");
    assert_eq!(total, Some(values[1]));
    assert!(values == [1, 2] || values == [2, 3], "{values:?}");
    let b = log(2);
    b.refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    assert_eq!(value(&b, "n"), total);
}
