//! Who calls, and what they may do.

use serde_json::json;

use crate::case::{Context, cases};

cases![
    #[keys]
    a32_a_client_without_a_token_is_told_where_to_get_one,
    a32_the_metadata_of_the_resource_needs_no_token,
    a33_browsers_may_call_and_read_refusals,
    #[keys]
    a_wrong_token_is_refused_the_same_way_everywhere,
    #[reader]
    a_token_that_may_read_may_not_write,
    public_routes_need_no_token,
];

async fn a32_a_client_without_a_token_is_told_where_to_get_one(cx: Context) {
    let nobody = cx.as_holder_of(None);
    for (path, metadata) in [
        ("/mcp", "/.well-known/oauth-protected-resource/mcp"),
        ("/mcp/", "/.well-known/oauth-protected-resource/mcp"),
        (
            "/mcp/readonly",
            "/.well-known/oauth-protected-resource/mcp/readonly",
        ),
    ] {
        let answer = nobody
            .rpc(
                path,
                &[],
                &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            )
            .await;
        answer.status(401);
        let challenge = answer
            .header("www-authenticate")
            .expect("a challenge")
            .to_owned();
        let told = challenge
            .split("resource_metadata=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .expect("resource_metadata");
        assert!(
            told.starts_with("http") && told.ends_with(metadata),
            "{challenge}"
        );
        let document = cx
            .at(told.trim_end_matches(metadata), None)
            .get(metadata)
            .await;
        let resource = document.success()["resource"].as_str().unwrap();
        assert!(resource.ends_with(path.trim_end_matches('/')), "{resource}");
    }
    let answer = nobody.get("/v1/memories").await;
    answer.refused(401, "unauthorized", None);
    assert!(
        answer
            .header("www-authenticate")
            .is_some_and(|challenge| challenge.starts_with("Bearer "))
    );
}

async fn a32_the_metadata_of_the_resource_needs_no_token(cx: Context) {
    let nobody = cx.as_holder_of(None);
    for (path, resource) in [
        ("/.well-known/oauth-protected-resource", "/mcp"),
        ("/.well-known/oauth-protected-resource/mcp", "/mcp"),
        ("/.well-known/oauth-protected-resource/mcp/", "/mcp"),
        (
            "/.well-known/oauth-protected-resource/mcp/readonly",
            "/mcp/readonly",
        ),
    ] {
        let document = nobody.get(path).await;
        assert!(
            document.success()["resource"]
                .as_str()
                .unwrap()
                .ends_with(resource),
            "{}",
            document.text
        );
    }
    // Nobody issues tokens here, and clients stop looking at a plain 404.
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
    ] {
        nobody.get(path).await.refused(404, "not_found", None);
    }
}

async fn a33_browsers_may_call_and_read_refusals(cx: Context) {
    let nobody = cx.as_holder_of(None);
    let wanted = "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id";
    for path in [
        "/mcp",
        "/mcp/readonly",
        "/v1/memories",
        "/v1/memories/recall",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        let answer = nobody
            .ask("OPTIONS", path)
            .header("origin", "https://inspector.example")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", wanted)
            .send()
            .await;
        answer.status(204);
        let allowed = answer
            .header("access-control-allow-headers")
            .unwrap()
            .to_lowercase();
        assert!(
            wanted.split(", ").all(|name| allowed.contains(name)),
            "{allowed}"
        );
        assert!(
            answer
                .header("access-control-allow-methods")
                .unwrap()
                .contains("POST")
        );
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
    for path in [
        "/v1/memories",
        "/v1/nothing",
        "/.well-known/oauth-protected-resource",
        "/v1/health",
    ] {
        let answer = nobody.get(path).await;
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("*"),
            "{path}"
        );
        let exposed = answer
            .header("access-control-expose-headers")
            .unwrap()
            .to_lowercase();
        assert!(
            ["www-authenticate", "mcp-session-id", "retry-after"]
                .iter()
                .all(|name| exposed.contains(name)),
            "{exposed}"
        );
    }
}

