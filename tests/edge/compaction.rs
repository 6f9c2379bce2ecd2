//! Compaction that nobody starts, on each edge's real runtime: behind an answer, and by the
//! schedule that the platform has.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use libtest_mimic::Trial;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use ostraca_memory::{
    Caller, CollectionId, CollectionKey, Database, NewMemory, Ports, RememberRequest, Settings,
    parse_scope,
};
use ostraca_object::due;
use ostraca_object::io::Io;
use ostraca_object::key::Seq;
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::store::Store;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::api::temporary;
use crate::client::{Client, Transcript};
use crate::objects::{Objects, until};
use crate::platform::{Bucket, Front, Variables, Workerd, lambda, local, open_to_all};
use crate::process::Process;
use crate::trial;

pub(crate) fn trials(runtime: &Arc<Runtime>) -> Vec<Trial> {
    vec![
        trial(
            runtime,
            "i_fold_300_writes_are_folded_behind_their_answers",
            behind_answers,
        ),
        trial(
            runtime,
            "i_fold_the_worker_folds_by_itself_and_on_its_cron",
            cron,
        ),
        trial(
            runtime,
            "i_fold_the_lambda_folds_after_its_answer_and_on_a_schedule",
            schedule,
        ),
        trial(
            runtime,
            "a_minor_compaction_of_5000_entries_fits_a_worker",
            fits_a_worker,
        ),
    ]
}

fn client(url: &str) -> Client {
    Client::new(url, None, Transcript::default())
}

async fn write(client: &Client, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let memory = json!({"content": format!("fact number {number}"), "scope": "facts"});
        client.remember(memory).await;
    }
}

async fn total(client: &Client) -> u64 {
    let answer = client.get("/v1/memories?scope=facts&limit=1").await;
    answer.success()["total"].as_u64().unwrap()
}

/// A horizon that a test can wait for.
pub(crate) fn short_horizon() -> Variables {
    vec![("OSTRACA_HORIZON".to_owned(), "2s".to_owned())]
}

async fn behind_answers() {
    let bucket = Bucket::seaweedfs().await;
    let store = bucket.open("folded");
    let variables = [bucket.variables("folded"), short_horizon()].concat();
    let server = local(&variables).await;
    let warm = client(server.ready["url"].as_str().unwrap());
    write(&warm, 0..300).await;
    until(&store, "folded", |objects| {
        objects.due() == 0 && !objects.segments().is_empty()
    })
    .await;
    // What the next folds supersede goes once the horizon is over.
    for round in 0..2 {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        write(&warm, 300 + round * 64..364 + round * 64).await;
        until(&store, "folded again", |objects| objects.due() == 0).await;
    }
    let objects = until(&store, "cleaned up", |objects| {
        objects.entries().first() > Some(&1) && objects.entries().len() < 150
    })
    .await;
    assert!(objects.len() < 200, "{objects:?}");

    let cold = local(&variables).await;
    let cold = client(cold.ready["url"].as_str().unwrap());
    let recall = json!({"query": "fact 217", "scope": "facts", "limit": 1});
    let answer = cold.post("/v1/memories/recall", recall).await;
    let reply = answer.success();
    assert_eq!(reply["hits"][0]["content"], "fact number 217", "{reply}");
    let gets = reply["receipt"]["requests"]["get"].as_u64().unwrap();
    assert!(gets <= 16, "{gets} GETs: {reply}");
    assert_eq!(total(&cold).await, 428);
    assert_eq!(total(&warm).await, 428);
}

/// A marker as a writer leaves it, in a folder.
async fn marker(folder: &Path, tenant: &str, entry: u64) {
    let objects = ostraca_object::local::open(folder).unwrap();
    mark(objects, tenant, entry).await;
}

async fn mark(objects: Arc<dyn ObjectStore>, tenant: &str, entry: u64) {
    let store = Store::new(objects, Arc::new(SystemClock), Arc::new(OsIds));
    let collection = CollectionKey::new(tenant.parse().unwrap(), CollectionId::memory());
    due::mark(&Io::new(&Arc::new(store)), &collection, Seq(entry))
        .await
        .unwrap();
}

async fn in_r2(workerd: &mut Process) -> Objects {
    let listed = workerd.ask("list").await;
    let keys = listed["keys"].as_array().unwrap().iter();
    Objects::new(keys.map(|key| key.as_str().unwrap().to_owned()).collect())
}

async fn cron() {
    let (r2, marked) = (temporary(), temporary());
    let workerd = Workerd {
        instances: 2,
        r2: Some(r2.path()),
        bundle: None,
    };
    let mut workerd = workerd.start(&open_to_all()).await;
    let edge = client(&workerd.urls()[0]);
    // An empty run is none.
    let idle = workerd.ask("scheduled 1 */10 * * * *").await;
    assert_eq!(idle["outcome"], "ok", "{idle}");

    write(&edge, 0..64).await;
    let mut folded = in_r2(&mut workerd).await;
    for _ in 0..100 {
        if !folded.segments().is_empty() && folded.due() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        folded = in_r2(&mut workerd).await;
    }
    assert_eq!(
        (folded.segments().len(), folded.due()),
        (1, 0),
        "{folded:?}"
    );

    // Below the threshold nothing happens by itself; what is marked the schedule does, in
    // another isolate, which has read nothing yet.
    write(&edge, 64..94).await;
    marker(marked.path(), "default", 90).await;
    let seeded = workerd
        .ask(&format!("seed {}", marked.path().display()))
        .await;
    assert_eq!(seeded["objects"], 1, "{seeded}");
    let before = in_r2(&mut workerd).await;
    assert_eq!(before.due(), 1);
    let run = workerd.ask("scheduled 1 */10 * * * *").await;
    assert_eq!(run["outcome"], "ok", "{run}");
    let after = in_r2(&mut workerd).await;
    assert_eq!(after.due(), 0, "{after:?}");
    assert_eq!(
        after.entries().last(),
        before.entries().last().map(|last| last + 1).as_ref(),
        "one checkpoint more"
    );
    for url in workerd.urls() {
        assert_eq!(total(&client(&url)).await, 94);
    }
}

