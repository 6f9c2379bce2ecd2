//! The HTTP rules of the MCP endpoint: every refusal, in the order in which they are
//! decided, and what both eras of the protocol get.

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

use http::Method;
use ostraca_memory::Permission;
use ostraca_service::{AuthMode, Exposure, router};
use serde_json::{Value, json};

use support::{Ask, MODERN, app, database, keyed, open, tenant};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn with_meta(method: &str, meta: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}).to_string()
}

fn meta(version: &str) -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}})
}

#[tokio::test]
async fn a36_anything_but_post_is_405_and_says_what_works() {
    let router = open();
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::PATCH] {
        for path in ["/mcp", "/mcp/", "/mcp/readonly"] {
            // Method comes before origin, caller and media type.
            let reply = Ask::new(method.clone(), path)
                .with("accept", "text/event-stream")
                .with("origin", "https://evil.example")
                .send(&router)
                .await;
            assert_eq!(reply.status, 405, "{method} {path}");
            assert_eq!(reply.header("allow"), "POST, OPTIONS");
            assert_eq!(reply.json()["error"]["code"], "method_not_allowed");
        }
    }
}

#[tokio::test]
async fn the_order_of_refusals() {
    let database = database();
    let mut settings = app(&database, AuthMode::Keys);
    settings.settings.max_body_bytes = 200;
    let router = router(settings);
    let long = "x".repeat(201);
    // Each request has every fault of the ones below it, and is refused for its own.
    let steps = [
        (
            Ask::post("/mcp", long.as_bytes())
                .with("content-length", "201")
                .with("content-type", "text/plain")
                .with("origin", "https://evil.example"),
            413,
        ),
        (
            Ask::post("/mcp", "{")
                .with("content-type", "text/plain")
                .with("origin", "https://evil.example"),
            403,
        ),
        (
            Ask::post("/mcp", "{").with("content-type", "text/plain"),
            401,
        ),
    ];
    for (ask, status) in steps {
        let shown = format!("{:?}", ask.headers);
        assert_eq!(ask.send(&router).await.status, status, "{shown}");
    }

    let (router, key) = keyed(&[Permission::Read]).await;
    let steps = [
        (
            Ask::post("/mcp", "{").with("content-type", "text/plain"),
            (415, 0),
        ),
        (Ask::post("/mcp", "{").without("content-type"), (415, 0)),
        (
            Ask::post("/mcp", "{").with("content-type", "application/json; charset=utf-8"),
            (400, -32700),
        ),
    ];
    for (ask, outcome) in steps {
        let shown = format!("{:?}", ask.headers);
        assert_eq!(
            ask.bearer(&key).send(&router).await.outcome(),
            outcome,
            "{shown}"
        );
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_even_when_its_length_is_not_told() {
    let database = database();
    let mut small = app(&database, AuthMode::Open { tenant: tenant() });
    small.settings.max_body_bytes = 100;
    let router = router(small);
    let reply = Ask::post("/mcp", "x".repeat(101)).send(&router).await;
    assert_eq!(reply.status, 413);
    assert_eq!(reply.json()["error"]["code"], "too_large");
    let reply = Ask::post("/mcp", LIST).send(&router).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn a_loopback_server_answers_loopback_only() {
    let router = open();
    for (host, origin, status) in [
        ("localhost:7700", None, 200),
        ("127.0.0.1:7700", Some("http://localhost:6274"), 200),
        ("[::1]:7700", Some("http://[::1]:6274"), 200),
        ("evil.example", None, 403),
        ("localhost.evil.example", None, 403),
        ("localhost", Some("https://evil.example"), 403),
        ("localhost", Some("null"), 403),
    ] {
        let mut ask = Ask::post("/mcp", LIST).with("host", host);
        if let Some(origin) = origin {
            ask = ask.with("origin", origin);
        }
        let reply = ask.send(&router).await;
        assert_eq!(reply.status, status, "{host} {origin:?}: {}", reply.text);
    }
}

#[tokio::test]
async fn a_public_server_narrows_by_its_lists() {
    let database = database();
    let mut narrow = app(&database, AuthMode::Open { tenant: tenant() });
    narrow.settings.exposure = Exposure::Public {
        hosts: vec!["mem.example".to_owned()],
        origins: vec!["https://app.example".to_owned()],
    };
    let router = router(narrow);
    for (host, origin, status) in [
        ("mem.example", None, 200),
        ("mem.example", Some("https://app.example"), 200),
        ("mem.example", Some("https://other.example"), 403),
        ("other.example", None, 403),
    ] {
        let mut ask = Ask::post("/mcp", LIST).with("host", host);
        if let Some(origin) = origin {
            ask = ask.with("origin", origin);
        }
        assert_eq!(ask.send(&router).await.status, status, "{host} {origin:?}");
    }
}

#[tokio::test]
async fn frames_that_are_not_one_request() {
    let router = open();
    let batch = format!("[{LIST}]");
    for (body, outcome) in [
        ("", (400, -32700)),
        ("{", (400, -32700)),
        ("null", (400, -32600)),
        (batch.as_str(), (400, -32600)),
        ("{}", (400, -32600)),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, (400, -32600)),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
            (400, -32600),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#,
            (400, -32600),
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"tools/list"}"#,
            (400, -32600),
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, (400, -32600)),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
            (400, -32600),
        ),
    ] {
        let reply = Ask::post("/mcp", body).send(&router).await;
        assert_eq!(reply.outcome(), outcome, "{body}");
        assert_eq!(reply.header("content-type"), "application/json");
        assert!(
            !reply
                .json()
                .as_object()
                .unwrap()
                .get("id")
                .is_some_and(Value::is_null),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a37_notifications_are_202_and_empty() {
    let router = open();
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/unheard-of",
    ] {
        let body = json!({"jsonrpc": "2.0", "method": method}).to_string();
        let reply = Ask::post("/mcp", body).send(&router).await;
        assert_eq!(
            (reply.status.as_u16(), reply.text.as_str()),
            (202, ""),
            "{method}"
        );
    }
}

#[tokio::test]
async fn modern_requests_are_checked_in_order() {
    let router = open();
    let ask = |body: String| Ask::post("/mcp", body);
    let full = |method: &str| ask(with_meta(method, &meta(MODERN)));
    for (name, ask, outcome) in [
        (
            "discover without meta",
            ask(json!({"jsonrpc":"2.0","id":1,"method":"server/discover"}).to_string()),
            (400, -32602),
        ),
        (
            "a modern header without meta",
            ask(LIST.to_owned()).with("mcp-protocol-version", MODERN),
            (400, -32602),
        ),
        (
            "no capabilities",
            ask(with_meta(
                "tools/list",
                &json!({"io.modelcontextprotocol/protocolVersion": MODERN}),
            ))
            .with("mcp-protocol-version", MODERN),
            (400, -32602),
        ),
        (
            "capabilities that are no object",
            ask(with_meta(
                "tools/list",
                &json!({"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": []}),
            )),
            (400, -32602),
        ),
        ("no version header", full("tools/list"), (400, -32020)),
        (
            "another version header",
            full("tools/list").with("mcp-protocol-version", "2025-11-25"),
            (400, -32020),
        ),
        (
            "an unknown version",
            ask(with_meta("tools/list", &meta("2099-01-01")))
                .with("mcp-protocol-version", "2099-01-01"),
            (400, -32022),
        ),
        (
            "an unknown version in the header alone",
            ask(LIST.to_owned()).with("mcp-protocol-version", "2099-01-01"),
            (400, -32022),
        ),
        (
            "no method header",
            full("tools/list").with("mcp-protocol-version", MODERN),
            (400, -32020),
        ),
        (
            "another method header",
            full("tools/list")
                .with("mcp-protocol-version", MODERN)
                .with("mcp-method", "tools/call"),
            (400, -32020),
        ),
        (
            "a method header in other case",
            full("tools/list")
                .with("mcp-protocol-version", MODERN)
                .with("mcp-method", "Tools/List"),
            (400, -32020),
        ),
        (
            "no name header",
            Ask::tool("recall", json!({})).without("mcp-name"),
            (400, -32020),
        ),
        (
            "another name header",
            Ask::tool("recall", json!({})).with("mcp-name", "forget"),
            (400, -32020),
        ),
        (
            "a name in bad Base64",
            Ask::tool("recall", json!({})).with("mcp-name", "=?base64?%%?="),
            (400, -32020),
        ),
        (
            "initialize",
            Ask::modern("initialize", json!({})),
            (404, -32601),
        ),
        ("ping", Ask::modern("ping", json!({})), (404, -32601)),
        (
            "subscribe",
            Ask::modern("resources/subscribe", json!({"uri": "memory://recent"})),
            (404, -32601),
        ),
        (
            "listen",
            Ask::modern("subscriptions/listen", json!({"notifications": {}})),
            (404, -32601),
        ),
        (
            "logging",
            Ask::modern("logging/setLevel", json!({"level": "debug"})),
            (404, -32601),
        ),
        ("tasks", Ask::modern("tasks/get", json!({})), (404, -32601)),
        (
            "no such method",
            Ask::modern("no/such", json!({})),
            (404, -32601),
        ),
        (
            "a call without a name",
            Ask::modern("tools/call", json!({})),
            (200, -32602),
        ),
        (
            "arguments that are no object",
            Ask::modern("tools/call", json!({"name": "recall", "arguments": "x"})),
            (200, -32602),
        ),
        (
            "no such tool",
            Ask::tool("no_such_tool", json!({})),
            (200, -32602),
        ),
        (
            "no such prompt",
            Ask::modern("prompts/get", json!({"name": "none"})),
            (200, -32602),
        ),
        (
            "no such resource",
            Ask::modern("resources/read", json!({"uri": "memory://none"})),
            (200, -32602),
        ),
        (
            "a cursor that was never given",
            Ask::modern("tools/list", json!({"cursor": "x"})),
            (200, -32602),
        ),
        (
            "discover",
            Ask::modern("server/discover", json!({})),
            (200, 0),
        ),
        ("list", Ask::modern("tools/list", json!({})), (200, 0)),
        (
            "a name in Base64",
            Ask::tool("recall", json!({"query": "x"})).with("mcp-name", "=?base64?cmVjYWxs?="),
            (200, 0),
        ),
    ] {
        let reply = ask.send(&router).await;
        assert_eq!(reply.outcome(), outcome, "{name}: {}", reply.text);
        assert_eq!(reply.json()["id"], 1, "{name}");
    }
}

#[tokio::test]
async fn legacy_requests_answer_200_throughout() {
    let router = open();
    for (name, ask, outcome) in [
        ("no header", Ask::post("/mcp", LIST), (200, 0)),
        (
            "the oldest",
            Ask::post("/mcp", LIST).with("mcp-protocol-version", "2024-11-05"),
            (200, 0),
        ),
        (
            "an unknown old version",
            Ask::post("/mcp", LIST).with("mcp-protocol-version", "2024-01-01"),
            (400, -32600),
        ),
        ("ping", Ask::legacy("ping", &json!({})), (200, 0)),
        (
            "no such method",
            Ask::legacy("no/such", &json!({})),
            (200, -32601),
        ),
        (
            "subscribe",
            Ask::legacy("resources/subscribe", &json!({"uri": "memory://recent"})),
            (200, -32601),
        ),
        (
            "logging",
            Ask::legacy("logging/setLevel", &json!({"level": "debug"})),
            (200, -32601),
        ),
        (
            "discover under an old header",
            Ask::legacy("server/discover", &json!({})),
            (400, -32602),
        ),
        (
            "no such tool",
            Ask::legacy("tools/call", &json!({"name": "none"})),
            (200, -32602),
        ),
        (
            "no such resource",
            Ask::legacy("resources/read", &json!({"uri": "memory://item/none"})),
            (200, -32602),
        ),
        // Seen from a hosted client: a version header on the handshake, and any Accept.
        (
            "initialize with a header",
            Ask::legacy("initialize", &json!({"protocolVersion": "2025-11-25"}))
                .with("accept", "*/*"),
            (200, 0),
        ),
    ] {
        let reply = ask.send(&router).await;
        assert_eq!(reply.outcome(), outcome, "{name}: {}", reply.text);
    }
}

#[tokio::test]
async fn a38_initialize_agrees_on_what_both_know() {
    let router = open();
    for (asked, agreed) in [
        (Some("2025-11-25"), "2025-11-25"),
        (Some("2025-06-18"), "2025-06-18"),
        (Some("2025-03-26"), "2025-03-26"),
        (Some("2024-11-05"), "2024-11-05"),
        (Some("2099-01-01"), "2025-11-25"),
        (Some(MODERN), "2025-11-25"),
        (None, "2025-11-25"),
    ] {
        let mut params =
            json!({"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        if let Some(asked) = asked {
            params["protocolVersion"] = json!(asked);
        }
        let body = json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params})
            .to_string();
        let reply = Ask::post("/mcp", body).send(&router).await;
        assert_eq!(reply.result()["protocolVersion"], agreed, "{asked:?}");
        assert_eq!(reply.json()["id"], "i");
        assert!(!reply.headers.contains_key("mcp-session-id"));
    }
    // Neither is a client required to introduce itself.
    let reply = Ask::post("/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#)
        .send(&router)
        .await;
    assert_eq!(reply.result()["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn both_eras_read_the_same_introduction() {
    let router = open();
    let discovered = Ask::modern("server/discover", json!({}))
        .send(&router)
        .await
        .result();
    let initialized = Ask::legacy("initialize", &json!({"protocolVersion": "2025-11-25"}))
        .send(&router)
        .await
        .result();
    assert_eq!(discovered["instructions"], initialized["instructions"]);
    assert_eq!(discovered["capabilities"], initialized["capabilities"]);
    assert_eq!(
        discovered["_meta"]["io.modelcontextprotocol/serverInfo"],
        initialized["serverInfo"]
    );
    assert_eq!(
        discovered["supportedVersions"],
        json!(["2025-06-18", "2025-11-25", MODERN])
    );
    assert_eq!(
        (&discovered["ttlMs"], &discovered["cacheScope"]),
        (&json!(3_600_000), &json!("public"))
    );
    assert_eq!(discovered["resultType"], "complete");
    assert!(
        initialized.get("resultType").is_none() && initialized.get("supportedVersions").is_none()
    );
}

#[tokio::test]
async fn every_modern_result_says_who_answers_and_lists_may_be_cached() {
    let router = open();
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ] {
        let result = Ask::modern(method, json!({})).send(&router).await.result();
        assert_eq!(
            result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "ostraca",
            "{method}"
        );
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(3_600_000), &json!("public")),
            "{method}"
        );
        let legacy = Ask::legacy(method, &json!({})).send(&router).await.result();
        assert!(legacy.get("resultType").is_none(), "{method}");
    }
    let recent = Ask::modern("resources/read", json!({"uri": "memory://recent"}))
        .send(&router)
        .await
        .result();
    assert_eq!(
        (&recent["ttlMs"], &recent["cacheScope"]),
        (&json!(0), &json!("private"))
    );
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let router = open();
    for id in [
        json!(0),
        json!(-7),
        json!(9_007_199_254_740_993_i64),
        json!(u64::MAX),
        json!(""),
        json!("ü\n\""),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
        assert_eq!(Ask::post("/mcp", body).send(&router).await.json()["id"], id);
    }
}
