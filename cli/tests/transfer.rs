//! Import and export: what goes out comes in again, twice is once, and what is
//! refused is told line by line.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod harness;

use std::fmt::Write as _;

use harness::{Server, ostraca, run};
use serde_json::{Value, json};

/// As the official memory server writes it.
const SERVER_MEMORY: &str = concat!(
    r#"{"type":"entity","name":"Jörg","entityType":"person","observations":["likes tea","lives in Köln"]}"#,
    "\n",
    r#"{"type":"entity","name":"Acme","entityType":"company","observations":["makes rockets"]}"#,
    "\n",
    r#"{"type":"relation","from":"Jörg","to":"Acme","relationType":"works at"}"#,
);

/// What an import cannot carry over, as the store gives it.
fn without_store_fields(export: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = export
        .lines()
        .map(|line| {
            let mut memory: Value = serde_json::from_str(line).unwrap();
            for name in ["id", "version", "updated_at", "author"] {
                memory.as_object_mut().unwrap().remove(name);
            }
            memory
        })
        .collect();
    lines.sort_by_key(ToString::to_string);
    lines
}

fn tally(created: u64, updated: u64, unchanged: u64, refused: u64) -> Value {
    json!({
        "read": created + updated + unchanged + refused,
        "created": created, "updated": updated, "unchanged": unchanged, "refused": refused,
        "pending": 0, "dry_run": false,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_exported_can_be_imported_and_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let lines = [
        json!({ "content": "plain" }),
        json!({ "content": "Zeile 1\nZeile 2 — 🟡", "scope": "a/b", "key": "k", "title": "t", "kind": "fact",
                "metadata": { "n": 1, "tags": ["x", "y"], "deep": { "a": [1, { "b": null }] }, "f": 0.1 },
                "source": "s", "confidence": 0.25, "sensitivity": "low",
                "created_at": "2020-01-02T03:04:05.678Z", "expires_at": "2999-01-01T00:00:00.000Z" }),
        json!({ "content": "plain", "scope": "a" }),
    ];
    let file = lines.map(|line| line.to_string()).join("\n");
    let first = run(ostraca(&from), &["import", "-", "--json"], &file).await;
    assert_eq!(first.json(), tally(3, 0, 0, 0));

    let path = folder.path().join("out.jsonl");
    let counted = run(
        ostraca(&from),
        &["export", path.to_str().unwrap(), "--json"],
        "",
    )
    .await;
    assert_eq!(counted.json(), json!({ "memories": 3 }));
    let exported = std::fs::read_to_string(&path).unwrap();
    let imported = run(
        ostraca(&to),
        &["import", path.to_str().unwrap(), "--json"],
        "",
    )
    .await;
    assert_eq!(imported.json(), tally(3, 0, 0, 0));
    let again = run(
        ostraca(&to),
        &["import", path.to_str().unwrap(), "--json"],
        "",
    )
    .await;
    assert_eq!(
        again.json(),
        tally(0, 0, 3, 0),
        "a second import changes nothing"
    );

    let back = run(ostraca(&to), &["export"], "").await;
    assert_eq!(
        without_store_fields(&back.stdout()),
        without_store_fields(&exported)
    );
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains("partial"))
        .collect();
    assert!(left.is_empty(), "{left:?}");

    let part = run(ostraca(&from), &["export", "--scope", "a"], "").await;
    assert_eq!(part.stdout().lines().count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_the_official_server_becomes_memories_once() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(
        ostraca(folder.path()),
        &["import", "-", "--json"],
        SERVER_MEMORY,
    )
    .await;
    assert_eq!(first.json(), tally(3, 0, 0, 0));
    let again = run(
        ostraca(folder.path()),
        &["import", "-", "--json"],
        SERVER_MEMORY,
    )
    .await;
    assert_eq!(again.json(), tally(0, 0, 3, 0));

    let grown = SERVER_MEMORY.replace("makes rockets", "makes rockets and anvils");
    let third = run(ostraca(folder.path()), &["import", "-", "--json"], &grown).await;
    assert_eq!(
        third.json(),
        tally(0, 1, 2, 0),
        "an entity that grew is updated in place"
    );

    let server = Server::start(ostraca(folder.path()), &[]).await;
    let (_, found) = server
        .post(
            "/v1/memories/recall",
            None,
            json!({ "query": "who drinks tea?" }),
        )
        .await;
    assert_eq!(found["hits"][0]["key"], "Jörg", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_lines_are_named_and_the_others_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = concat!(
        "{\"content\":\"good\"}\n",
        "{not json\n",
        "{\"content\":\"\"}\n",
        "{\"content\":\"c\",\"colour\":\"red\"}\n",
        "{\"content\":\"also good\",\"scope\":\"a\"}\n",
    );
    let dry = run(ostraca(folder.path()), &["import", "-", "--dry-run"], file).await;
    assert_eq!(dry.code(), 1);
    assert!(
        dry.stdout().contains("nothing was stored"),
        "{}",
        dry.stdout()
    );
    assert_eq!(harness::contents(folder.path()).await, [""; 0]);

    let real = run(ostraca(folder.path()), &["import", "-", "--json"], file).await;
    assert_eq!(real.code(), 1);
    let counted: Value = serde_json::from_str(&real.stdout()).unwrap();
    assert_eq!(counted, tally(2, 0, 0, 3));
    for named in [
        "line 2: key must be a string at column 2",
        "line 3: content",
        "line 4: colour",
    ] {
        assert!(
            real.stderr().contains(named),
            "{named} in {}",
            real.stderr()
        );
    }
    assert_eq!(
        harness::contents(folder.path()).await,
        ["also good", "good"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_batches_and_an_interrupted_import_end_in_the_same_store() {
    const MEMORIES: u64 = 1_300;
    let folder = tempfile::tempdir().unwrap();
    let file = (0..MEMORIES).fold(String::new(), |mut file, number| {
        let _ = writeln!(file, "{{\"content\":\"memory {number}\"}}");
        file
    });
    let half = file.lines().take(700).collect::<Vec<_>>().join("\n");
    let first = run(ostraca(folder.path()), &["import", "-", "--json"], &half).await;
    assert_eq!(first.json(), tally(700, 0, 0, 0));
    let rest = run(ostraca(folder.path()), &["import", "-", "--json"], &file).await;
    assert_eq!(rest.json(), tally(MEMORIES - 700, 0, 700, 0));
    assert_eq!(
        harness::contents(folder.path()).await.len() as u64,
        MEMORIES
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_takes_an_import_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let server = Server::start(ostraca(store), &["--auth", "keys"]).await;
    run(ostraca(store), &["tenant", "create", "acme", "--json"], "")
        .await
        .json();
    let key = run(
        ostraca(store),
        &["key", "create", "--tenant", "acme", "--json"],
        "",
    )
    .await
    .json();

    let import = ["import", "-", "--url", &server.url, "--json"];
    let refused = run(ostraca(store), &import, SERVER_MEMORY).await;
    assert_eq!(refused.code(), 1);
    assert!(
        refused.stderr().contains("--token-env"),
        "{}",
        refused.stderr()
    );

    let mut command = ostraca(store);
    command.env("MY_KEY", key["secret"].as_str().unwrap());
    let import = [&import[..], &["--token-env", "MY_KEY", "--scope", "people"]].concat();
    let stored = run(command, &import, &format!("{SERVER_MEMORY}\n{{}}")).await;
    assert_eq!(stored.code(), 1);
    let counted: Value = serde_json::from_str(&stored.stdout()).unwrap();
    assert_eq!(counted, tally(3, 0, 0, 1));
    let (_, listed) = server
        .get("/v1/memories?scope=people", key["secret"].as_str())
        .await;
    assert_eq!(listed["memories"].as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_file_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run(ostraca(folder.path()), &["import", "no-such-file"], "").await;
    assert_eq!(missing.code(), 1);
    assert!(
        missing
            .stderr()
            .starts_with("error: cannot read no-such-file"),
        "{}",
        missing.stderr()
    );
    let broken = run(
        ostraca(folder.path()),
        &["import", "-", "--format", "locomo"],
        "[{",
    )
    .await;
    assert_eq!(broken.code(), 1);
    assert!(broken.stderr().contains("hint: "), "{}", broken.stderr());
}
