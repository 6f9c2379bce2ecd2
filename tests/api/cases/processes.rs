//! The local binary as a process: folders with any name, and a clean stdout.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

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
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let call = |id: u32, name: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}).to_string()
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}}});
    let content = "said over stdio\nin two lines";
    let exchanges = [
        (initialize.to_string(), Some(json!(1))),
        (
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
            None,
        ),
        (
            call(2, "remember", json!({"content": content})),
            Some(json!(2)),
        ),
        (call(3, "recall", json!({"query": " "})), Some(json!(3))),
        (call(4, "recall", json!({"query": "stdio"})), Some(json!(4))),
        (String::new(), None),
        (
            json!({"jsonrpc": "2.0", "id": 5, "method": "no/such/method"}).to_string(),
            Some(json!(5)),
        ),
    ];
    for (line, answered) in exchanges {
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        let Some(id) = answered else { continue };
        let said = stdout.next_line().await.unwrap().expect("an answer");
        let message: Value = serde_json::from_str(&said)
            .unwrap_or_else(|_| panic!("not JSON-RPC on stdout: {said}"));
        assert_eq!(
            (&message["jsonrpc"], &message["id"]),
            (&json!("2.0"), &id),
            "{said}"
        );
        if id == 4 {
            assert_eq!(
                message["result"]["structuredContent"]["hits"][0]["content"], content,
                "{said}"
            );
        }
    }
    // What is no message may be answered or not, but never with anything but JSON-RPC.
    stdin.write_all(b"this is no JSON\n").await.unwrap();
    drop(stdin);
    while let Some(said) = stdout.next_line().await.unwrap() {
        let message: Value = serde_json::from_str(&said)
            .unwrap_or_else(|_| panic!("not JSON-RPC on stdout: {said}"));
        assert_eq!(message["jsonrpc"], "2.0", "{said}");
    }
    assert!(child.wait().await.unwrap().success());
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
