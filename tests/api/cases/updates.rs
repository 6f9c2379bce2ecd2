//! Changing a memory.

use serde_json::{Value, json};

use crate::case::{Context, cases};

cases![
    a16_absent_stays_and_null_removes,
    #[semantic]
    a17_an_edited_memory_is_found_by_meaning,
    a18_the_old_text_is_not_found_after_an_edit,
    an_update_with_an_old_version_is_refused,
    a_memory_moves_to_another_scope_and_key,
];

async fn a16_absent_stays_and_null_removes(cx: Context) {
    let metadata = json!({"category": "work", "priority": 2, "source": "mail", "ratio": 2.0, "big": 9_007_199_254_740_993_i64});
    let id = cx.api.remember(json!({"content": "call the plumber", "scope": cx.scope, "title": "Plumber", "kind": "task", "source": "mail", "confidence": 0.5, "metadata": metadata})).await;
    let path = format!("/v1/memories/{id}");
    let before = cx.api.get(&path).await.success()["memory"].clone();
    let after = cx
        .api
        .patch(&path, json!({"content": "call the electrician"}))
        .await
        .status(200)["memory"]
        .clone();
    assert_eq!(after["content"], "call the electrician");
    for name in [
        "metadata",
        "title",
        "kind",
        "source",
        "confidence",
        "created_at",
        "scope",
    ] {
        assert_eq!(after[name], before[name], "{name}");
    }
    assert!(after["updated_at"].as_str() >= before["updated_at"].as_str());
    assert_eq!(after["version"], 2);
    let text = cx.api.get(&path).await.text;
    assert!(
        text.contains("\"big\":9007199254740993")
            && text.contains("\"ratio\":2.0")
            && text.contains("\"priority\":2,"),
        "{text}"
    );
    let after = cx.api.patch(&path, json!({"metadata": {"priority": null, "category": "home", "new": [1, 2]}, "title": null})).await.status(200)["memory"].clone();
    assert_eq!(
        after["metadata"],
        json!({"category": "home", "source": "mail", "ratio": 2.0, "big": 9_007_199_254_740_993_i64, "new": [1, 2]})
    );
    assert_eq!(after["title"], Value::Null);
    assert_eq!(after["kind"], "task");
    let after = cx
        .api
        .patch(
            &path,
            json!({"metadata": null, "kind": null, "source": null, "confidence": null}),
        )
        .await
        .status(200)["memory"]
        .clone();
    assert_eq!(after["metadata"], json!({}));
    assert!(
        after.get("kind").is_none()
            && after.get("source").is_none()
            && after.get("confidence").is_none(),
        "{after}"
    );
    let same = cx
        .api
        .patch(&path, json!({"content": "call the electrician"}))
        .await
        .status(200)
        .clone();
    assert_eq!(same["outcome"], "unchanged");
    assert_eq!(same["memory"]["version"], after["version"]);
}

async fn a17_an_edited_memory_is_found_by_meaning(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "The cat sleeps on the windowsill.", "scope": cx.scope}))
        .await;
    cx.api
        .remember(json!({"content": "Invoices are due within thirty days.", "scope": cx.scope}))
        .await;
    for content in [
        "The dog is afraid of thunder.",
        "Our puppy hides under the bed whenever a storm comes.",
    ] {
        let reply = cx
            .api
            .patch(&format!("/v1/memories/{id}"), json!({"content": content}))
            .await;
        assert_eq!(reply.status(200)["memory"]["embedding"], "ready");
        let answer = cx.api.post("/v1/memories/recall", json!({"query": "pet frightened by lightning", "mode": "semantic", "scope": cx.scope, "reach": "exact", "limit": 1})).await;
        let hit = &answer.success()["hits"][0];
        assert_eq!(hit["id"], id.as_str());
        assert_eq!(hit["content"], content);
        assert_eq!(hit["why"]["semantic"]["rank"], 1);
        assert!(hit["why"].get("keyword").is_none());
    }
}

