//! What operations may ask of storage, by state of the process: cold, warm and hot; with
//! no segment, one and three; with and without a tail. Figures are those that receipts
//! tell, which are compared with what the store was asked.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use ostraca_memory::*;
use ostraca_object::decorator::clocked::ClockedStore;
use ostraca_object::decorator::count::{CountStore, Keep};
use ostraca_object::key::CollectionKey;
use serde_json::json;

use crate::support::*;

const WORDS: [&str; 9] = [
    "amber", "basalt", "cobalt", "dune", "ember", "fjord", "granite", "harbour", "inlet",
];

/// Dependent round trips of a recall.
#[derive(Debug, Clone, Copy)]
struct Steps {
    cold: u32,
    warm: u32,
}

fn memory() -> CollectionKey {
    CollectionKey::new(tenant("acme"), CollectionId::memory())
}

fn embedder() -> WordEmbedder {
    WordEmbedder {
        dimensions: 64,
        ..WordEmbedder::default()
    }
}

/// A process that embeds, and what it asks of the store.
fn process(world: &World) -> (Arc<Database>, Arc<CountStore>) {
    let counted = Arc::new(CountStore::new(world.store.clone(), Keep::Counts));
    let ports = Ports {
        store: counted.clone(),
        clock: world.clock.clone(),
        ids: world.ids.clone(),
        embedder: Some(Arc::new(embedder())),
        background: None,
    };
    (Database::new(ports, world.settings.clone()), counted)
}

fn item(number: usize) -> NewMemory {
    let word = |by: usize| WORDS[number / by % WORDS.len()];
    let metadata = json!({ "number": number, "colour": format!("c{}", number % 50) });
    NewMemory {
        scope: scope(["work/api", "work", "home"][number % 3]),
        kind: Some(["fact", "decision"][usize::from(number.is_multiple_of(10))].to_owned()),
        metadata: metadata.as_object().unwrap().clone(),
        ..note(&format!(
            "{} {} {} number {number}",
            word(1),
            word(9),
            word(81)
        ))
    }
}

async fn write(session: &Session, numbers: RangeInclusive<usize>, batch: usize) {
    let numbers: Vec<usize> = numbers.collect();
    for numbers in numbers.chunks(batch) {
        let request = RememberRequest {
            items: numbers.iter().map(|number| item(*number)).collect(),
            idempotency_key: None,
        };
        session.remember(request).await.unwrap();
    }
}

/// A collection of some segments, and above them some entries.
async fn collection(world: World, segments: usize, tail: usize) -> World {
    let db = process(&world).0;
    let session = acme(&db);
    let (mut next, mut folded) = (1, 0);
    for size in [600, 100, 20].into_iter().take(segments) {
        write(&session, next..=next + size - 1, 300).await;
        next += size;
        let compacted = db.compact(&memory(), Effort::SMALL).await.unwrap();
        assert_eq!(compacted.outcome, CompactionOutcome::Committed);
        folded += 1;
        assert_eq!(compacted.segments, folded);
    }
    if tail > 0 {
        write(&session, next..=next + tail - 1, 1).await;
    }
    // Who has just written is a rival to whom the next writer looks first.
    tokio::time::advance(Duration::from_mins(5)).await;
    world
}

/// The recalls that are measured, by name.
fn recalls() -> Vec<(&'static str, RecallRequest)> {
    let asked = || RecallRequest {
        mode: Some(Mode::Hybrid),
        scope: ScopeSelector::all(),
        ..query("which basalt lies at the harbour")
    };
    let filtered = |filter| RecallRequest {
        filter: Some(Filter::parse(&filter).unwrap()),
        ..asked()
    };
    vec![
        ("unfiltered", asked()),
        (
            "equality",
            filtered(json!({"op": "eq", "field": "colour", "value": "c7"})),
        ),
        (
            "range",
            filtered(json!({"op": "lte", "field": "number", "value": {"kind": "int", "int": 11}})),
        ),
        (
            "scoped",
            RecallRequest {
                scope: ScopeSelector {
                    path: scope("work"),
                    reach: Reach::Below,
                },
                ..asked()
            },
        ),
        (
            "kind",
            RecallRequest {
                kinds: vec!["decision".to_owned()],
                ..asked()
            },
        ),
    ]
}

