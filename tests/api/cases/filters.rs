//! Filters are applied exactly or refused, never ignored.

use serde_json::{Value, json};

use crate::case::{Context, cases};

cases![
    a23_filters_are_applied_exactly,
    a23_what_is_not_understood_is_refused,
    a24_patterns_are_literal,
    kinds_and_reach_narrow_a_recall,
];

async fn names(cx: &Context, filter: &Value) -> Vec<String> {
    let body = json!({"query": "item", "mode": "keyword", "scope": cx.scope, "reach": "exact", "filter": filter, "limit": 100});
    let mut recalled = cx.api.recall(body).await;
    let listed = cx
        .api
        .get(&format!(
            "/v1/memories?scope={}&filter={}",
            crate::client::encode(&cx.scope),
            crate::client::encode(&filter.to_string())
        ))
        .await;
    let mut listed = crate::client::contents(&listed.success()["memories"]);
    recalled.sort();
    listed.sort();
    assert_eq!(recalled, listed, "recall and list disagree on {filter}");
    recalled
        .iter()
        .map(|content| content.trim_start_matches("item ").to_owned())
        .collect()
}

async fn a23_filters_are_applied_exactly(cx: Context) {
    let items = [
        (
            "two",
            json!({"priority": 2, "status": "a", "due": "2026-07-25T00:00:00Z", "a.b": 1}),
        ),
        ("three", json!({"priority": 3, "status": "b", "x": null})),
        ("null", json!({"priority": null})),
        ("absent", json!({})),
        ("text", json!({"priority": "10"})),
        ("float", json!({"priority": 3.5, "tags": ["a", "b"]})),
    ];
    let items: Vec<_> = items.iter().map(|(name, metadata)| json!({"content": format!("item {name}"), "scope": cx.scope, "metadata": metadata})).collect();
    cx.api
        .post("/v1/memories", json!({"items": items}))
        .await
        .status(201);
    for (filter, expected) in [
        (
            json!({"op": "gte", "field": "priority", "value": 3}),
            vec!["float", "three"],
        ),
        (
            json!({"op": "eq", "field": "priority", "value": 3}),
            vec!["three"],
        ),
        (
            json!({"op": "eq", "field": "priority", "value": 3.0}),
            vec![],
        ),
        (
            json!({"op": "eq", "field": "priority", "value": "10"}),
            vec!["text"],
        ),
        (
            json!({"op": "ne", "field": "priority", "value": 3}),
            vec!["two"],
        ),
        (
            json!({"op": "in", "field": "status", "value": ["a"]}),
            vec!["two"],
        ),
        (
            json!({"op": "contains", "field": "tags", "value": "b"}),
            vec!["float"],
        ),
        (
            json!({"op": "or", "or": [{"op": "eq", "field": "status", "value": "a"}, {"op": "eq", "field": "status", "value": "b"}]}),
            vec!["three", "two"],
        ),
        (
            json!({"op": "not", "not": {"op": "is_empty", "field": "status"}}),
            vec!["three", "two"],
        ),
        (json!({"op": "is_null", "field": "x"}), vec!["three"]),
        (json!({"op": "eq", "field": "a.b", "value": 1}), vec!["two"]),
        (
            json!({"op": "and", "and": [{"op": "gt", "field": "priority", "value": 1}, {"op": "lt", "field": "priority", "value": 3}]}),
            vec!["two"],
        ),
        (json!({"op": "or", "or": []}), vec![]),
        (
            json!({"op": "eq", "field": "priority", "value": {"kind": "int", "int": 2}}),
            vec!["two"],
        ),
        (
            json!({"op": "match", "field": "$content", "value": "float"}),
            vec!["float"],
        ),
    ] {
        assert_eq!(names(&cx, &filter).await, expected, "{filter}");
    }
    assert_eq!(names(&cx, &json!({"op": "and", "and": []})).await.len(), 6);
}

