//! MCP over HTTP: what any client of any revision may send.

use serde_json::{Value, json};

use crate::case::{Context, cases};

cases![
    a36_get_on_the_endpoint_is_405,
    a37_notifications_are_202_without_a_body,
    a38_versions_are_negotiated,
    malformed_messages_are_refused,
    the_server_describes_itself,
    the_handshake_revisions_work,
];

async fn a36_get_on_the_endpoint_is_405(cx: Context) {
    for path in ["/mcp", "/mcp/", "/mcp/readonly"] {
        for method in ["GET", "DELETE", "PUT"] {
            let answer = cx
                .api
                .ask(method, path)
                .header("accept", "text/event-stream")
                .send()
                .await;
            answer.status(405);
            assert!(
                answer.header("allow").unwrap().contains("POST"),
                "{method} {path}"
            );
        }
    }
}

async fn a37_notifications_are_202_without_a_body(cx: Context) {
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/unheard-of",
    ] {
        let answer = cx
            .api
            .rpc("/mcp", &[], &json!({"jsonrpc": "2.0", "method": method}))
            .await;
        answer.status(202);
        assert_eq!(answer.text, "", "{method}");
    }
}

async fn a38_versions_are_negotiated(cx: Context) {
    for (asked, answered) in [
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2099-01-01"), "2025-11-25"),
    ] {
        let answer = cx.api.rpc("/mcp", &[], &initialize(&asked)).await;
        assert_eq!(
            answer.status(200)["result"]["protocolVersion"],
            answered,
            "{asked}"
        );
    }
    // A client that speaks only an old revision must not be told of a newer one it cannot take.
    let answer = cx
        .api
        .rpc("/mcp", &[], &initialize(&json!("2024-11-05")))
        .await;
    assert!(answer.status(200)["result"]["protocolVersion"].is_string());
    let answer = cx.api.rpc("/mcp", &[], &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})).await;
    assert!(
        answer.json["error"]["code"] == -32602
            || answer.json["result"]["protocolVersion"].is_string(),
        "{}",
        answer.text
    );
    // The stateless line lists what it takes.
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    let answer = cx
        .api
        .rpc(
            "/mcp",
            &[
                ("mcp-protocol-version", "2099-01-01"),
                ("mcp-method", "tools/list"),
            ],
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}),
        )
        .await;
    let error = &answer.status(400)["error"];
    assert_eq!(error["code"], -32022);
    assert!(
        error["data"]["supported"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28")),
        "{error}"
    );
    assert_eq!(error["data"]["requested"], "2099-01-01");
}

fn initialize(version: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}}})
}

async fn malformed_messages_are_refused(cx: Context) {
    let post = |media: &'static str, body: &'static str| {
        cx.api
            .ask("POST", "/mcp")
            .bytes(media, body.as_bytes().to_vec())
            .send()
    };
    for (body, code) in [
        ("{\"jsonrpc\":", -32700),
        ("[]", -32600),
        ("5", -32600),
        ("{}", -32600),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32600,
        ),
    ] {
        let answer = post("application/json", body).await;
        assert_eq!(answer.status(400)["error"]["code"], code, "{body}");
    }
    post("text/plain", "{}").await.status(415);
    let answer = cx.api.mcp("/mcp", "no/such/method", json!({})).await;
    assert_eq!(answer.status(404)["error"]["code"], -32601);
    let answer = cx
        .api
        .mcp(
            "/mcp",
            "tools/call",
            json!({"name": "no_such_tool", "arguments": {}}),
        )
        .await;
    assert_eq!(answer.json["error"]["code"], -32602, "{}", answer.text);
    for arguments in [json!("x"), json!([])] {
        let answer = cx
            .api
            .mcp(
                "/mcp",
                "tools/call",
                json!({"name": "recall", "arguments": arguments}),
            )
            .await;
        assert_eq!(answer.json["error"]["code"], -32602, "{}", answer.text);
    }
    // Headers and body must agree.
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "x"}, "_meta": meta}});
    for headers in [
        vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
            ("mcp-name", "recall"),
        ],
        vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "get"),
        ],
        vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
        ],
    ] {
        assert_eq!(
            cx.api.rpc("/mcp", &headers, &message).await.status(400)["error"]["code"],
            -32020,
            "{headers:?}"
        );
    }
    let huge = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}",
        "x".repeat(5 << 20)
    );
    let answer = cx
        .api
        .ask("POST", "/mcp")
        .bytes("application/json", huge.into_bytes())
        .send()
        .await;
    answer.status(413);
}

async fn the_server_describes_itself(cx: Context) {
    let answer = cx.api.mcp("/mcp", "server/discover", json!({})).await;
    let result = &answer.success()["result"];
    assert_eq!(result["resultType"], "complete");
    assert!(
        result["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28"))
    );
    let instructions = result["instructions"].as_str().unwrap();
    assert!(
        (300..=1500).contains(&instructions.len()),
        "{}",
        instructions.len()
    );
    assert!(result["capabilities"]["tools"].is_object(), "{result}");
    for (method, list) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
        ("tools/list", "tools"),
    ] {
        let answer = cx.api.mcp("/mcp", method, json!({})).await;
        let result = &answer.success()["result"];
        assert!(
            result[list].is_array() && result["ttlMs"].is_u64() && result["cacheScope"].is_string(),
            "{method}: {}",
            answer.text
        );
    }
}

async fn the_handshake_revisions_work(cx: Context) {
    let versions = ["2025-06-18", "2025-11-25"];
    for version in versions {
        let headers = [("mcp-protocol-version", version)];
        cx.api
            .rpc("/mcp", &[], &initialize(&json!(version)))
            .await
            .status(200);
        cx.api
            .rpc(
                "/mcp",
                &headers,
                &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            )
            .await
            .status(202);
        let ping = cx
            .api
            .rpc(
                "/mcp",
                &headers,
                &json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}),
            )
            .await;
        assert_eq!(ping.status(200)["result"], json!({}));
        let listed = cx
            .api
            .rpc(
                "/mcp",
                &headers,
                &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
            )
            .await;
        assert!(
            !listed.status(200)["result"]["tools"]
                .as_array()
                .unwrap()
                .is_empty()
        );
        let content = format!("by {version}");
        let called = cx.api.rpc("/mcp", &headers, &json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "remember", "arguments": {"content": content, "scope": cx.scope}}})).await;
        assert_eq!(
            called.status(200)["result"]["structuredContent"]["items"][0]["outcome"],
            "created"
        );
    }
    assert_eq!(cx.api.list(&cx.scope).await.len(), versions.len());
}
