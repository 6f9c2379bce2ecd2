//! Pages, cursors and bounded replies.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::case::{Context, cases};
use crate::client::encode;

cases![
    a27_pages_neither_repeat_nor_skip,
    a27_a_tampered_cursor_is_refused,
    a39_replies_are_bounded,
    history_and_scopes_have_pages,
];

/// What a client with a context of 25,000 tokens can take.
const LARGEST_REPLY: usize = 80_000;

async fn a27_pages_neither_repeat_nor_skip(cx: Context) {
    let writer = cx.unembedded();
    let items = |from: usize, to: usize| -> Vec<Value> {
        (from..to).map(|n| json!({"content": format!("row {n}"), "scope": cx.scope, "created_at": "2026-07-25T02:00:00Z"})).collect()
    };
    writer
        .post("/v1/memories", json!({"items": items(0, 250)}))
        .await
        .status(201);
    for order in ["newest", "oldest"] {
        let (mut seen, mut cursor, mut pages) = (Vec::new(), None::<String>, 0);
        loop {
            let after = cursor
                .map(|cursor| format!("&cursor={}", encode(&cursor)))
                .unwrap_or_default();
            let page = cx
                .api
                .get(&format!(
                    "/v1/memories?limit=100&order={order}&scope={}{after}",
                    encode(&cx.scope)
                ))
                .await;
            let reply = page.success();
            seen.extend(crate::client::contents(&reply["memories"]));
            pages += 1;
            assert!(reply["total"].as_u64().unwrap() >= 250);
            match reply["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
            let from = 1000 + pages * 10 + if order == "newest" { 0 } else { 500 };
            writer
                .post("/v1/memories", json!({"items": items(from, from + 5)}))
                .await
                .status(201);
        }
        assert!(pages >= 3, "{pages}");
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(
            distinct.len(),
            seen.len(),
            "a page repeats what another had"
        );
        for n in 0..250 {
            assert!(distinct.contains(&format!("row {n}")), "row {n} is skipped");
        }
    }
}

async fn a27_a_tampered_cursor_is_refused(cx: Context) {
    let items: Vec<_> = (0..3)
        .map(|n| json!({"content": format!("row {n}"), "scope": cx.scope}))
        .collect();
    cx.api
        .post("/v1/memories", json!({"items": items}))
        .await
        .status(201);
    let page = cx
        .api
        .get(&format!("/v1/memories?limit=1&scope={}", encode(&cx.scope)))
        .await;
    let cursor = page.success()["next_cursor"].as_str().unwrap().to_owned();
    let mut flipped = cursor.clone().into_bytes();
    let middle = flipped.len() / 2;
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    for wrong in [
        String::from_utf8(flipped).unwrap(),
        "x".to_owned(),
        "0".to_owned(),
        format!("{cursor}{cursor}"),
    ] {
        let answer = cx
            .api
            .get(&format!(
                "/v1/memories?limit=1&scope={}&cursor={}",
                encode(&cx.scope),
                encode(&wrong)
            ))
            .await;
        answer.refused(400, "invalid", Some("cursor"));
    }
    // A cursor belongs to the arguments that it came with.
    let answer = cx
        .api
        .get(&format!(
            "/v1/memories?limit=1&order=oldest&scope={}&cursor={}",
            encode(&cx.scope),
            encode(&cursor)
        ))
        .await;
    answer.refused(400, "invalid", Some("cursor"));
}

async fn a39_replies_are_bounded(cx: Context) {
    let writer = cx.unembedded();
    for chunk in 0..8 {
        let items: Vec<_> = (0..100).map(|n| json!({"content": format!("memory {chunk} {n} {}", "lorem ipsum dolor ".repeat(113)), "scope": cx.scope})).collect();
        writer
            .post("/v1/memories", json!({"items": items}))
            .await
            .status(201);
    }
    let recalled = cx.api.post("/v1/memories/recall", json!({"query": "lorem memory", "mode": "keyword", "scope": cx.scope, "reach": "exact", "limit": 1000})).await;
    assert!(
        recalled.text.len() < LARGEST_REPLY,
        "{}",
        recalled.text.len()
    );
    assert_eq!(
        (&recalled.success()["truncated"], &recalled.json["matched"]),
        (&json!(true), &json!(800))
    );
    let listed = cx
        .api
        .get(&format!(
            "/v1/memories?limit=100000&scope={}",
            encode(&cx.scope)
        ))
        .await;
    assert!(listed.text.len() < LARGEST_REPLY, "{}", listed.text.len());
    assert!(listed.success()["next_cursor"].is_string());
    assert_eq!(listed.json["total"], 800);
    let few = cx.api.post("/v1/memories/recall", json!({"query": "lorem", "mode": "keyword", "scope": cx.scope, "reach": "exact", "limit": 100, "max_tokens": 1000})).await;
    assert!(
        few.text.len() < 12_000 && few.success()["truncated"] == true,
        "{}",
        few.text.len()
    );
    // What an agent sees is bounded too, and so is one very long memory.
    for (tool, arguments) in [
        (
            "recall",
            json!({"query": "lorem memory", "scope": cx.scope, "limit": 100}),
        ),
        ("list", json!({"scope": cx.scope, "limit": 500})),
    ] {
        let result = cx.api.tool_result(tool, arguments).await;
        let text: usize = result["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|block| block["text"].as_str())
            .map(str::len)
            .sum();
        assert!(text < LARGEST_REPLY, "{tool}: {text}");
    }
    let long = "0123456789abcde ".repeat((2 << 20) / 16);
    let id = writer
        .remember(json!({"content": long, "scope": format!("{}/long", cx.scope)}))
        .await;
    let got = cx.api.get(&format!("/v1/memories/{id}")).await;
    let memory = &got.success()["memory"];
    assert!(got.text.len() < LARGEST_REPLY, "{}", got.text.len());
    assert_eq!(
        (&memory["content_truncated"], &memory["content_bytes"]),
        (&json!(true), &json!(long.len()))
    );
    let next = memory["next_offset"].as_u64().unwrap();
    let more = cx
        .api
        .get(&format!("/v1/memories/{id}?content_offset={next}"))
        .await;
    assert_eq!(more.success()["memory"]["content_offset"], next);
    let over = format!("{long}x");
    writer
        .post("/v1/memories", json!({"content": over, "scope": cx.scope}))
        .await
        .refused(413, "too_large", Some("content"));
}

async fn history_and_scopes_have_pages(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "version 1", "scope": cx.scope}))
        .await;
    for n in 2..=5 {
        cx.api
            .patch(
                &format!("/v1/memories/{id}"),
                json!({"content": format!("version {n}"), "reason": format!("because {n}")}),
            )
            .await
            .status(200);
    }
    let first = cx
        .api
        .get(&format!("/v1/memories/{id}/history?limit=3"))
        .await
        .success()
        .clone();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = cx
        .api
        .get(&format!(
            "/v1/memories/{id}/history?limit=3&cursor={}",
            encode(cursor)
        ))
        .await
        .success()
        .clone();
    let versions: Vec<&Value> = first["versions"]
        .as_array()
        .unwrap()
        .iter()
        .chain(rest["versions"].as_array().unwrap())
        .collect();
    let told: Vec<String> = versions
        .iter()
        .map(|version| version["memory"]["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        told,
        [
            "version 5",
            "version 4",
            "version 3",
            "version 2",
            "version 1"
        ]
    );
    assert_eq!(
        (
            &versions[0]["event"],
            &versions[0]["reason"],
            &versions[0]["changed"]
        ),
        (&json!("updated"), &json!("because 5"), &json!(["content"]))
    );
    assert_eq!(versions[4]["event"], "created");
    assert!(rest.get("next_cursor").is_none());
    for n in 0..5 {
        cx.api
            .remember(json!({"content": "x", "scope": format!("{}/s{n}", cx.scope)}))
            .await;
    }
    let page = cx
        .api
        .get(&format!("/v1/scopes?limit=4&below={}", encode(&cx.scope)))
        .await
        .success()
        .clone();
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = cx
        .api
        .get(&format!(
            "/v1/scopes?limit=4&below={}&cursor={}",
            encode(&cx.scope),
            encode(cursor)
        ))
        .await
        .success()
        .clone();
    assert_eq!(
        page["scopes"].as_array().unwrap().len() + rest["scopes"].as_array().unwrap().len(),
        6
    );
}
