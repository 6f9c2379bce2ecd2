//! Compaction that nobody asked for: the writer that makes a tail long leaves one marker
//! and folds it after it has answered, and the job does what is left.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use object_store::ObjectStore;
use ostraca_memory::*;
use ostraca_object::decorator::fault::{Fault, FaultStore, Rule};
use ostraca_object::due;
use ostraca_object::error::Operation;

use crate::support::*;

/// Work that waits until the test lets it run.
#[derive(Default)]
struct Later(Mutex<Vec<BoxFuture<'static, ()>>>);

impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Later").finish_non_exhaustive()
    }
}

impl Background for Later {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        self.0.lock().unwrap().push(work);
    }
}

impl Later {
    fn take(&self) -> Vec<BoxFuture<'static, ()>> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    async fn run(&self) -> usize {
        let work = self.take();
        let count = work.len();
        futures::future::join_all(work).await;
        count
    }
}

fn process(world: &World, store: Arc<dyn ObjectStore>) -> (Arc<Database>, Arc<Later>) {
    let later = Arc::new(Later::default());
    let ports = Ports {
        store,
        clock: world.clock.clone(),
        ids: world.ids.clone(),
        embedder: None,
        background: Some(later.clone()),
    };
    (Database::new(ports, Settings::default()), later)
}

async fn write(session: &Session, from: usize, count: usize) {
    for number in from..from + count {
        remember(session, note(&format!("memory {number}"))).await;
    }
}

async fn markers(db: &Arc<Database>) -> Vec<u64> {
    let due = due::list(&db.io()).await.unwrap();
    due.iter()
        .flat_map(|due| due.markers.iter().map(|seq| seq.0))
        .collect()
}

async fn objects(world: &World, prefix: &str) -> usize {
    use futures::TryStreamExt;
    let listed: Vec<_> = world
        .store
        .list(Some(&prefix.into()))
        .try_collect()
        .await
        .unwrap();
    listed.len()
}

async fn count(db: &Arc<Database>) -> u64 {
    let request = ListRequest {
        limit: Some(1),
        ..ListRequest::default()
    };
    acme(db).list(request).await.unwrap().total
}

#[tokio::test(start_paused = true)]
async fn the_64th_write_folds_the_tail_after_it_has_answered() {
    let world = World::new();
    let (db, later) = process(&world, world.store.clone());
    write(&acme(&db), 0, 63).await;
    assert_eq!(later.run().await, 0);
    write(&acme(&db), 63, 1).await;
    assert_eq!(
        markers(&db).await,
        Vec::<u64>::new(),
        "not before the answer"
    );
    assert_eq!(later.run().await, 1);
    assert_eq!(objects(&world, "t/acme/c/memory/seg").await, 2);
    assert_eq!(markers(&db).await, Vec::<u64>::new(), "it is cleared");
    write(&acme(&db), 64, 6).await;
    assert_eq!(later.run().await, 0);
    let (cold, _) = world.counted_database();
    assert_eq!(count(&cold).await, 70);
}

#[tokio::test(start_paused = true)]
async fn of_many_processes_one_leaves_each_marker() {
    let world = World::new();
    let processes: Vec<_> = (0..4)
        .map(|_| process(&world, world.store.clone()))
        .collect();
    for number in 0..200 {
        let (db, _) = &processes[number % 4];
        write(&acme(db), number, 1).await;
    }
    let spawned: usize = processes
        .iter()
        .map(|(_, later)| later.0.lock().unwrap().len())
        .sum();
    assert_eq!(spawned, 3, "at 64, 128 and 192");
    // All at once, each in a process of its own: one wins, and nothing is left to do.
    let work = processes.iter().flat_map(|(_, later)| later.take());
    futures::future::join_all(work).await;
    let (cold, _) = process(&world, world.store.clone());
    cold.run_due(Effort::SMALL, None, &Unwatched).await.unwrap();
    assert_eq!(markers(&cold).await, Vec::<u64>::new());
    assert_eq!(count(&cold).await, 200);
    assert_eq!(objects(&world, "t/acme/c/memory/seg").await, 2);
}

#[tokio::test(start_paused = true)]
async fn commits_that_share_an_entry_leave_one_marker() {
    let world = World::new();
    let (db, later) = process(&world, world.store.clone());
    write(&acme(&db), 0, 60).await;
    let session = acme(&db);
    let burst = (60..100).map(|number| {
        let session = session.clone();
        async move { write(&session, number, 1).await }
    });
    futures::future::join_all(burst).await;
    write(&acme(&db), 100, 64).await;
    assert!(later.0.lock().unwrap().len() <= 2);
    later.run().await;
    assert_eq!(markers(&db).await, Vec::<u64>::new());
}

#[tokio::test(start_paused = true)]
async fn large_memories_are_due_by_their_bytes() {
    let world = World::new();
    let (db, later) = process(&world, world.store.clone());
    for number in 0..5 {
        let items = (0..10)
            .map(|part| note(&format!("{number} {part} {}", "x".repeat(100_000))))
            .collect();
        let request = RememberRequest {
            items,
            idempotency_key: None,
        };
        acme(&db).remember(request).await.unwrap();
    }
    assert_eq!(later.run().await, 1, "4 MiB are passed once");
    assert_eq!(objects(&world, "t/acme/c/memory/seg").await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_failing_compaction_fails_no_write_and_leaves_its_marker() {
    let world = World::new();
    let rule = Rule::new(Fault::ErrorBefore, &[Operation::Put], 1_000).on("t/acme/c/memory/seg");
    let broken: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
        world.store.clone(),
        world.clock.clone(),
        1,
        vec![rule],
    ));
    let (db, later) = process(&world, broken);
    write(&acme(&db), 0, 64).await;
    assert_eq!(later.run().await, 1);
    write(&acme(&db), 64, 70).await;
    assert_eq!(later.run().await, 1);
    assert_eq!(markers(&db).await, [64, 128]);
    assert_eq!(count(&db).await, 134);
    let well = world.database();
    let report = well.run_due(Effort::Major, None, &Unwatched).await.unwrap();
    assert_eq!(report.collections.len(), 1);
    assert_eq!(report.collections[0].cleared, 2);
    assert_eq!(report.failed(), 0);
    assert_eq!(markers(&well).await, Vec::<u64>::new());
    assert_eq!(count(&world.database()).await, 134);
}

