//! MCP over lines: both eras, and what is answered and what is not.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test may fail where it stands"
)]

mod support;

use ostraca_memory::Permission;
use ostraca_service::AuthMode;
use ostraca_service::mcp::stdio::Connection;
use serde_json::{Value, json};

use support::{MODERN, app, database, key, tenant};

async fn connection() -> Connection {
    Connection::open(&app(&database(), AuthMode::Open { tenant: tenant() }), None)
        .await
        .unwrap()
}

async fn ask(connection: &Connection, message: Value) -> Value {
    let line = connection.handle_line(&message.to_string()).await.unwrap();
    assert!(!line.contains('\n'));
    serde_json::from_str(&line).unwrap()
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

#[tokio::test]
async fn a_client_with_a_handshake() {
    let connection = connection().await;
    let hello = request(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    );
    assert_eq!(
        ask(&connection, hello).await["result"]["protocolVersion"],
        "2025-06-18"
    );
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(connection.handle_line(&initialized).await, None);
    assert_eq!(
        ask(&connection, request("ping", json!({}))).await["result"],
        json!({})
    );
    let tools = ask(&connection, request("tools/list", json!({}))).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 10);
    assert!(tools["result"].get("resultType").is_none());
    let stored = ask(
        &connection,
        request(
            "tools/call",
            json!({"name": "remember", "arguments": {"content": "line\nbreak"}}),
        ),
    )
    .await;
    assert_eq!(stored["result"]["isError"], false);
    let found = ask(
        &connection,
        request(
            "tools/call",
            json!({"name": "recall", "arguments": {"query": "break"}}),
        ),
    )
    .await;
    assert_eq!(
        found["result"]["structuredContent"]["hits"][0]["content"],
        "line\nbreak"
    );
}

#[tokio::test]
async fn a_client_without_a_handshake() {
    let connection = connection().await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}});
    let found = ask(
        &connection,
        request("server/discover", json!({"_meta": meta})),
    )
    .await;
    assert_eq!(found["result"]["resultType"], "complete");
    let tools = ask(&connection, request("tools/list", json!({"_meta": meta}))).await;
    assert_eq!(tools["result"]["ttlMs"], 3_600_000);
    let bare = ask(&connection, request("server/discover", json!({}))).await;
    assert_eq!(bare["error"]["code"], -32602);
    let later = json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    let refused = ask(&connection, request("tools/list", json!({"_meta": later}))).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert!(
        refused["error"]["data"]["supported"]
            .as_array()
            .unwrap()
            .contains(&json!(MODERN))
    );
    let handshake = ask(&connection, request("initialize", json!({"_meta": meta}))).await;
    assert_eq!(handshake["error"]["code"], -32601);
}

#[tokio::test]
async fn lines_that_are_no_request() {
    let connection = connection().await;
    for silent in [
        "",
        "   ",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
    ] {
        assert_eq!(connection.handle_line(silent).await, None, "{silent:?}");
    }
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("1", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
    ] {
        let answer: Value =
            serde_json::from_str(&connection.handle_line(line).await.unwrap()).unwrap();
        assert_eq!(answer["error"]["code"], code, "{line}");
        assert!(answer.get("id").is_none(), "{line}");
    }
}

#[tokio::test]
async fn a_read_only_connection_and_a_keyed_one() {
    let connection = connection().await.read_only();
    let refused = ask(
        &connection,
        request(
            "tools/call",
            json!({"name": "remember", "arguments": {"content": "x"}}),
        ),
    )
    .await;
    assert_eq!(refused["result"]["isError"], true);

    let database = database();
    let good = key(&database, "acme", &[Permission::Read]).await;
    let app = app(&database, AuthMode::Keys);
    assert!(Connection::open(&app, None).await.is_err());
    assert!(Connection::open(&app, Some("wrong")).await.is_err());
    let connection = Connection::open(&app, Some(&good)).await.unwrap();
    let tools = ask(&connection, request("tools/list", json!({}))).await;
    assert_eq!(tools["result"]["tools"][0]["name"], "recall");
}