async fn a_wrong_token_is_refused_the_same_way_everywhere(cx: Context) {
    let token = cx.target.token.clone().unwrap_or_default();
    let mut shorter = token.clone();
    shorter.pop();
    let mut messages = Vec::new();
    for wrong in [
        "nonsense",
        &shorter,
        &format!("{token}x"),
        &token.to_uppercase(),
        "ost_00000000000000000000000000_x",
    ] {
        let caller = cx.as_holder_of(Some(wrong));
        for answer in [
            caller.get("/v1/memories").await,
            caller.post("/v1/memories", json!({"content": "x"})).await,
            caller
                .rpc(
                    "/mcp",
                    &[],
                    &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
                )
                .await,
        ] {
            answer.status(401);
            assert!(
                answer
                    .header("www-authenticate")
                    .unwrap()
                    .contains("invalid_token")
            );
            assert!(
                !answer.text.contains(wrong),
                "the refusal repeats the token"
            );
        }
        messages.push(caller.get("/v1/memories").await.text);
    }
    assert!(
        messages.iter().all(|message| *message == messages[0]),
        "{messages:?}"
    );
    let answer = cx
        .as_holder_of(None)
        .get(&format!("/v1/memories?access_token={token}"))
        .await;
    answer.status(401);
    // The token is asked for before the request is looked at.
    cx.as_holder_of(None)
        .ask("POST", "/v1/memories")
        .bytes("text/plain", b"x".to_vec())
        .send()
        .await
        .status(401);
}

async fn a_token_that_may_read_may_not_write(cx: Context) {
    let reader = cx.reader();
    let id = cx
        .api
        .remember(json!({"content": "to be read", "scope": cx.scope}))
        .await;
    assert_eq!(reader.list(&cx.scope).await, ["to be read"]);
    assert_eq!(
        reader
            .recall(
                json!({"query": "read", "mode": "keyword", "scope": cx.scope, "reach": "exact"})
            )
            .await,
        ["to be read"]
    );
    for answer in [
        reader
            .post("/v1/memories", json!({"content": "x", "scope": cx.scope}))
            .await,
        reader
            .patch(&format!("/v1/memories/{id}"), json!({"content": "x"}))
            .await,
        reader.delete(&format!("/v1/memories/{id}")).await,
        reader
            .post("/v1/memories/forget", json!({"ids": [id]}))
            .await,
        reader
            .post(&format!("/v1/memories/{id}/restore"), json!({"version": 1}))
            .await,
        reader
            .put("/v1/scopes", json!({"scope": cx.scope, "guidance": "x"}))
            .await,
        reader.get("/v1/export").await,
    ] {
        let error = answer.refused(403, "forbidden", None);
        assert!(
            error["message"].as_str().unwrap().contains("memories:"),
            "{error}"
        );
    }
    let listed = reader.mcp("/mcp", "tools/list", json!({})).await;
    let names: Vec<&str> = listed.success()["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"recall") && !names.contains(&"remember") && !names.contains(&"forget"),
        "{names:?}"
    );
    let refused = reader
        .mcp(
            "/mcp",
            "tools/call",
            json!({"name": "remember", "arguments": {"content": "x", "scope": cx.scope}}),
        )
        .await;
    assert!(
        refused.json["result"]["isError"] == true
            || refused.json["error"].is_object()
            || refused.status == 403,
        "{}",
        refused.text
    );
    assert_eq!(cx.api.list(&cx.scope).await, ["to be read"]);
}

async fn public_routes_need_no_token(cx: Context) {
    let nobody = cx.as_holder_of(None);
    for path in [
        "/",
        "/v1/health",
        "/v1/version",
        "/v1/capabilities",
        "/v1/openapi.json",
    ] {
        let answer = nobody.get(path).await;
        answer.success();
        assert!(!answer.text.is_empty());
    }
}
