//! What was forgotten, replaced or belongs to others is nowhere.

use serde_json::{Value, json};

use crate::case::{Context, cases};
use crate::client::{Client, contents, encode};
use crate::target::Needs;

cases![
    a19_forgotten_memories_leave_their_places_to_live_ones,
    a20_forgotten_memories_are_in_no_answer,
    a20_purged_memories_are_in_no_history,
    #[other_tenant]
    a21_no_argument_leaves_the_tenant,
    a22_what_is_replaced_is_found_in_no_mode,
];

/// The modes that the target has.
fn modes(cx: &Context) -> &'static [&'static str] {
    if cx.target.has(Needs::Semantic) {
        &["keyword", "semantic", "hybrid"]
    } else {
        &["keyword"]
    }
}

async fn a19_forgotten_memories_leave_their_places_to_live_ones(cx: Context) {
    let items: Vec<_> = (0..12).map(|n| json!({"content": format!("pump maintenance {}", "pump ".repeat(12 - n)), "scope": cx.scope})).collect();
    let reply = cx
        .api
        .post("/v1/memories", json!({"items": items}))
        .await
        .status(201)
        .clone();
    let ids: Vec<Value> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].clone())
        .collect();
    let ranked = cx
        .api
        .post(
            "/v1/memories/recall",
            json!({"query": "pump maintenance", "scope": cx.scope, "reach": "exact", "limit": 10}),
        )
        .await;
    let best: Vec<Value> = ranked.success()["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["id"].clone())
        .collect();
    assert_eq!(best.len(), 10);
    let forgotten = cx
        .api
        .post("/v1/memories/forget", json!({"ids": best}))
        .await
        .status(200)
        .clone();
    assert!(
        forgotten["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["outcome"] == "forgotten")
    );
    for mode in modes(&cx) {
        let answer = cx.api.post("/v1/memories/recall", json!({"query": "pump maintenance", "mode": mode, "scope": cx.scope, "reach": "exact", "limit": 2})).await;
        let live: Vec<&Value> = answer.success()["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| &hit["id"])
            .collect();
        assert_eq!(live.len(), 2, "{mode}");
        assert!(
            live.iter().all(|id| ids.contains(id) && !best.contains(id)),
            "{mode}"
        );
    }
}

/// Whether a secret is in any answer that a tenant can get.
async fn is_seen(cx: &Context, api: &Client, secret: &str, id: &str) -> Option<String> {
    for mode in modes(cx) {
        for reach in ["exact", "inherited", "below", "all"] {
            let answer = api.post("/v1/memories/recall", json!({"query": secret, "mode": mode, "scope": cx.scope, "reach": reach, "limit": 100})).await;
            if contents(&answer.success()["hits"])
                .iter()
                .any(|content| content == secret)
            {
                return Some(format!("recall {mode} {reach}"));
            }
        }
    }
    let got = api.post("/v1/memories/get", json!({"ids": [id]})).await;
    if !got.success()["memories"].as_array().unwrap().is_empty() {
        return Some("get".to_owned());
    }
    if api
        .list(&cx.scope)
        .await
        .iter()
        .any(|content| content == secret)
    {
        return Some("list".to_owned());
    }
    for (method, params) in [
        (
            "resources/read",
            json!({"uri": format!("memory://item/{id}")}),
        ),
        ("resources/read", json!({"uri": "memory://recent"})),
        (
            "prompts/get",
            json!({"name": "context", "arguments": {"topic": secret, "scope": cx.scope}}),
        ),
    ] {
        let answer = api.mcp("/mcp", method, params.clone()).await;
        // The prompt repeats its topic; only a memory brings the id with it.
        let shown = if method == "prompts/get" { id } else { secret };
        if answer.json["result"].to_string().contains(shown) {
            return Some(format!("{method} {params}"));
        }
    }
    let mut cursor = String::new();
    loop {
        let page = api
            .get(
                &format!("/v1/export?cursor={}&limit=500", encode(&cursor)).replace("cursor=&", ""),
            )
            .await;
        if page.success()["memories"]
            .as_array()
            .unwrap()
            .iter()
            .any(|memory| memory["content"] == secret)
        {
            return Some("export".to_owned());
        }
        match page.json["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => return None,
        }
    }
}

async fn a20_forgotten_memories_are_in_no_answer(cx: Context) {
    let secret = "the vault code is 4471";
    let id = cx
        .api
        .remember(json!({"content": secret, "scope": cx.scope, "key": "vault"}))
        .await;
    assert!(is_seen(&cx, &cx.api, secret, &id).await.is_some());
    let by_key = format!("/v1/memories/by-key/vault?scope={}", encode(&cx.scope));
    let reply = cx.api.delete(&by_key).await.status(200).clone();
    assert_eq!(
        reply["items"][0],
        json!({"outcome": "forgotten", "id": id, "key": "vault", "scope": cx.scope})
    );
    assert_eq!(is_seen(&cx, &cx.api, secret, &id).await, None);
    cx.api.get(&by_key).await.refused(404, "not_found", None);
    cx.api.delete(&by_key).await.status(404);
    cx.api
        .patch(&format!("/v1/memories/{id}"), json!({"content": "x"}))
        .await
        .status(404);
    // It can come back, because nothing was erased.
    let restored = cx
        .api
        .post(&format!("/v1/memories/{id}/restore"), json!({}))
        .await
        .status(200)
        .clone();
    assert_eq!(restored["memory"]["content"], secret);
    assert!(is_seen(&cx, &cx.api, secret, &id).await.is_some());
    // The key is free while a memory is forgotten, and taken again when another holds it.
    cx.api
        .delete(&format!("/v1/memories/{id}"))
        .await
        .status(200);
    let second = cx
        .api
        .remember(json!({"content": "another vault", "scope": cx.scope, "key": "vault"}))
        .await;
    assert_ne!(second, id);
    cx.api
        .post(&format!("/v1/memories/{id}/restore"), json!({}))
        .await
        .status(409);
}

async fn a20_purged_memories_are_in_no_history(cx: Context) {
    let secret = "the safe code is 9902";
    let id = cx
        .api
        .remember(json!({"content": "to be changed", "scope": cx.scope}))
        .await;
    cx.api
        .patch(&format!("/v1/memories/{id}"), json!({"content": secret}))
        .await
        .status(200);
    let position = cx.api.get(&format!("/v1/memories/{id}")).await.success()["receipt"]["position"]
        .as_u64()
        .unwrap();
    let reply = cx
        .api
        .delete(&format!("/v1/memories/{id}?purge=true"))
        .await
        .status(200)
        .clone();
    assert_eq!(reply["items"][0]["outcome"], "purged");
    assert_eq!(is_seen(&cx, &cx.api, secret, &id).await, None);
    let past = cx
        .api
        .get(&format!("/v1/memories/{id}?as_of={position}"))
        .await;
    assert!(
        past.status == 404 && !past.text.contains("9902"),
        "{}",
        past.text
    );
    let past = cx
        .api
        .post(
            "/v1/memories/recall",
            json!({"query": secret, "mode": "keyword", "scope": cx.scope, "as_of": position}),
        )
        .await;
    assert!(
        !past.success()["hits"].to_string().contains("9902"),
        "{}",
        past.text
    );
    for answer in [
        cx.api.get(&format!("/v1/memories/{id}/history")).await,
        cx.api
            .post(&format!("/v1/memories/{id}/restore"), json!({"version": 1}))
            .await,
    ] {
        answer.status(404);
    }
}

async fn a21_no_argument_leaves_the_tenant(cx: Context) {
    let other = cx.other_tenant();
    let secret = format!("alpha secret {}", cx.scope);
    let id = cx.api.remember(json!({"content": secret})).await;
    let key = format!("alpha-{}", cx.target.run);
    cx.api
        .remember(json!({"content": format!("{secret} keyed"), "key": key}))
        .await;
    for arguments in [
        json!({"query": secret}),
        json!({"query": secret, "scope": ""}),
        json!({"query": secret, "reach": "all"}),
        json!({"query": secret, "scope": "", "reach": "below", "mode": "keyword"}),
    ] {
        let answer = other.post("/v1/memories/recall", arguments.clone()).await;
        assert!(
            !answer.success()["hits"].to_string().contains(&secret),
            "{arguments}: {}",
            answer.text
        );
        assert!(
            other.tool("recall", arguments).await["hits"]
                .as_array()
                .unwrap()
                .iter()
                .all(|hit| hit["content"] != secret.as_str())
        );
    }
    for scope in ["*", "../A", "..", "a/../b", "/", "a//b", "/a", "a/"] {
        other
            .post(
                "/v1/memories/recall",
                json!({"query": secret, "scope": scope}),
            )
            .await
            .refused(400, "invalid", Some("scope"));
        other
            .post("/v1/memories", json!({"content": "x", "scope": scope}))
            .await
            .refused(400, "invalid", Some("scope"));
        other
            .get(&format!("/v1/memories?scope={}", encode(scope)))
            .await
            .refused(400, "invalid", Some("scope"));
    }
    // No surface takes a tenant.
    other
        .post(
            "/v1/memories/recall",
            json!({"query": secret, "tenant": "first"}),
        )
        .await
        .refused(400, "invalid", Some("tenant"));
    other
        .get("/v1/memories?tenant=first")
        .await
        .refused(400, "invalid", Some("tenant"));
    assert_eq!(is_seen(&cx, &other, &secret, &id).await, None);
    other
        .get(&format!("/v1/memories/by-key/{}", encode(&key)))
        .await
        .status(404);
    let got = other
        .post("/v1/memories/get", json!({"ids": [id], "keys": [key]}))
        .await;
    assert_eq!(got.success()["missing"].as_array().unwrap().len(), 2);
    let scopes = other.get("/v1/scopes").await;
    assert!(!scopes.text.contains("a20_"), "{}", scopes.text);
    // A cursor of one tenant opens nothing in another.
    let page = cx.api.get("/v1/memories?reach=all&limit=1").await;
    if let Some(cursor) = page.success()["next_cursor"].as_str() {
        other
            .get(&format!(
                "/v1/memories?reach=all&limit=1&cursor={}",
                encode(cursor)
            ))
            .await
            .refused(400, "invalid", Some("cursor"));
    }
}

async fn a22_what_is_replaced_is_found_in_no_mode(cx: Context) {
    for content in ["She lives in Lyon", "She lives in Porto"] {
        cx.api
            .remember(json!({"content": content, "scope": cx.scope, "key": "home"}))
            .await;
    }
    for mode in modes(&cx) {
        let hits = cx.api.recall(json!({"query": "where does she live", "mode": mode, "scope": cx.scope, "reach": "exact"})).await;
        assert_eq!(hits, ["She lives in Porto"], "{mode}");
        let hits = cx
            .api
            .recall(json!({"query": "Lyon", "mode": mode, "scope": cx.scope, "reach": "exact"}))
            .await;
        assert!(!hits.contains(&"She lives in Lyon".to_owned()), "{mode}");
    }
    let by_key = cx
        .api
        .get(&format!(
            "/v1/memories/by-key/home?scope={}",
            encode(&cx.scope)
        ))
        .await;
    assert_eq!(by_key.success()["memory"]["content"], "She lives in Porto");
    assert_eq!(cx.api.list(&cx.scope).await, ["She lives in Porto"]);
}