async fn schedule() {
    let bucket = Bucket::seaweedfs().await;
    let store = bucket.open("scheduled");
    let variables = [bucket.variables("scheduled"), open_to_all()].concat();
    let lambda = lambda(1, Front::HttpApi, &variables).await;
    let url = lambda.ready["url"].as_str().unwrap().to_owned();
    let edge = client(&url);
    write(&edge, 0..64).await;
    // Between two events the process is frozen: no other request helps it along.
    until(&store, "folded after the answer", |objects| {
        objects.due() == 0 && objects.segments().len() == 1
    })
    .await;
    write(&edge, 64..80).await;
    mark(Arc::clone(&store), "default", 80).await;
    let tick = json!({
        "version": "0", "id": "00000000-0000-4000-8000-000000000001",
        "detail-type": "Scheduled Event", "source": "aws.events", "account": "123456789012",
        "time": "2026-12-01T00:00:00Z", "region": "us-east-1", "detail": {},
        "resources": ["arn:aws:events:us-east-1:123456789012:rule/compact"],
    });
    let invoke = async || -> Value {
        let sent = reqwest::Client::new()
            .post(format!("{url}/__invoke"))
            .json(&tick)
            .send();
        sent.await.unwrap().json().await.unwrap()
    };
    assert_eq!(invoke().await, json!({"collections": 1, "postponed": 0}));
    let objects = Objects::of(&store).await;
    assert_eq!(objects.due(), 0);
    assert_eq!(total(&edge).await, 80);
    assert_eq!(invoke().await, json!({"collections": 0, "postponed": 0}));
}

/// Entries of the long tail, each with a vector.
const LONG: usize = 5_000;
/// What folding it may take of a Worker's 128 MB.
const BOUND_BYTES: u64 = 100 << 20;

/// A tail as a process leaves it that cannot fold: one memory an entry.
async fn long_tail(folder: &Path) {
    let objects = Arc::new(InMemory::new());
    let ports = Ports {
        store: Arc::clone(&objects) as Arc<dyn ObjectStore>,
        clock: Arc::new(SystemClock),
        ids: Arc::new(OsIds),
        embedder: None,
        background: None,
    };
    let tenant = "default".parse().unwrap();
    let session = Database::new(ports, Settings::default()).session(Caller::unrestricted(tenant));
    for number in 0..LONG {
        let angle = number as f32;
        let item = NewMemory {
            content: format!("fact number {number}, one of many, in a sentence of some length"),
            scope: parse_scope("scope", "facts").unwrap(),
            vector: Some((0..384).map(|d| (angle * d as f32).sin()).collect()),
            ..NewMemory::default()
        };
        let request = RememberRequest {
            items: vec![item],
            idempotency_key: None,
        };
        session
            .remember(request)
            .await
            .unwrap()
            .items
            .remove(0)
            .unwrap();
    }
    let listed: Vec<_> = objects.list(None).try_collect().await.unwrap();
    for object in listed {
        let bytes = objects.get(&object.location).await.unwrap().bytes().await;
        let file = folder.join(object.location.as_ref());
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes.unwrap()).unwrap();
    }
}

/// The most memory that the module has had, as the job's last line says it.
async fn module_memory(workerd: &mut Process) -> u64 {
    for _ in 0..100 {
        let logs = workerd.ask("logs").await;
        let lines = logs["lines"].as_array().unwrap().iter().rev();
        let told = lines
            .filter_map(|line| serde_json::from_str::<Value>(line.as_str()?).ok())
            .find(|line| line["fields"]["collections"] == 1);
        if let Some(line) = told {
            return line["fields"]["memory_bytes"].as_u64().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the job never says that it is done");
}

async fn fits_a_worker() {
    let (r2, folder) = (temporary(), temporary());
    let began = Instant::now();
    long_tail(folder.path()).await;
    let workerd = Workerd {
        instances: 1,
        r2: Some(r2.path()),
        bundle: None,
    };
    let mut workerd = workerd.start(&open_to_all()).await;
    let seed = format!("seed {}", folder.path().display());
    workerd.ask(&seed).await;
    eprintln!("{LONG} entries made and seeded in {:?}", began.elapsed());
    let run = workerd.ask("scheduled 0 */10 * * * *").await;
    assert_eq!(run["outcome"], "ok", "{run}");
    let memory = module_memory(&mut workerd).await;
    eprintln!("folded with {} MiB", memory >> 20);
    assert!(memory <= BOUND_BYTES, "{} MiB", memory >> 20);
    let objects = in_r2(&mut workerd).await;
    assert_eq!(objects.due(), 0);
    assert!(!objects.segments().is_empty());
    assert_eq!(total(&client(&workerd.urls()[0])).await, LONG as u64);
}
