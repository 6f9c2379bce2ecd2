//! What people type as a query is text, never syntax.

use serde_json::json;

use crate::case::{Context, cases};

cases![
    a05_punctuation_is_no_syntax,
    a06_colons_and_hyphens_are_literal,
    a07_a_star_is_refused_and_names_list,
    a08_blank_is_refused_everywhere,
];

async fn a05_punctuation_is_no_syntax(cx: Context) {
    cx.api
        .remember(
            json!({"content": "don't use agents in Downloads/transcripts", "scope": cx.scope}),
        )
        .await;
    cx.api
        .remember(json!({"content": "something else entirely", "scope": cx.scope}))
        .await;
    let queries = [
        "don't use agents",
        "Downloads/transcripts",
        "\"unbalanced",
        "a AND (b",
        "NEAR(x y)",
        "foo^2",
        "~",
        "-x",
        "'; DROP TABLE memories; --",
        "[a-z]*",
        "a:b:c",
        "\\",
        "%",
        "_",
        "{\"op\":\"and\"}",
        "?",
        "OR",
        "NOT",
        "🟡",
        "a\u{0}b",
    ];
    for mode in ["keyword", "hybrid"] {
        if mode == "hybrid" && !cx.target.has(crate::target::Needs::Semantic) {
            continue;
        }
        for query in queries {
            let answer = cx
                .api
                .post(
                    "/v1/memories/recall",
                    json!({"query": query, "mode": mode, "scope": cx.scope, "reach": "exact"}),
                )
                .await;
            answer.status(200);
        }
    }
    for query in ["don't use agents", "Downloads/transcripts", "\"don't"] {
        let hits = cx
            .api
            .recall(json!({"query": query, "mode": "keyword", "scope": cx.scope, "reach": "exact"}))
            .await;
        assert_eq!(
            hits.first().map(String::as_str),
            Some("don't use agents in Downloads/transcripts"),
            "{query}"
        );
    }
}

async fn a06_colons_and_hyphens_are_literal(cx: Context) {
    for content in [
        "TODO: fix login",
        "order BENCH-100821 shipped",
        "order BENCH-100822 shipped",
        "fix the roof",
    ] {
        cx.api
            .remember(json!({"content": content, "scope": cx.scope}))
            .await;
    }
    for (query, first) in [
        ("TODO: fix login", "TODO: fix login"),
        ("BENCH-100821", "order BENCH-100821 shipped"),
        ("order BENCH-100821", "order BENCH-100821 shipped"),
        ("bench-100822", "order BENCH-100822 shipped"),
    ] {
        let hits = cx
            .api
            .recall(json!({"query": query, "mode": "keyword", "scope": cx.scope, "reach": "exact"}))
            .await;
        assert_eq!(
            hits.first().map(String::as_str),
            Some(first),
            "{query}: {hits:?}"
        );
    }
}

async fn a07_a_star_is_refused_and_names_list(cx: Context) {
    let items: Vec<_> = (0..30)
        .map(|n| json!({"content": format!("item {n}"), "scope": cx.scope}))
        .collect();
    cx.api
        .post("/v1/memories", json!({"items": items}))
        .await
        .status(201);
    for query in ["*", " * "] {
        let answer = cx
            .api
            .post(
                "/v1/memories/recall",
                json!({"query": query, "scope": cx.scope}),
            )
            .await;
        let error = answer.refused(400, "invalid", Some("query"));
        assert!(
            error["message"].as_str().unwrap().contains("list"),
            "{error}"
        );
        let said = cx
            .api
            .tool_error("recall", json!({"query": query, "scope": cx.scope}))
            .await;
        assert!(said.contains("list"), "{said}");
    }
    assert_eq!(cx.api.list(&cx.scope).await.len(), 30);
}

async fn a08_blank_is_refused_everywhere(cx: Context) {
    for content in ["   ", "\u{200b}", "", "\n\t", "\u{feff}", "\u{3000}"] {
        let answer = cx
            .api
            .post(
                "/v1/memories",
                json!({"content": content, "scope": cx.scope}),
            )
            .await;
        answer.refused(400, "invalid", Some("content"));
        cx.api
            .tool_error("remember", json!({"content": content, "scope": cx.scope}))
            .await;
    }
    for query in ["\n", "", "\u{200b}"] {
        cx.api
            .post("/v1/memories/recall", json!({"query": query}))
            .await
            .refused(400, "invalid", Some("query"));
    }
    cx.api
        .post("/v1/memories/recall", json!({}))
        .await
        .refused(400, "invalid", Some("query"));
    let id = cx
        .api
        .remember(json!({"content": "not blank", "scope": format!("{}/x", cx.scope)}))
        .await;
    cx.api
        .patch(&format!("/v1/memories/{id}"), json!({"content": " "}))
        .await
        .refused(400, "invalid", Some("content"));
    assert!(cx.api.list(&cx.scope).await.is_empty());
}
