//! `ostraca compact` as a real process on a real S3 server: killed at any moment, and next to
//! itself. What was acknowledged is there afterwards, and nothing else.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use ostraca_object::port::Ids as _;
use ostraca_object::port::native::OsIds;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::runtime::Runtime;

use crate::binary;
use crate::client::{Client, Transcript, encode};
use crate::compaction::short_horizon;
use crate::objects::{Objects, until};
use crate::platform::{Bucket, Variables, local};
use crate::trial;

/// How often the job is killed.
const KILLS: usize = 50;
/// So long a killed job lives at most, on a slow machine.
const LONGEST_LIFE: Duration = Duration::from_millis(800);
/// Longer than the horizon of these tests.
const HORIZON: Duration = Duration::from_millis(2_600);

pub(crate) fn trials(runtime: &Arc<Runtime>) -> Vec<Trial> {
    vec![
        trial(
            runtime,
            "i_durable_when_compaction_is_killed_50_times",
            killed,
        ),
        trial(
            runtime,
            "i_fold_four_compactions_at_once_and_a_writer",
            at_once,
        ),
    ]
}

fn compact(variables: &Variables, more: &[&str]) -> Command {
    let mut command = Command::new(binary::path());
    command
        .args(["compact", "--json"])
        .args(more)
        .envs(variables.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Runs the job to its end; what it says of the only collection there is.
async fn compacted(variables: &Variables, more: &[&str]) -> Value {
    let output = compact(variables, more).output().await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{more:?}: {said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 1, "{said}");
    serde_json::from_str(lines[0]).unwrap()
}

/// Writes until it is told to stop; the ids that were acknowledged.
async fn writer(client: Client, stop: Arc<AtomicBool>) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        let content = format!("fact number {} in a sentence of some length", ids.len());
        ids.insert(client.remember(json!({"content": content})).await);
    }
    ids
}

async fn listed(client: &Client) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut after = String::new();
    loop {
        let answer = client.get(&format!("/v1/memories?limit=100{after}")).await;
        let page = answer.success();
        for memory in page["memories"].as_array().unwrap() {
            ids.insert(memory["id"].as_str().unwrap().to_owned());
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => after = format!("&cursor={}", encode(cursor)),
            None => return ids,
        }
    }
}

fn client(url: &Value) -> Client {
    Client::new(url.as_str().unwrap(), None, Transcript::default())
}

async fn killed() {
    let bucket = Bucket::seaweedfs().await;
    let store = bucket.open("killed");
    let variables = [bucket.variables("killed"), short_horizon()].concat();
    let server = local(&variables).await;
    let warm = client(&server.ready["url"]);
    let stop = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn(writer(warm.clone(), Arc::clone(&stop)));
    // The first one is let through, so that later ones have something to merge and to delete.
    let began = Instant::now();
    compacted(&variables, &["--tenant", "default"]).await;
    // Wherever it may be: from its start to a little after its end.
    let longest = (began.elapsed() * 5 / 4).min(LONGEST_LIFE);
    let mut cut_off = 0;
    for round in 0..KILLS {
        let effort: &[&str] = if round % 2 == 0 { &["--major"] } else { &[] };
        let line = [&["--tenant", "default"], effort].concat();
        let mut job = compact(&variables, &line).spawn().unwrap();
        let part = u32::try_from(OsIds.random() % 1_000).unwrap();
        tokio::time::sleep(longest * part / 1_000).await;
        job.start_kill().unwrap();
        if !job.wait().await.unwrap().success() {
            cut_off += 1;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged = writing.await.unwrap();
    eprintln!(
        "{cut_off} of {KILLS} compactions were cut off, {} writes",
        acknowledged.len()
    );
    assert!(
        cut_off >= KILLS / 2,
        "most were over before they were killed"
    );

    // The server folds behind its answers too, so it may take the job a round more.
    let all = ["--tenant", "default", "--collection", "memory", "--major"];
    let mut objects = Objects::default();
    for round in 0..6 {
        tokio::time::sleep(HORIZON).await;
        let more = json!({"content": format!("written after all kills, {round}")});
        acknowledged.insert(warm.remember(more).await);
        compacted(&variables, &all).await;
        tokio::time::sleep(HORIZON).await;
        compacted(&variables, &all).await;
        objects = Objects::of(&store).await;
        if is_tidy(&objects) {
            break;
        }
    }
    assert!(is_tidy(&objects), "orphans are left: {objects:?}");
    let cold = local(&variables).await;
    assert_eq!(listed(&client(&cold.ready["url"])).await, acknowledged);
    assert_eq!(listed(&warm).await, acknowledged);
}

/// One segment, a log of what the last two checkpoints need, no marker.
fn is_tidy(objects: &Objects) -> bool {
    let entries = objects.entries();
    objects.segments().len() == 1
        && objects.due() == 0
        && entries.first().is_some_and(|first| *first > 1)
        && entries.len() <= 6
}

async fn at_once() {
    let bucket = Bucket::seaweedfs().await;
    let store = bucket.open("at-once");
    let variables = [bucket.variables("at-once"), short_horizon()].concat();
    let server = local(&variables).await;
    let warm = client(&server.ready["url"]);
    let stop = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn(writer(warm.clone(), Arc::clone(&stop)));
    for round in 0..3 {
        let effort: &[&str] = if round == 2 { &["--major"] } else { &[] };
        let line = [&["--all"], effort].concat();
        let jobs = (0..4).map(|_| compacted(&variables, &line));
        for run in futures::future::join_all(jobs).await {
            assert!(run["error"].is_null(), "{run}");
        }
    }
    stop.store(true, Ordering::Relaxed);
    let acknowledged = writing.await.unwrap();
    let cold = local(&variables).await;
    assert_eq!(listed(&client(&cold.ready["url"])).await, acknowledged);
    assert_eq!(listed(&warm).await, acknowledged);
    compacted(&variables, &["--all", "--major"]).await;
    until(&store, "without a marker", |objects| objects.due() == 0).await;
    assert_eq!(listed(&client(&cold.ready["url"])).await, acknowledged);
}
