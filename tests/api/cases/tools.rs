//! Every MCP tool, success and refusal. Tools and REST are one set of operations, so
//! what one writes the other reads.

use serde_json::json;

use crate::case::{Context, cases};
use crate::redact::redact;

cases![
    tools_do_what_rest_does,
    a_tool_that_fails_says_how_to_go_on,
    recall_explains_itself_to_agents,
    resources_and_prompts_show_memories,
];

async fn tools_do_what_rest_does(cx: Context) {
    let stored = cx.api.tool("remember", json!({"content": "The deploy region is eu-west-1", "scope": cx.scope, "key": "region", "kind": "fact"})).await;
    let id = stored["items"][0]["id"].as_str().unwrap().to_owned();
    let got = cx.api.get(&format!("/v1/memories/{id}")).await.success()["memory"].clone();
    assert_eq!(
        cx.api.tool("get", json!({"ids": [id]})).await["memories"],
        json!([got])
    );
    assert_eq!(
        cx.api
            .tool("get", json!({"key": "region", "scope": cx.scope}))
            .await["memories"],
        json!([got])
    );
    let listed = cx.api.tool("list", json!({"scope": cx.scope})).await;
    assert_eq!(
        (&listed["total"], &listed["memories"][0]["id"]),
        (&json!(1), &json!(id))
    );
    let recalled = cx
        .api
        .tool(
            "recall",
            json!({"query": "deploy region", "scope": cx.scope}),
        )
        .await;
    assert_eq!(recalled["hits"][0]["id"], id.as_str());
    let start = cx.api.tool("watch", json!({"scope": cx.scope})).await;
    let updated = cx.api.tool("update", json!({"id": id, "content": "The deploy region is eu-central-1", "expected_version": 1, "reason": "moved"})).await;
    assert_eq!(
        (&updated["outcome"], &updated["memory"]["version"]),
        (&json!("updated"), &json!(2))
    );
    let history = cx
        .api
        .tool("history", json!({"key": "region", "scope": cx.scope}))
        .await;
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
    let restored = cx
        .api
        .tool("restore", json!({"id": id, "version": 1}))
        .await;
    assert_eq!(
        restored["memory"]["content"],
        "The deploy region is eu-west-1"
    );
    let scopes = cx.api.tool("scopes", json!({"below": cx.scope})).await;
    assert_eq!(scopes["scopes"][0]["memories"], 1);
    let forgotten = cx
        .api
        .tool(
            "forget",
            json!({"key": "region", "scope": cx.scope, "reason": "done"}),
        )
        .await;
    assert_eq!(forgotten["items"][0]["outcome"], "forgotten");
    let changes = cx
        .api
        .tool(
            "watch",
            json!({"scope": cx.scope, "cursor": start["next_cursor"]}),
        )
        .await;
    let events: Vec<&str> = changes["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["updated", "restored", "forgotten"]);
    assert!(cx.api.list(&cx.scope).await.is_empty());
    let purged = cx
        .api
        .tool("forget", json!({"id": id, "purge": true}))
        .await;
    assert_eq!(purged["items"][0]["outcome"], "purged");
    assert_eq!(
        cx.api
            .tool("forget", json!({"id": id, "purge": true}))
            .await["items"][0]["outcome"],
        "missing"
    );
    insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false}, {
        insta::assert_json_snapshot!("tool_remember", redact(&stored, &cx.target.run));
        insta::assert_json_snapshot!("tool_update", redact(&updated, &cx.target.run));
        insta::assert_json_snapshot!("tool_history", redact(&history, &cx.target.run));
        insta::assert_json_snapshot!("tool_watch", redact(&changes, &cx.target.run));
    });
}

