//! The stdio server: a clean standard output whatever is logged (field report A40),
//! answers in any order, and an orderly end.

mod harness;

use harness::{Client, bare, ostraca, run};
use serde_json::{Value, json};

const SECRET: &str = "the-vault-code-is-4711";

#[tokio::test(flavor = "multi_thread")]
async fn a40_only_json_rpc_reaches_standard_output() {
    for filter in ["trace", "debug", "this is =no= filter"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = ostraca(folder.path());
        command.env("RUST_LOG", filter);
        let client = Client::start(command).await;
        client
            .call("remember", json!({ "content": SECRET }))
            .await
            .unwrap();
        client
            .call("recall", json!({ "query": SECRET }))
            .await
            .unwrap();
        let unknown = client
            .request(
                "tools/call",
                json!({ "name": "no_such_tool", "arguments": {} }),
            )
            .await;
        assert!(unknown.unwrap()["error"].is_object());
        client.write("{not json").await;
        client.write("[]").await;
        let (code, lines, log) = client.finish().await;

        assert_eq!(code, 0);
        assert!(lines.len() >= 5, "{lines:?}");
        for line in &lines {
            let message: Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
        }
        assert!(!log.is_empty(), "{filter} logs something");
        assert!(!log.contains(SECRET), "content is never logged:\n{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pending_at_the_end_of_input_is_answered() {
    const REQUESTS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let client = Client::start(ostraca(folder.path())).await;
    let mut pending = Vec::new();
    for number in 0..REQUESTS {
        let arguments =
            json!({ "name": "remember", "arguments": { "content": format!("memory {number}") } });
        pending.push(client.send("tools/call", arguments).await);
    }
    let (code, _, log) = client.finish().await;
    assert_eq!(code, 0, "{log}");
    for answer in pending {
        assert_eq!(
            answer.await.unwrap()["result"]["structuredContent"]["failed"],
            0
        );
    }
    assert_eq!(harness::contents(folder.path()).await.len(), REQUESTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_waits_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let client = Client::start(ostraca(folder.path())).await;
    let arguments = json!({ "name": "watch", "arguments": { "wait_seconds": 20 } });
    let mut watching = client.send("tools/call", arguments).await;
    client.call("list", json!({})).await.unwrap();
    assert!(
        watching.try_recv().is_err(),
        "the watch is still waiting when the list is answered"
    );
    client
        .call("remember", json!({ "content": "news" }))
        .await
        .unwrap();
    watching.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_session_piped_in_at_once_is_answered_in_the_agreed_version() {
    let folder = tempfile::tempdir().unwrap();
    let session = [
        json!({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}),
        json!({"jsonrpc":"2.0","method":"notifications/initialized"}),
        json!({"jsonrpc":"2.0","id":2,"method":"tools/list"}),
        json!({"jsonrpc":"2.0","id":3,"method":"ping"}),
    ]
    .map(|message| message.to_string())
    .join("\n");
    let run = run(ostraca(folder.path()), &["mcp"], &session).await;
    assert_eq!(run.code(), 0, "{}", run.stderr());
    let mut answers: Vec<Value> = run
        .stdout()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let ids: Vec<_> = answers
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, [1, 2, 3]);
    assert!(
        answers.iter().all(|answer| answer["result"].is_object()),
        "{answers:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_leaves_out_what_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = ostraca(folder.path());
    command.env("OSTRACA_READ_ONLY", "true");
    let client = Client::start(command).await;
    let tools = client.request("tools/list", json!({})).await.unwrap();
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"recall") && !names.contains(&"remember"),
        "{names:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_configuration_is_needed() {
    let home = tempfile::tempdir().unwrap();
    let mut command = bare();
    for name in ["HOME", "APPDATA", "USERPROFILE"] {
        command.env(name, home.path());
    }
    command.env_remove("XDG_DATA_HOME");
    let client = Client::start(command).await;
    client
        .call("remember", json!({ "content": "kept" }))
        .await
        .unwrap();
    let (code, ..) = client.finish().await;
    assert_eq!(code, 0);
    #[cfg(target_os = "linux")]
    assert!(home.path().join(".local/share/ostraca/t/default").is_dir());
}
