//! Many memories at once.

use serde_json::json;

use crate::case::{Context, cases};

cases![
    a11_each_item_of_a_batch_has_its_outcome,
    a11_a_batch_that_fails_whole_stores_nothing,
    a12_a_long_in_list_is_one_filter,
    a12_a_batch_over_the_limit_is_refused,
];

async fn a11_each_item_of_a_batch_has_its_outcome(cx: Context) {
    let content = |n: usize| {
        if n == 6 {
            "  ".to_owned()
        } else {
            format!("note number {n}")
        }
    };
    let items: Vec<_> = (0..10)
        .map(|n| json!({"content": content(n), "scope": cx.scope}))
        .collect();
    let answer = cx.api.post("/v1/memories", json!({"items": items})).await;
    let reply = answer.status(207);
    assert_eq!(reply["failed"], 1);
    let outcomes = reply["items"].as_array().unwrap();
    assert_eq!(outcomes.len(), 10);
    for (n, item) in outcomes.iter().enumerate() {
        assert_eq!(
            item["outcome"],
            if n == 6 { "failed" } else { "created" },
            "{n}"
        );
        assert_eq!(item["id"].is_string(), n != 6, "{n}");
    }
    assert_eq!(outcomes[6]["error"]["code"], "invalid");
    assert_eq!(outcomes[6]["error"]["field"], "items[6].content");
    assert_eq!(cx.api.list(&cx.scope).await.len(), 9);
    // Only the one that failed has to be sent again.
    cx.api
        .remember(json!({"content": "note number 6", "scope": cx.scope}))
        .await;
    assert_eq!(cx.api.list(&cx.scope).await.len(), 10);
    // Wrong in a way that only its type tells: the whole call is refused, naming the item.
    let answer = cx
        .api
        .post(
            "/v1/memories",
            json!({"items": [{"content": "a", "scope": cx.scope}, {"content": 5}]}),
        )
        .await;
    answer.refused(400, "invalid", Some("items[1].content"));
    assert_eq!(cx.api.list(&cx.scope).await.len(), 10);
}

async fn a11_a_batch_that_fails_whole_stores_nothing(cx: Context) {
    let answer = cx.api.post("/v1/memories", json!({"items": [{"content": " ", "scope": cx.scope}, {"content": "", "scope": cx.scope}]})).await;
    let reply = answer.status(207);
    assert_eq!(reply["failed"], 2);
    cx.api
        .post("/v1/memories", json!({"items": []}))
        .await
        .refused(400, "invalid", Some("items"));
    assert!(cx.api.list(&cx.scope).await.is_empty());
}

async fn a12_a_long_in_list_is_one_filter(cx: Context) {
    let writer = cx.unembedded();
    for chunk in 0..3 {
        let items: Vec<_> = (0..200).map(|n| json!({"content": format!("part {chunk} {n}"), "scope": cx.scope, "metadata": {"number": chunk * 200 + n}})).collect();
        writer
            .post("/v1/memories", json!({"items": items}))
            .await
            .status(201);
    }
    let numbers: Vec<u32> = (0..5000).map(|n| n * 2).collect();
    let filter = json!({"op": "in", "field": "number", "value": numbers});
    let answer = cx.api.post("/v1/memories/recall", json!({"query": "part", "mode": "keyword", "scope": cx.scope, "reach": "exact", "filter": filter, "limit": 10})).await;
    assert_eq!(answer.success()["matched"], 300);
}

async fn a12_a_batch_over_the_limit_is_refused(cx: Context) {
    let most = cx.target.limit("items");
    let items: Vec<_> = (0..=most)
        .map(|n| json!({"content": format!("n {n}"), "scope": cx.scope}))
        .collect();
    cx.api
        .post("/v1/memories", json!({"items": items}))
        .await
        .refused(413, "too_large", Some("items"));
    let ids: Vec<_> = (0..=most).map(|n| format!("id{n}")).collect();
    cx.api
        .post("/v1/memories/get", json!({"ids": ids}))
        .await
        .refused(413, "too_large", Some("ids"));
    assert!(cx.api.list(&cx.scope).await.is_empty());
}