async fn a18_the_old_text_is_not_found_after_an_edit(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "The shop uses Postgres", "scope": cx.scope}))
        .await;
    cx.api
        .patch(
            &format!("/v1/memories/{id}"),
            json!({"content": "The shop uses CockroachDB"}),
        )
        .await
        .status(200);
    let recall = |query: &'static str| {
        cx.api
            .recall(json!({"query": query, "mode": "keyword", "scope": cx.scope, "reach": "exact"}))
    };
    assert_eq!(recall("CockroachDB").await, ["The shop uses CockroachDB"]);
    assert!(recall("Postgres").await.is_empty());
    // The same by key.
    for content in ["The bakery uses Oracle", "The bakery uses SQLite"] {
        cx.api
            .remember(json!({"content": content, "scope": cx.scope, "key": "bakery"}))
            .await;
    }
    assert_eq!(recall("SQLite").await, ["The bakery uses SQLite"]);
    assert!(recall("Oracle").await.is_empty());
}

async fn an_update_with_an_old_version_is_refused(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "one", "scope": cx.scope}))
        .await;
    let path = format!("/v1/memories/{id}");
    assert_eq!(cx.api.get(&path).await.header("etag"), Some("\"1\""));
    let change = |etag: &'static str, content: &'static str| {
        cx.api
            .ask("PATCH", &path)
            .header("if-match", etag)
            .json(&json!({"content": content}))
            .send()
    };
    let answer = change("\"1\"", "two").await;
    answer.status(200);
    assert_eq!(answer.header("etag"), Some("\"2\""));
    change("\"1\"", "three")
        .await
        .refused(412, "conflict", Some("expected_version"));
    change("nonsense", "three")
        .await
        .refused(400, "invalid", Some("If-Match"));
    change("*", "three").await.status(200);
    cx.api
        .patch(&path, json!({"content": "four", "expected_version": 2}))
        .await
        .refused(409, "conflict", Some("expected_version"));
    cx.api
        .ask("DELETE", &path)
        .header("if-match", "\"2\"")
        .send()
        .await
        .refused(412, "conflict", Some("expected_version"));
    cx.api
        .delete(&format!("{path}?expected_version=2"))
        .await
        .refused(409, "conflict", Some("expected_version"));
    cx.api
        .delete(&format!("{path}?expected_version=3"))
        .await
        .status(200);
}

async fn a_memory_moves_to_another_scope_and_key(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "movable", "scope": cx.scope, "key": "old"}))
        .await;
    cx.api
        .remember(json!({"content": "in the way", "scope": cx.scope, "key": "taken"}))
        .await;
    let there = format!("{}/there", cx.scope);
    let moved = cx
        .api
        .patch(
            &format!("/v1/memories/{id}"),
            json!({"new_scope": there, "new_key": "new"}),
        )
        .await
        .status(200)["memory"]
        .clone();
    assert_eq!(
        (&moved["scope"], &moved["key"]),
        (&json!(there), &json!("new"))
    );
    let by_key = |key: &str, scope: &str| {
        format!(
            "/v1/memories/by-key/{key}?scope={}",
            crate::client::encode(scope)
        )
    };
    cx.api.get(&by_key("old", &cx.scope)).await.status(404);
    assert_eq!(
        cx.api.get(&by_key("new", &there)).await.success()["memory"]["id"],
        id.as_str()
    );
    cx.api
        .patch(
            &format!("/v1/memories/{id}"),
            json!({"new_scope": cx.scope, "new_key": "taken"}),
        )
        .await
        .status(409);
    for (field, body) in [
        ("scope", json!({"scope": "x"})),
        ("key", json!({"key": "x"})),
        ("id", json!({"id": "x"})),
    ] {
        cx.api
            .patch(&format!("/v1/memories/{id}"), body)
            .await
            .refused(400, "invalid", Some(field));
    }
    let freed = cx
        .api
        .patch(&by_key("new", &there), json!({"new_key": null}))
        .await
        .status(200)["memory"]
        .clone();
    assert!(freed.get("key").is_none());
}
