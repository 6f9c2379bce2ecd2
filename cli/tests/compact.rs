//! `ostraca compact`: what it says, how it ends, and that memories are the same after it.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod harness;

use std::path::Path;

use harness::{Run, ostraca, run};
use serde_json::Value;

async fn import(store: &Path, tenant: &str, count: usize) {
    let lines: Vec<String> = (0..count)
        .map(|number| format!("{{\"content\":\"{tenant} fact {number}\"}}"))
        .collect();
    run(
        ostraca(store),
        &["import", "-", "--json", "--tenant", tenant],
        &lines.join("\n"),
    )
    .await
    .json();
}

async fn compact(store: &Path, args: &[&str]) -> Run {
    run(ostraca(store), &[&["compact"], args].concat(), "").await
}

fn lines(run: &Run) -> Vec<Value> {
    run.stdout()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_line_for_each_collection_and_the_same_memories_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    import(store, "first", 5).await;
    import(store, "second", 3).await;
    let before = run(ostraca(store), &["export", "--tenant", "first"], "").await;
    let all = compact(store, &["--all", "--json"]).await;
    assert_eq!(all.code(), 0, "{}", all.stderr());
    let told = lines(&all);
    let folded: Vec<_> = told.iter().map(|line| line["folded"].as_u64()).collect();
    assert_eq!(folded, [Some(5), Some(3)], "{told:?}");
    assert!(told.iter().all(|line| line["outcome"] == "committed"));
    let again = compact(
        store,
        &["--tenant", "first", "--collection", "memory", "--json"],
    )
    .await;
    let told = lines(&again);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["outcome"], "nothing");
    let after = run(ostraca(store), &["export", "--tenant", "first"], "").await;
    assert_eq!(after.stdout(), before.stdout());
    assert!(lines(&compact(store, &["--due", "--json"]).await).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_cannot_be_read_fails_the_command_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    import(store, "broken", 2).await;
    import(store, "whole", 2).await;
    let entry = store.join("t/broken/c/memory/log/00000000000000000001.arrow");
    std::fs::write(entry, "no arrow").unwrap();
    let all = compact(store, &["--all", "--json"]).await;
    assert_eq!(all.code(), 1);
    let told = lines(&all);
    let outcomes: Vec<_> = told
        .iter()
        .map(|line| (line["tenant"].as_str(), line["outcome"].as_str()))
        .collect();
    assert_eq!(
        outcomes,
        [
            (Some("broken"), Some("failed")),
            (Some("whole"), Some("committed"))
        ]
    );
    assert!(
        all.stderr().contains("1 of 2 collections failed"),
        "{}",
        all.stderr()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_terminal_the_log_says_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), "first", 2).await;
    let text = compact(folder.path(), &["--all", "--log-format", "json"]).await;
    assert_eq!(text.code(), 0, "{}", text.stderr());
    assert!(text.stdout().starts_with("first:memory  committed"));
    let steps: Vec<Value> = text
        .stderr()
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|line: &Value| line["fields"]["message"] == "compaction")
        .collect();
    let phases: Vec<_> = steps
        .iter()
        .map(|step| step["fields"]["phase"].as_str().unwrap())
        .collect();
    assert_eq!(phases, ["compacting", "cleaning_up", "finished"]);
    assert_eq!(steps[2]["fields"]["done"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_has_to_be_said_which_collections() {
    let folder = tempfile::tempdir().unwrap();
    for wrong in [
        &["--major"][..],
        &["--due", "--all"],
        &["--collection", "memory"],
        &["--all", "--tenant", "first"],
        &["--due", "--horizon", "soon"],
    ] {
        assert_eq!(compact(folder.path(), wrong).await.code(), 2, "{wrong:?}");
    }
}