#[tokio::test(start_paused = true)]
async fn without_a_background_the_writer_leaves_the_marker_alone() {
    let world = World::new();
    let (db, store) = world.counted_database();
    write(&acme(&db), 0, 130).await;
    assert_eq!(markers(&db).await, [64, 128]);
    assert_eq!(objects(&world, "t/acme/c/memory/seg").await, 0);
    let _ = store;
}

#[tokio::test(start_paused = true)]
async fn what_was_superseded_goes_after_the_horizon_without_being_asked() {
    let world = World::new();
    let (db, later) = process(&world, world.store.clone());
    for round in 0..12 {
        write(&acme(&db), round * 64, 64).await;
        later.run().await;
        world.clock.sleep(Duration::from_mins(20)).await;
    }
    // Twelve tails of 64 were written; an hour's worth is kept.
    let entries = objects(&world, "t/acme/c/memory/log").await;
    assert!(entries <= 5 * 66, "{entries} entries");
    assert_eq!(count(&world.database()).await, 12 * 64);
}

/// Told, and keeps what it was told.
#[derive(Default)]
struct Told(Mutex<Vec<(String, Phase, u64, u64)>>);

impl Progress for Told {
    fn step(&self, step: Step<'_>) {
        let name = step.collection.tenant.to_string();
        self.0
            .lock()
            .unwrap()
            .push((name, step.phase, step.done, step.total));
    }
}

async fn three_tenants(world: &World) {
    let db = world.database();
    for name in ["a", "b", "c"] {
        let session = db.session(Caller::unrestricted(tenant(name)));
        write(&session, 0, 64).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_in_one_collection_stops_no_other() {
    let world = World::new();
    three_tenants(&world).await;
    let rule = Rule::new(Fault::ErrorBefore, &[Operation::Put], 1_000).on("t/b/");
    let broken: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
        world.store.clone(),
        world.clock.clone(),
        1,
        vec![rule],
    ));
    let told = Told::default();
    let db = world.database_on(broken);
    let report = db.run_due(Effort::SMALL, None, &told).await.unwrap();
    assert_eq!(report.collections.len(), 3);
    assert_eq!(report.failed(), 1);
    let failed = report.collections.iter().find(|one| one.error.is_some());
    assert_eq!(failed.unwrap().collection.tenant, tenant("b"));
    let told = told.0.into_inner().unwrap();
    let finished: Vec<_> = told
        .iter()
        .filter(|(_, phase, ..)| *phase == Phase::Finished)
        .map(|(_, _, done, total)| (*done, *total))
        .collect();
    assert_eq!(finished, [(1, 3), (2, 3), (3, 3)]);
    let well = world.database();
    let again = well.run_due(Effort::SMALL, None, &Unwatched).await.unwrap();
    assert_eq!(again.collections.len(), 1, "the others are cleared");
    assert_eq!(again.failed(), 0);
    let idle = well.run_due(Effort::SMALL, None, &Unwatched).await.unwrap();
    assert!(idle.collections.is_empty());
    assert_eq!((idle.receipt.lists, idle.receipt.gets), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_job_stops_between_collections_when_its_time_is_up() {
    let world = World::new();
    three_tenants(&world).await;
    let slowly = Fault::SlowAnswer {
        from_ms: 20_000,
        to_ms: 20_000,
    };
    let slow: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
        world.store.clone(),
        world.clock.clone(),
        1,
        vec![Rule::new(slowly, &[Operation::Put], 1_000).on("head.arrow")],
    ));
    let budget = Some(Duration::from_secs(30));
    let db = world.database_on(slow);
    let first = db.run_due(Effort::SMALL, budget, &Unwatched).await.unwrap();
    assert_eq!((first.collections.len(), first.postponed), (2, 1));
    let second = db.run_due(Effort::SMALL, budget, &Unwatched).await.unwrap();
    assert_eq!((second.collections.len(), second.postponed), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_job_for_all_finds_what_left_no_marker() {
    let world = World::new();
    three_tenants(&world).await;
    let db = world.database();
    write(&db.session(Caller::unrestricted(tenant("d"))), 0, 3).await;
    let job = Job {
        selection: Selection::All,
        effort: Effort::Major,
        budget: None,
    };
    let report = db.run_job(&job, &Unwatched).await.unwrap();
    assert_eq!(report.collections.len(), 4);
    assert_eq!(
        report.collections[3].collection.tenant,
        tenant("d"),
        "what waits comes first"
    );
    assert_eq!(markers(&db).await, Vec::<u64>::new());
    assert_eq!(objects(&world, "t/d/c/memory/seg").await, 2);
    let one = Job {
        selection: Selection::Tenant(tenant("d")),
        ..job
    };
    let report = db.run_job(&one, &Unwatched).await.unwrap();
    let compacted = report.collections[0].compacted.as_ref().unwrap();
    assert_eq!(compacted.outcome, CompactionOutcome::Nothing);
    assert_eq!(compacted.receipt.puts, 0, "nothing new writes nothing");
}
