use std::sync::Arc;

use futures::future::join_all;
use object_store::ObjectStore;

use crate::decorator::count::{CountStore, Keep};
use crate::decorator::fault::{Fault, FaultStore, Rule};
use crate::error::Operation;
use crate::io::Io;
use crate::key::Seq;
use crate::log::{Grouping, LogSettings};
use crate::port::{Clock, CommitId};
use crate::store::Store;
use crate::testing::*;

/// When a server applies a write.
#[derive(Clone, Copy)]
enum Applies {
    /// When the request arrives.
    First,
    /// When it is about to answer.
    Last,
}

#[derive(Debug)]
#[expect(dead_code, reason = "some are only printed")]
struct Outcome {
    commits: usize,
    creates_per_commit: f64,
    commits_per_s: f64,
    p50_ms: u64,
    p99_ms: u64,
    fewest_of_a_writer: usize,
    gets_per_commit: f64,
    lists_per_commit: f64,
}

/// Writers that do nothing but commit, each as a process of its own, against a
/// server with the latency of real ones, in virtual time.
async fn saturate(
    writers: u64,
    create_ms: u64,
    get_ms: u64,
    applies: Applies,
    secs: u64,
) -> Outcome {
    let clock = VirtualClock::new();
    let counted = Arc::new(CountStore::new(memory(), Keep::Counts));
    let about = |ms: u64| match applies {
        Applies::First => Fault::SlowAnswer {
            from_ms: ms * 9 / 10,
            to_ms: ms * 11 / 10,
        },
        Applies::Last => Fault::Delay {
            from_ms: ms * 9 / 10,
            to_ms: ms * 11 / 10,
        },
    };
    let rules = vec![
        Rule::new(about(create_ms), &[Operation::Create], 1_000),
        Rule::new(about(get_ms), &[Operation::Get, Operation::List], 1_000),
    ];
    let inner: Arc<dyn ObjectStore> = Arc::<CountStore>::clone(&counted);
    let objects: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
        inner,
        Arc::<VirtualClock>::clone(&clock),
        writers,
        rules,
    ));
    let end = clock.now().plus_millis(secs * 1_000);
    let ids = Arc::new(CountingIds::default());
    let runs = (0..writers).map(|writer| {
        let store = Arc::new(Store::new(
            Arc::clone(&objects),
            Arc::<VirtualClock>::clone(&clock),
            Arc::<CountingIds>::clone(&ids),
        ));
        async move {
            let settings = LogSettings {
                grouping: Grouping::Alone,
                ..LogSettings::default()
            };
            let log = log_with(u128::from(writer), settings);
            let mut took = Vec::new();
            while store.clock().now() < end {
                let began = store.clock().now();
                let id = CommitId(u128::from(writer) << 64 | took.len() as u128);
                log.commit(&Io::new(&store), id, increment("n"))
                    .await
                    .unwrap();
                took.push(store.clock().now().millis_since(began));
            }
            took
        }
    });
    let took = join_all(runs).await;
    let mut all: Vec<u64> = took.concat();
    all.sort_unstable();
    let log = log(999);
    let seq = log
        .refresh(&Io::new(&store(&objects)), crate::log::Freshness::Strong)
        .await
        .unwrap();
    assert_eq!(seq, Seq(all.len() as u64), "each commit is one entry");
    log.read(|fold, _| assert_eq!(fold.0["n"], all.len() as u64, "no increment is lost"));
    let at = |per_mille: usize| all[(all.len() - 1) * per_mille / 1_000];
    Outcome {
        commits: all.len(),
        creates_per_commit: counted.counts().creates as f64 / all.len() as f64,
        commits_per_s: all.len() as f64 / secs as f64,
        p50_ms: at(500),
        p99_ms: at(990),
        gets_per_commit: counted.counts().gets as f64 / all.len() as f64,
        lists_per_commit: counted.counts().lists as f64 / all.len() as f64,
        fewest_of_a_writer: took.iter().map(Vec::len).min().unwrap(),
    }
}

#[tokio::test(start_paused = true)]
async fn sixteen_saturating_writers_share_the_log() {
    // A server that applies a write last leaves a view out of date for twice as
    // long, so that half as many commits fit.
    for (applies, per_s, p99_ms) in [(Applies::First, 15.0, 4_000), (Applies::Last, 7.0, 12_000)] {
        let outcome = saturate(16, 60, 30, applies, 60).await;
        println!("{outcome:?}");
        assert!(outcome.creates_per_commit <= 2.5, "{outcome:?}");
        assert!(outcome.commits_per_s >= per_s, "{outcome:?}");
        assert!(outcome.p99_ms <= p99_ms, "{outcome:?}");
        let fair = outcome.commits / 16;
        assert!(outcome.fewest_of_a_writer * 2 >= fair, "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn few_writers_and_slow_stores_are_served_too() {
    for (writers, create, get) in [
        (1, 60, 30),
        (2, 60, 30),
        (4, 60, 30),
        (8, 250, 60),
        (64, 60, 30),
    ] {
        let outcome = saturate(writers, create, get, Applies::First, 20).await;
        println!("{writers} at {create}/{get}: {outcome:?}");
        assert!(
            outcome.creates_per_commit <= 3.5,
            "{writers} writers: {outcome:?}"
        );
        assert!(
            outcome.fewest_of_a_writer > 0,
            "{writers} writers: {outcome:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_writer_alone_never_waits_and_never_looks() {
    let outcome = saturate(1, 60, 30, Applies::First, 10).await;
    assert!(outcome.commits_per_s > 15.0, "{outcome:?}");
    assert!(outcome.p99_ms <= 66 + 2 * 33, "{outcome:?}");
}
