//! The local binary as a process: folders with any name, and a clean stdout.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::case::{Context, cases};

cases![
    #[local]
    a03_a_data_folder_may_have_any_name,
    #[local]
    a40_stdout_of_the_stdio_server_is_json_rpc_alone,
    #[local]
    what_one_process_writes_another_reads,
];

async fn a03_a_data_folder_may_have_any_name(cx: Context) {
    let root = tempfile::tempdir().unwrap();
    for name in [
        "Jörg",
        "memória 記憶",
        "with space",
        "100%",
        "d%3A",
        "a+b",
        "日本",
    ] {
        let folder = root.path().join(name).join("mem");
        let server = cx.target.local().binary.serve(&folder, &[]).await;
        cx.at(server.url(), None)
            .remember(json!({"content": format!("in {name}")}))
            .await;
        assert_eq!(
            cx.at(server.url(), None).list("").await,
            [format!("in {name}")]
        );
        assert!(folder.is_dir(), "{} is another folder", folder.display());
        server.kill().await;
    }
    let folders = std::fs::read_dir(root.path()).unwrap().count();
    assert_eq!(folders, 7, "a name became two folders, or another one");
}

async fn a40_stdout_of_the_stdio_server_is_json_rpc_alone(cx: Context) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = cx.target.local().binary.command(["mcp", "--store"]);
    // A bad embedder is a warning, a bad request an error, and debug logs are many.
    command
        .arg(folder.path())
        .args([
            "--embed-url",
            "http://127.0.0.1:9/v1",
            "--embed-model",
            "none",
            "--embed-timeout",
            "1s",
        ])
        .env("RUST_LOG", "debug")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}}});
    let lines = [
        initialize.to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "remember", "arguments": {"content": "said over stdio\nin two lines"}}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": " "}}}).to_string(),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "stdio"}}}).to_string(),
        "this is no JSON".to_owned(),
        json!({"jsonrpc": "2.0", "id": 5, "method": "no/such/method"}).to_string(),
    ];
    for line in lines {
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let stdout = String::from_utf8(output.stdout).unwrap();
    let mut answered = Vec::new();
    for line in stdout.lines() {
        let message: Value =
            serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON-RPC on stdout: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        answered.extend(message["id"].as_u64());
        if message["id"] == 4 {
            assert_eq!(
                message["result"]["structuredContent"]["hits"][0]["content"],
                "said over stdio\nin two lines",
                "{line}"
            );
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4, 5], "{stdout}");
}

async fn what_one_process_writes_another_reads(cx: Context) {
    let folder = tempfile::tempdir().unwrap();
    let binary = &cx.target.local().binary;
    let (one, two) = tokio::join!(
        binary.serve(folder.path(), &[]),
        binary.serve(folder.path(), &[])
    );
    let (first, second) = (cx.at(one.url(), None), cx.at(two.url(), None));
    for n in 0..5 {
        let (writer, reader) = if n % 2 == 0 {
            (&first, &second)
        } else {
            (&second, &first)
        };
        let id = writer
            .remember(json!({"content": format!("turn {n}")}))
            .await;
        assert_eq!(
            reader
                .recall(json!({"query": format!("turn {n}"), "mode": "keyword", "limit": 1}))
                .await,
            [format!("turn {n}")]
        );
        reader
            .patch(
                &format!("/v1/memories/{id}"),
                json!({"title": "seen", "expected_version": 1}),
            )
            .await
            .status(200);
        assert_eq!(
            writer.get(&format!("/v1/memories/{id}")).await.success()["memory"]["title"],
            "seen"
        );
    }
}