async fn a23_what_is_not_understood_is_refused(cx: Context) {
    cx.api
        .remember(json!({"content": "item", "scope": cx.scope, "metadata": {"priority": 2}}))
        .await;
    for filter in [
        json!({"priority": {"gte": 3}}),
        json!({"status": {"in": ["a"]}}),
        json!({"$or": [{"op": "eq", "field": "a", "value": 1}]}),
        json!({"priority": {"banana": 1}}),
        json!({"due": {"lt": "2026-08-01"}}),
        json!({"a.b": 1}),
        json!({"x": null}),
        json!({"lang": "en"}),
        json!({}),
        json!({"op": "banana", "field": "priority", "value": 1}),
        json!({"op": "eq", "value": 1}),
        json!({"op": "eq", "field": "priority"}),
        json!({"op": "eq", "field": "priority", "value": 1, "extra": true}),
        json!({"op": "in", "field": "priority", "value": 3}),
        json!({"op": "not"}),
        json!({"op": "regex", "field": "status", "value": "("}),
        json!({"op": "dt_gte", "field": "due", "value": "2026-02-30"}),
        json!({"op": "and", "and": [{"op": "eq", "field": "a", "value": 1}, {"op": "banana"}]}),
        json!({"op": "eq", "field": "$nothing", "value": 1}),
        json!({"op": "geo_radius", "field": "place", "geo": {"center_lat": 0, "center_lon": 0, "radius_m": -1}}),
    ] {
        for answer in [
            cx.api
                .post(
                    "/v1/memories/recall",
                    json!({"query": "item", "scope": cx.scope, "filter": filter}),
                )
                .await,
            cx.api
                .get(&format!(
                    "/v1/memories?filter={}",
                    crate::client::encode(&filter.to_string())
                ))
                .await,
        ] {
            assert_eq!(answer.status, 400, "{filter}: {}", answer.text);
            let field = answer.json["error"]["field"].as_str().unwrap_or_default();
            assert!(field.starts_with("filter"), "{filter}: {}", answer.text);
        }
        cx.api
            .tool_error("recall", json!({"query": "item", "filter": filter}))
            .await;
    }
    // The refusal names the operator.
    let answer = cx
        .api
        .post(
            "/v1/memories/recall",
            json!({"query": "item", "filter": {"op": "banana", "field": "a", "value": 1}}),
        )
        .await;
    assert!(answer.text.contains("banana"), "{}", answer.text);
    for filter in [json!([]), json!("x"), json!(1)] {
        cx.api
            .post(
                "/v1/memories/recall",
                json!({"query": "item", "filter": filter}),
            )
            .await
            .refused(400, "invalid", Some("filter"));
    }
}

async fn a24_patterns_are_literal(cx: Context) {
    for tag in ["100%", "100x", "my_tag", "myXtag", "a,b"] {
        cx.api.remember(json!({"content": format!("item {tag}"), "scope": cx.scope, "kind": tag, "metadata": {"tags": [tag], "tag": tag}})).await;
    }
    for tag in ["my_tag", "100%", "a,b"] {
        assert_eq!(
            names(
                &cx,
                &json!({"op": "contains", "field": "tags", "value": tag})
            )
            .await,
            [tag]
        );
        assert_eq!(
            names(&cx, &json!({"op": "eq", "field": "tag", "value": tag})).await,
            [tag]
        );
        let hits = cx.api.recall(json!({"query": "item", "mode": "keyword", "scope": cx.scope, "reach": "exact", "kinds": [tag]})).await;
        assert_eq!(hits, [format!("item {tag}")]);
        let listed = cx
            .api
            .get(&format!(
                "/v1/memories?scope={}&kinds={}",
                crate::client::encode(&cx.scope),
                crate::client::encode(tag)
            ))
            .await;
        assert_eq!(
            crate::client::contents(&listed.success()["memories"]),
            [format!("item {tag}")]
        );
    }
}

async fn kinds_and_reach_narrow_a_recall(cx: Context) {
    let place = |path: &str| format!("{}{path}", cx.scope);
    for (path, kind) in [
        ("", "fact"),
        ("/a", "fact"),
        ("/a/b", "decision"),
        ("/a/b/c", "fact"),
        ("/ab", "fact"),
    ] {
        cx.api.remember(json!({"content": format!("lantern at [{path}]"), "scope": place(path), "kind": kind})).await;
    }
    for (reach, expected) in [
        ("exact", vec!["/a/b"]),
        ("inherited", vec!["", "/a", "/a/b"]),
        ("below", vec!["/a/b", "/a/b/c"]),
    ] {
        let mut hits = cx.api.recall(json!({"query": "lantern", "mode": "keyword", "scope": place("/a/b"), "reach": reach, "limit": 50})).await;
        hits.sort();
        let mut expected: Vec<_> = expected
            .iter()
            .map(|path| format!("lantern at [{path}]"))
            .collect();
        expected.sort();
        assert_eq!(hits, expected, "{reach}");
    }
    let hits = cx.api.recall(json!({"query": "lantern", "mode": "keyword", "scope": place("/a/b"), "kinds": ["decision"]})).await;
    assert_eq!(hits, ["lantern at [/a/b]"]);
    let scopes = cx
        .api
        .get(&format!(
            "/v1/scopes?below={}",
            crate::client::encode(&cx.scope)
        ))
        .await;
    let counts: Vec<(String, u64)> = scopes.success()["scopes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scope| {
            (
                scope["path"].as_str().unwrap().replace(&cx.scope, ""),
                scope["memories"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        counts,
        [("", 1), ("/a", 1), ("/a/b", 1), ("/a/b/c", 1), ("/ab", 1)]
            .map(|(path, count)| (path.to_owned(), count))
    );
}