/// Measures a recall in a process that knows nothing and then in one that knows the roots.
async fn measure(world: &World, at: &str, within: Steps) {
    let is_empty = objects(world).await.is_empty();
    let mut wrong = Vec::new();
    for (name, request) in recalls() {
        let (db, counted) = process(world);
        let session = acme(&db);
        let cold = session.recall(request.clone()).await.unwrap();
        let counts = counted.counts();
        let receipt = &cold.receipt;
        assert_eq!(
            (u64::from(receipt.gets), u64::from(receipt.lists)),
            (counts.gets + counts.ranges, counts.lists),
            "{at} {name}: the receipt tells what the store was asked"
        );
        assert_eq!(receipt.lists, 1, "{at} {name}: {receipt:?}");
        let warm = session.recall(request).await.unwrap();
        assert_eq!(cold.hits.len(), warm.hits.len(), "{at} {name}");
        assert_eq!(is_empty, cold.hits.is_empty(), "{at} {name}");
        if receipt.steps > within.cold || warm.receipt.steps > within.warm {
            wrong.push(format!(
                "{at} {name}: cold {} steps {} gets, warm {} steps {} gets {} lists",
                receipt.steps,
                receipt.gets,
                warm.receipt.steps,
                warm.receipt.gets,
                warm.receipt.lists
            ));
        }
    }
    assert!(wrong.is_empty(), "{within:?}: {wrong:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_recall_in_place_takes_three_steps_cold_and_two_warm() {
    for segments in [1, 3] {
        for tail in [0, 12] {
            let world = collection(World::in_place(), segments, tail).await;
            let at = format!("{segments} segments, {tail} above");
            measure(&world, &at, Steps { cold: 3, warm: 2 }).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_recall_of_a_small_collection_takes_two_steps_cold_and_the_probe_hot() {
    for segments in [0, 1, 3] {
        for tail in [0, 12] {
            let world = collection(World::new(), segments, tail).await;
            let at = format!("{segments} segments, {tail} above");
            measure(&world, &at, Steps { cold: 2, warm: 1 }).await;
        }
    }
}

async fn costs(session: &Session, item: NewMemory, outcome: Outcome) -> Receipt {
    let request = RememberRequest {
        items: vec![item],
        idempotency_key: None,
    };
    let reply = session.remember(request).await.unwrap();
    assert_eq!(reply.items[0].as_ref().unwrap().outcome, outcome);
    reply.receipt
}

/// (steps, gets, lists, puts)
fn figures(receipt: &Receipt) -> (u32, u32, u32, u32) {
    (receipt.steps, receipt.gets, receipt.lists, receipt.puts)
}

#[tokio::test(start_paused = true)]
async fn a_warm_write_in_place_looks_its_content_up_before_it_is_put() {
    for segments in [1_usize, 3] {
        let world = collection(World::in_place(), segments, 3).await;
        let (db, _) = process(&world);
        let session = acme(&db);
        costs(&session, item(4_999), Outcome::Created).await;
        let new = costs(&session, item(5_000), Outcome::Created).await;
        // One bucket of each segment, and the put.
        let lists = u32::try_from(segments).unwrap();
        assert_eq!(figures(&new), (2, lists, 0, 1), "{new:?}");
        // What is already there is confirmed: a bucket each, its block of rows, the probe.
        let again = costs(&session, item(7), Outcome::Unchanged).await;
        assert_eq!(figures(&again), (3, lists + 2, 0, 0), "{again:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_get_by_id_in_place_reads_a_list_and_a_block() {
    for segments in [1_usize, 3] {
        let world = collection(World::in_place(), segments, 3).await;
        let (db, _) = process(&world);
        let session = acme(&db);
        let request = RecallRequest {
            scope: ScopeSelector::all(),
            ..query("amber")
        };
        let found = session.recall(request).await.unwrap();
        let id = found.hits[0].record.id.clone();
        let request = || GetRequest {
            references: vec![by_id(&id)],
            ..GetRequest::default()
        };
        let warm = session.get(request()).await.unwrap().receipt;
        let cold = acme(&process(&world).0)
            .get(request())
            .await
            .unwrap()
            .receipt;
        // The probe, a bucket of each segment, the block of rows; cold, the tail before them.
        let lists = u32::try_from(segments).unwrap();
        assert_eq!(figures(&warm), (3, lists + 2, 0, 0), "{warm:?}");
        assert_eq!(cold.lists, 1, "{cold:?}");
        assert!(cold.steps <= 4 && cold.gets <= lists + 3, "{cold:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_minor_fold_of_200_records_takes_30_requests_and_one_of_nothing_no_put() {
    let world = World::in_place();
    let db = process(&world).0;
    write(&acme(&db), 1..=2_000, 500).await;
    db.compact(&memory(), Effort::SMALL).await.unwrap();
    write(&acme(&db), 2_001..=2_200, 1).await;
    let (cold, counted) = process(&world);
    let folded = cold.compact(&memory(), Effort::SMALL).await.unwrap();
    let receipt = &folded.receipt;
    assert_eq!((folded.folded, folded.merged), (200, 0));
    let counts = counted.counts();
    let requests = counts.gets + counts.ranges + counts.lists + counts.puts + counts.creates;
    assert!(receipt.steps <= 8, "{receipt:?}");
    assert!(requests <= 30, "{requests}: {counts:?}");
    for effort in [Effort::SMALL, Effort::Major, Effort::Major] {
        db.compact(&memory(), effort).await.unwrap();
    }
    for effort in [Effort::SMALL, Effort::Major] {
        let (cold, counted) = process(&world);
        let again = cold.compact(&memory(), effort).await.unwrap();
        assert_eq!(again.outcome, CompactionOutcome::Nothing);
        let counts = counted.counts();
        assert_eq!((counts.puts, counts.creates, counts.deletes), (0, 0, 0));
    }
}

async fn objects(world: &World) -> Vec<String> {
    use futures::TryStreamExt as _;
    let listed: Vec<_> = world.store.list(None).try_collect().await.unwrap();
    listed
        .iter()
        .map(|meta| meta.location.to_string())
        .collect()
}

/// The objects left of a collection that was written to one by one, folded now and then.
async fn left_of(writes: usize) -> Vec<String> {
    let world = World::in_place();
    // Clean-up goes by the age of objects.
    let store = ClockedStore::new(world.store.clone(), world.clock.clone());
    let db = world.database_on(Arc::new(store));
    let session = acme(&db);
    for number in 1..=writes {
        write(&session, number..=number, 1).await;
        if number.is_multiple_of(20) {
            db.compact(&memory(), Effort::SMALL).await.unwrap();
        }
    }
    for last in 0..2 {
        db.compact(&memory(), Effort::Major).await.unwrap();
        tokio::time::advance(Duration::from_hours(2)).await;
        write(&session, 9_000 + last..=9_000 + last, 1).await;
    }
    db.compact(&memory(), Effort::Major).await.unwrap();
    db.clean_up(&memory()).await.unwrap();
    objects(&world).await
}

#[tokio::test(start_paused = true)]
async fn the_objects_that_are_left_do_not_depend_on_the_number_of_writes() {
    let (few, many) = (left_of(20).await, left_of(160).await);
    assert_eq!(few.len(), many.len(), "{few:#?} {many:#?}");
}
