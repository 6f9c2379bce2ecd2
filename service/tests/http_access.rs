//! Who gets in and who can read the answers: challenges, metadata and CORS.

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
use ostraca_service::{AuthMode, router};
use serde_json::{Value, json};

use support::{Ask, database, key, keyed, open, public};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn tools(list: &Value) -> Vec<&str> {
    list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_missing_key_is_challenged_with_absolute_links() {
    let (router, _) = keyed(&[Permission::Read]).await;
    for (path, metadata) in [
        ("/mcp", "/mcp"),
        ("/mcp/", "/mcp"),
        ("/mcp/readonly", "/mcp/readonly"),
    ] {
        let reply = Ask::post(path, LIST)
            .with("host", "internal:80")
            .with("x-forwarded-host", "mem.example")
            .with("x-forwarded-proto", "https")
            .send(&router)
            .await;
        assert_eq!(reply.status, 401, "{path}");
        assert_eq!(
            reply.header("www-authenticate"),
            format!(
                "Bearer realm=\"ostraca\", resource_metadata=\"https://mem.example/.well-known/oauth-protected-resource{metadata}\", \
                 scope=\"memories:read memories:write\""
            ),
        );
        assert_eq!(reply.json()["error"]["code"], "unauthorized");
    }
}

#[tokio::test]
async fn a_bad_key_is_told_from_a_missing_one() {
    let (router, good) = keyed(&[Permission::Read]).await;
    for header in [
        "Bearer nonsense",
        "Bearer",
        "Basic abc",
        &format!("Bearer {good}x"),
    ] {
        let reply = Ask::post("/mcp", LIST)
            .with("authorization", header)
            .send(&router)
            .await;
        assert_eq!(reply.status, 401, "{header}");
        assert!(
            reply
                .header("www-authenticate")
                .ends_with(", error=\"invalid_token\""),
            "{header}"
        );
        assert!(!reply.text.contains("nonsense"));
    }
    let reply = Ask::post("/mcp", LIST).bearer(&good).send(&router).await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn a_key_in_the_query_string_is_not_looked_at() {
    let (router, good) = keyed(&[Permission::Read]).await;
    for name in ["access_token", "token", "key", "api_key"] {
        let reply = Ask::post(&format!("/mcp?{name}={good}"), LIST)
            .send(&router)
            .await;
        assert_eq!(reply.status, 401, "{name}");
        assert!(
            !reply.header("www-authenticate").contains("error="),
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_configured_address_wins_over_the_request() {
    let database = database();
    let mut configured = public(&database, AuthMode::Keys);
    configured.public_url = Some("https://memory.example.com/".to_owned());
    let router = router(configured);
    let reply = Ask::post("/mcp", LIST)
        .with("x-forwarded-host", "evil.example")
        .send(&router)
        .await;
    assert!(
        reply
            .header("www-authenticate")
            .contains("resource_metadata=\"https://memory.example.com/.well-known/")
    );
}

#[tokio::test]
async fn a_header_cannot_break_out_of_the_challenge() {
    let (router, _) = keyed(&[Permission::Read]).await;
    let reply = Ask::post("/mcp", LIST)
        .with("x-forwarded-host", "a\", error=\"x")
        .send(&router)
        .await;
    assert!(
        reply
            .header("www-authenticate")
            .contains("\"http://localhost:7700/.well-known/"),
        "{:?}",
        reply.headers
    );
}

#[tokio::test]
async fn a32_metadata_is_public_and_exact_and_everything_else_is_404() {
    let (router, _) = keyed(&[Permission::Read]).await;
    for (path, resource) in [
        (
            "/.well-known/oauth-protected-resource",
            "http://localhost:7700/mcp",
        ),
        (
            "/.well-known/oauth-protected-resource/mcp",
            "http://localhost:7700/mcp",
        ),
        (
            "/.well-known/oauth-protected-resource/mcp/",
            "http://localhost:7700/mcp",
        ),
        (
            "/.well-known/oauth-protected-resource/mcp/readonly",
            "http://localhost:7700/mcp/readonly",
        ),
    ] {
        let reply = Ask::new(Method::GET, path).send(&router).await;
        assert_eq!(reply.status, 200, "{path}");
        let document = reply.json();
        assert_eq!(document["resource"], resource, "{path}");
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
        // Nobody issues tokens, so nobody is named.
        assert!(document.get("authorization_servers").is_none());
    }
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/oauth-protected-resourcex",
    ] {
        let reply = Ask::new(Method::GET, path).send(&router).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("content-type")),
            (404, "application/json"),
            "{path}"
        );
        assert_eq!(reply.json()["error"]["code"], "not_found");
    }
}

#[tokio::test]
async fn configured_issuers_are_named() {
    let database = database();
    let mut with_issuer = public(&database, AuthMode::Keys);
    with_issuer.settings.authorization_servers = vec!["https://login.example".to_owned()];
    let reply = Ask::new(Method::GET, "/.well-known/oauth-protected-resource")
        .send(&router(with_issuer))
        .await;
    assert_eq!(
        reply.json()["authorization_servers"],
        json!(["https://login.example"])
    );
}

#[tokio::test]
async fn a33_browsers_may_ask_and_read() {
    let (router, _) = keyed(&[Permission::Read]).await;
    let asked = "authorization,content-type,mcp-protocol-version,mcp-session-id,mcp-method,mcp-name,last-event-id";
    for path in [
        "/mcp",
        "/mcp/readonly",
        "/v1/memories",
        "/.well-known/oauth-protected-resource",
    ] {
        let reply = Ask::new(Method::OPTIONS, path)
            .with("origin", "https://inspector.example")
            .with("access-control-request-method", "POST")
            .with("access-control-request-headers", asked)
            .send(&router)
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.text.as_str()),
            (204, ""),
            "{path}"
        );
        let allowed = reply
            .header("access-control-allow-headers")
            .to_ascii_lowercase();
        let allowed: Vec<_> = allowed.split(',').map(str::trim).collect();
        for header in asked.split(',') {
            assert!(allowed.contains(&header), "{header}");
        }
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        assert!(
            reply
                .header("access-control-allow-methods")
                .contains("POST")
        );
    }
    for ask in [
        Ask::post("/mcp", LIST),
        Ask::new(Method::GET, "/mcp"),
        Ask::new(Method::GET, "/.well-known/oauth-protected-resource/mcp"),
        Ask::new(Method::GET, "/.well-known/none"),
        Ask::new(Method::GET, "/no/such/path"),
        Ask::new(Method::GET, "/"),
    ] {
        let path = ask.path.clone();
        let reply = ask
            .with("origin", "https://inspector.example")
            .send(&router)
            .await;
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{path}");
        for header in ["WWW-Authenticate", "Mcp-Session-Id", "Retry-After"] {
            assert!(
                reply
                    .header("access-control-expose-headers")
                    .contains(header),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn a_key_sees_and_may_what_it_was_given() {
    let database = database();
    let reads = key(&database, "acme", &[Permission::Read]).await;
    let writes = key(&database, "acme", &[Permission::Write]).await;
    let exports = key(&database, "acme", &[Permission::Export]).await;
    let router = router(public(&database, AuthMode::Keys));

    let list = Ask::modern("tools/list", json!({}))
        .bearer(&reads)
        .send(&router)
        .await
        .result();
    assert_eq!(
        tools(&list),
        ["recall", "get", "list", "history", "scopes", "watch"]
    );
    assert_eq!(list["cacheScope"], "private");
    let list = Ask::modern("tools/list", json!({}))
        .bearer(&writes)
        .send(&router)
        .await
        .result();
    assert_eq!(
        tools(&list),
        [
            "remember", "recall", "get", "list", "update", "history", "restore", "scopes", "watch"
        ]
    );

    let refused = Ask::tool("remember", json!({"content": "x"}))
        .bearer(&reads)
        .send(&router)
        .await
        .result();
    assert_eq!(refused["isError"], true);
    assert!(
        refused["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("memories:write"),
        "{refused}"
    );
    let count = Ask::tool("list", json!({"reach": "all"}))
        .bearer(&reads)
        .send(&router)
        .await
        .result();
    assert_eq!(count["structuredContent"]["total"], 0);

    let reply = Ask::modern("tools/list", json!({}))
        .bearer(&exports)
        .send(&router)
        .await;
    assert_eq!(reply.status, 403);
    assert!(
        reply
            .header("www-authenticate")
            .contains("error=\"insufficient_scope\"")
    );
}

#[tokio::test]
async fn the_read_only_endpoint_hides_and_refuses_what_writes() {
    let router = open();
    let reads = ["recall", "get", "list", "history", "scopes", "watch"];
    for ask in [
        Ask::modern("tools/list", json!({})).at("/mcp/readonly"),
        Ask::modern("tools/list", json!({})).with("x-mcp-readonly", "true"),
        Ask::modern("tools/list", json!({}))
            .at("/mcp/readonly")
            .with("x-mcp-readonly", "false"),
        Ask::modern("tools/list", json!({}))
            .at("/mcp/readonly")
            .with(
                "x-mcp-tools",
                "remember,recall,get,list,history,scopes,watch",
            ),
    ] {
        let list = ask.send(&router).await.result();
        assert_eq!(tools(&list), reads);
    }
    for (name, arguments) in [
        ("remember", json!({"content": "x"})),
        ("update", json!({"id": "x", "content": "y"})),
        ("forget", json!({"ids": ["x"]})),
        ("restore", json!({"id": "x"})),
    ] {
        let refused = Ask::tool(name, arguments)
            .at("/mcp/readonly")
            .send(&router)
            .await
            .result();
        assert_eq!(refused["isError"], true, "{name}");
        assert!(
            refused["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("not offered here"),
            "{name}: {refused}"
        );
    }
    let list = Ask::tool("list", json!({})).send(&router).await.result();
    assert_eq!(list["structuredContent"]["total"], 0);
}

#[tokio::test]
async fn headers_choose_tools_and_unknown_names_are_refused() {
    let router = open();
    let list = Ask::modern("tools/list", json!({}))
        .with("x-mcp-tools", "recall, remember")
        .send(&router)
        .await
        .result();
    assert_eq!(tools(&list), ["remember", "recall"]);
    assert_eq!(list["cacheScope"], "private");
    let list = Ask::modern("tools/list", json!({}))
        .with("x-mcp-exclude-tools", "forget,update,restore")
        .send(&router)
        .await
        .result();
    assert_eq!(
        tools(&list),
        [
            "remember", "recall", "get", "list", "history", "scopes", "watch"
        ]
    );
    let refused = Ask::tool("forget", json!({"ids": ["x"]}))
        .with("x-mcp-exclude-tools", "forget")
        .send(&router)
        .await
        .result();
    assert_eq!(refused["isError"], true);
    for header in ["x-mcp-tools", "x-mcp-exclude-tools"] {
        let reply = Ask::modern("tools/list", json!({}))
            .with(header, "recall,nope")
            .send(&router)
            .await;
        assert_eq!(reply.outcome(), (400, -32602), "{header}");
        assert!(reply.text.contains("nope"));
    }
}

#[tokio::test]
async fn a21_no_argument_reaches_another_tenant() {
    let database = database();
    let everything = [Permission::Read, Permission::Write, Permission::Delete];
    let mine = key(&database, "mine", &everything).await;
    let theirs = key(&database, "theirs", &everything).await;
    let router = router(public(&database, AuthMode::Keys));
    let stored = Ask::tool("remember", json!({"content": "alpha secret"}))
        .bearer(&mine)
        .send(&router)
        .await
        .result();
    let id = stored["structuredContent"]["items"][0]["id"].clone();
    for scope in [
        Value::Null,
        json!(""),
        json!("*"),
        json!("../mine"),
        json!("mine"),
    ] {
        for reach in ["exact", "inherited", "below", "all"] {
            let arguments = json!({"query": "alpha secret", "scope": scope, "reach": reach});
            let reply = Ask::tool("recall", arguments)
                .bearer(&theirs)
                .send(&router)
                .await;
            assert!(
                !reply.text.contains("\"content\":\"alpha"),
                "{scope} {reach}: {}",
                reply.text
            );
            let result = reply.result();
            assert!(
                result["isError"] == true || result["structuredContent"]["matched"] == 0,
                "{scope} {reach}: {result}"
            );
        }
    }
    let got = Ask::tool("get", json!({"ids": [id]}))
        .bearer(&theirs)
        .send(&router)
        .await
        .result();
    assert_eq!(got["structuredContent"]["memories"], json!([]));
    let reply = Ask::modern(
        "resources/read",
        json!({"uri": format!("memory://item/{}", id.as_str().unwrap())}),
    )
    .bearer(&theirs)
    .send(&router)
    .await;
    assert_eq!(reply.outcome(), (200, -32602));
    let seen = Ask::tool("recall", json!({"query": "alpha secret"}))
        .bearer(&mine)
        .send(&router)
        .await
        .result();
    assert_eq!(seen["structuredContent"]["matched"], 1);
}

#[tokio::test]
async fn the_front_page_says_how_to_connect() {
    let page = Ask::new(Method::GET, "/").send(&open()).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.json()["links"]["mcp"], "http://localhost:7700/mcp");
    assert_eq!(page.json()["version"], "0.0.0-test");
    assert!(
        page.json()["connect"]
            .as_str()
            .unwrap()
            .ends_with(" http://localhost:7700/mcp")
    );
    let none = Ask::new(Method::GET, "/no/such").send(&open()).await;
    assert_eq!(
        (none.status.as_u16(), none.header("content-type")),
        (404, "application/json")
    );
}