async fn a_tool_that_fails_says_how_to_go_on(cx: Context) {
    for (tool, arguments, named) in [
        ("remember", json!({}), "content"),
        ("remember", json!({"content": "a", "text": "b"}), "text"),
        (
            "remember",
            json!({"content": "a", "scope": "../b"}),
            "scope",
        ),
        (
            "remember",
            json!({"content": "a", "confidence": 7}),
            "confidence",
        ),
        (
            "remember",
            json!({"content": "a", "expires_at": "tomorrow"}),
            "expires_at",
        ),
        ("recall", json!({}), "query"),
        ("recall", json!({"query": "a", "k": 5}), "k"),
        ("recall", json!({"query": "a", "limit": "ten"}), "limit"),
        ("recall", json!({"query": "a", "mode": "fuzzy"}), "mode"),
        (
            "recall",
            json!({"query": "a", "filter": {"lang": "en"}}),
            "filter",
        ),
        ("get", json!({}), "id"),
        ("list", json!({"cursor": "nonsense"}), "cursor"),
        ("update", json!({"content": "a"}), "id"),
        (
            "update",
            json!({"id": "nothing", "content": "a"}),
            "nothing",
        ),
        ("forget", json!({}), "id"),
        ("history", json!({"id": "nothing"}), "nothing"),
        ("restore", json!({"id": "nothing"}), "nothing"),
        ("scopes", json!({"below": "a//b"}), "below"),
        ("watch", json!({"cursor": "nonsense"}), "cursor"),
    ] {
        let said = cx.api.tool_error(tool, arguments.clone()).await;
        assert!(said.contains(named), "{tool} {arguments}: {said}");
    }
    let id = cx
        .api
        .remember(json!({"content": "a", "scope": cx.scope}))
        .await;
    let said = cx
        .api
        .tool_error(
            "update",
            json!({"id": id, "content": "b", "expected_version": 9}),
        )
        .await;
    assert!(said.contains("expected_version"), "{said}");
}

async fn recall_explains_itself_to_agents(cx: Context) {
    cx.api.remember(json!({"content": "The boiler was replaced in March", "scope": cx.scope, "kind": "fact", "title": "Boiler"})).await;
    cx.api
        .remember(json!({"content": "The garden was planted in May", "scope": cx.scope}))
        .await;
    let reply = cx.api.tool("recall", json!({"query": "boiler replaced", "mode": "keyword", "scope": cx.scope, "reach": "exact"})).await;
    let hit = &reply["hits"][0];
    assert_eq!(hit["why"]["keyword"]["rank"], 1);
    assert!(hit["why"]["keyword"]["score"].as_f64().unwrap() > 0.0);
    assert!(!hit["why"]["terms"].as_array().unwrap().is_empty());
    let receipt = &reply["receipt"];
    assert!(
        receipt["position"].as_u64().unwrap() > 0
            && receipt["coverage"]["records"].as_u64().unwrap() >= 2,
        "{receipt}"
    );
    insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false}, {
        insta::assert_json_snapshot!("tool_recall", redact(&reply, &cx.target.run));
    });
    // Found nothing here, though it is somewhere: an agent is told where to look.
    let empty = cx.api.tool("recall", json!({"query": "boiler", "mode": "keyword", "scope": format!("{}/empty", cx.scope), "reach": "exact"})).await;
    assert!(empty["hits"].as_array().unwrap().is_empty());
    assert!(
        empty["hint"].as_str().is_some_and(|hint| !hint.is_empty()),
        "{empty}"
    );
}

async fn resources_and_prompts_show_memories(cx: Context) {
    let content = "The lighthouse keeper is called Imogen";
    let id = cx
        .api
        .remember(json!({"content": content, "scope": cx.scope}))
        .await;
    let read = async |uri: &str| {
        let answer = cx
            .api
            .mcp("/mcp", "resources/read", json!({"uri": uri}))
            .await;
        let shown = &answer.success()["result"]["contents"][0];
        assert_eq!(
            (&shown["uri"], &shown["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        serde_json::from_str::<serde_json::Value>(shown["text"].as_str().unwrap()).unwrap()
    };
    assert_eq!(
        read(&format!("memory://item/{id}")).await["content"],
        content
    );
    assert!(read("memory://recent").await["memories"].is_array());
    assert!(read("memory://scopes").await["scopes"].is_array());
    for uri in [
        "memory://item/nothing",
        "memory://item/",
        "memory://nothing",
        "file:///etc/passwd",
        "",
    ] {
        let answer = cx
            .api
            .mcp("/mcp", "resources/read", json!({"uri": uri}))
            .await;
        assert_eq!(
            answer.json["error"]["code"], -32602,
            "{uri}: {}",
            answer.text
        );
    }
    let prompt =
        json!({"name": "context", "arguments": {"topic": "lighthouse keeper", "scope": cx.scope}});
    let answer = cx.api.mcp("/mcp", "prompts/get", prompt).await;
    assert!(
        answer.success()["result"]["messages"]
            .to_string()
            .contains("Imogen"),
        "{}",
        answer.text
    );
    for params in [
        json!({"name": "context", "arguments": {}}),
        json!({"name": "nothing"}),
    ] {
        let answer = cx.api.mcp("/mcp", "prompts/get", params).await;
        assert_eq!(answer.json["error"]["code"], -32602, "{}", answer.text);
    }
}
