//! Retries and duplicates.

use serde_json::{Value, json};

use crate::case::{Context, cases};

cases![
    a13_a_retry_stores_once,
    a13_one_name_for_two_bodies_is_refused,
    a14_near_duplicates_are_kept,
    #[other_tenant]
    a15_duplicates_are_found_within_a_tenant_and_scope_alone,
    the_same_content_again_is_unchanged,
    a_key_is_replaced_and_versions_are_expected,
];

async fn a13_a_retry_stores_once(cx: Context) {
    let key = format!("k-001-{}", cx.scope);
    let body = json!({"content": "retry me", "scope": cx.scope, "metadata": {"n": 1}});
    let send = || async {
        let answer = cx
            .api
            .ask("POST", "/v1/memories")
            .header("idempotency-key", &key)
            .json(&body)
            .send()
            .await;
        let reply = answer.success();
        assert_eq!(
            reply["items"][0]["outcome"], "created",
            "the answer of a retry is the first answer"
        );
        reply["items"][0]["id"].as_str().unwrap().to_owned()
    };
    let first = send().await;
    assert_eq!(send().await, first);
    let ids = futures::future::join_all((0..10).map(|_| send())).await;
    assert!(ids.iter().all(|id| *id == first), "{ids:?}");
    assert_eq!(cx.api.list(&cx.scope).await.len(), 1);
    // Ten at once that nobody has seen before, by the argument instead of the header.
    let body = json!({"content": "retry us", "scope": format!("{}/b", cx.scope), "idempotency_key": format!("{key}-b")});
    let answers =
        futures::future::join_all((0..10).map(|_| cx.api.post("/v1/memories", body.clone()))).await;
    let ids: Vec<Value> = answers
        .iter()
        .map(|answer| answer.success()["items"][0]["id"].clone())
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(cx.api.list(&format!("{}/b", cx.scope)).await.len(), 1);
}

async fn a13_one_name_for_two_bodies_is_refused(cx: Context) {
    let key = format!("k-002-{}", cx.scope);
    let send = |content: &'static str| {
        cx.api
            .ask("POST", "/v1/memories")
            .header("idempotency-key", &key)
            .json(&json!({"content": content, "scope": cx.scope}))
            .send()
    };
    send("one").await.status(201);
    send("two")
        .await
        .refused(409, "conflict", Some("idempotency_key"));
    assert_eq!(cx.api.list(&cx.scope).await, ["one"]);
    let answer = cx
        .api
        .ask("POST", "/v1/memories")
        .header("idempotency-key", &key)
        .json(&json!({"content": "one", "scope": cx.scope, "idempotency_key": "another"}))
        .send()
        .await;
    answer.refused(400, "invalid", Some("idempotency_key"));
    for blank in [" ".to_owned(), "x".repeat(300)] {
        cx.api
            .post(
                "/v1/memories",
                json!({"content": "one", "scope": cx.scope, "idempotency_key": blank}),
            )
            .await
            .refused(400, "invalid", Some("idempotency_key"));
    }
    // Other operations take names too, and do the thing once.
    let id = cx
        .api
        .remember(json!({"content": "count me", "scope": cx.scope}))
        .await;
    let update = json!({"title": "counted", "idempotency_key": format!("{key}-u")});
    let first = cx
        .api
        .patch(&format!("/v1/memories/{id}"), update.clone())
        .await
        .status(200)
        .clone();
    let again = cx
        .api
        .patch(&format!("/v1/memories/{id}"), update)
        .await
        .status(200)
        .clone();
    assert_eq!(first["memory"]["version"], again["memory"]["version"]);
}

async fn a14_near_duplicates_are_kept(cx: Context) {
    for content in [
        "run 41: 812 ms",
        "run 42: 655 ms",
        "run 42: 655 ms.",
        "Run 42: 655 ms",
    ] {
        let answer = cx
            .api
            .post(
                "/v1/memories",
                json!({"content": content, "scope": cx.scope}),
            )
            .await;
        assert_eq!(
            answer.success()["items"][0]["outcome"],
            "created",
            "{content}"
        );
    }
    assert_eq!(cx.api.list(&cx.scope).await.len(), 4);
    let hits = cx
        .api
        .recall(json!({"query": "run 42", "scope": cx.scope, "reach": "exact"}))
        .await;
    assert!(hits[0].contains("655 ms"), "{hits:?}");
}

async fn a15_duplicates_are_found_within_a_tenant_and_scope_alone(cx: Context) {
    let other = cx.other_tenant();
    let body = json!({"content": "I am vegetarian", "scope": cx.scope, "key": "diet"});
    let alice = cx.api.remember(body.clone()).await;
    let bob = other.remember(body).await;
    assert_ne!(alice, bob);
    assert_eq!(cx.api.list(&cx.scope).await.len(), 1);
    assert_eq!(other.list(&cx.scope).await.len(), 1);
    for (reader, id) in [(&other, &alice), (&cx.api, &bob)] {
        reader
            .get(&format!("/v1/memories/{id}"))
            .await
            .refused(404, "not_found", None);
        reader
            .get(&format!("/v1/memories/{id}/history"))
            .await
            .status(404);
        reader
            .patch(
                &format!("/v1/memories/{id}"),
                json!({"content": "I eat everything"}),
            )
            .await
            .status(404);
        reader
            .delete(&format!("/v1/memories/{id}"))
            .await
            .status(404);
        reader
            .post(&format!("/v1/memories/{id}/restore"), json!({}))
            .await
            .status(404);
    }
    let elsewhere = cx
        .api
        .remember(json!({"content": "I am vegetarian", "scope": format!("{}/b", cx.scope)}))
        .await;
    assert_ne!(alice, elsewhere);
}

async fn the_same_content_again_is_unchanged(cx: Context) {
    let body = json!({"content": "the sky is blue", "scope": cx.scope, "title": "sky"});
    let first = cx
        .api
        .post("/v1/memories", body.clone())
        .await
        .status(201)
        .clone();
    let again = cx.api.post("/v1/memories", body).await.status(200).clone();
    assert_eq!(again["items"][0]["outcome"], "unchanged");
    assert_eq!(again["items"][0]["id"], first["items"][0]["id"]);
    let changed = cx
        .api
        .post(
            "/v1/memories",
            json!({"content": "the sky is blue", "scope": cx.scope, "title": "weather"}),
        )
        .await;
    assert_eq!(changed.status(200)["items"][0]["outcome"], "updated");
    assert_eq!(cx.api.list(&cx.scope).await.len(), 1);
}

async fn a_key_is_replaced_and_versions_are_expected(cx: Context) {
    let send = |content: &'static str, expected: Option<u64>| {
        cx.api.post("/v1/memories", json!({"content": content, "scope": cx.scope, "key": "plan", "expected_version": expected}))
    };
    send("first", Some(0)).await.status(201);
    send("second", Some(0))
        .await
        .refused(409, "conflict", Some("expected_version"));
    let updated = send("second", Some(1)).await.status(200).clone();
    assert_eq!(
        (
            &updated["items"][0]["outcome"],
            &updated["items"][0]["version"]
        ),
        (&json!("updated"), &json!(2))
    );
    send("third", Some(1))
        .await
        .refused(409, "conflict", Some("expected_version"));
    send("third", None).await.status(200);
    assert_eq!(cx.api.list(&cx.scope).await, ["third"]);
    let answer = cx
        .api
        .post(
            "/v1/memories",
            json!({"content": "no key", "scope": cx.scope, "expected_version": 1}),
        )
        .await;
    answer.refused(400, "invalid", Some("expected_version"));
}
