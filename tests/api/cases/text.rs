//! Text in any language, and long text.

use serde_json::json;

use crate::case::{Context, cases};

cases![
    a01_cjk_text_is_found_by_parts,
    a02_spelling_variants_are_one,
    a04_cuts_fall_between_characters,
    a09_the_last_word_of_a_long_text_is_found,
    a10_a_long_query_is_clamped,
];

async fn a01_cjk_text_is_found_by_parts(cx: Context) {
    for content in [
        "服务器部署在腾讯云国内节点",
        "今日は成語しりとりをした",
        "오늘 끝말잇기 게임을 했다",
    ] {
        cx.api
            .remember(json!({"content": content, "scope": cx.scope}))
            .await;
    }
    for (query, first) in [
        ("腾讯云", "服务器部署在腾讯云国内节点"),
        ("しりとり", "今日は成語しりとりをした"),
        ("끝말잇기", "오늘 끝말잇기 게임을 했다"),
        ("腾讯", "服务器部署在腾讯云国内节点"),
    ] {
        let hits = cx
            .api
            .recall(json!({"query": query, "mode": "keyword", "scope": cx.scope, "reach": "exact"}))
            .await;
        assert_eq!(hits, [first], "{query}");
    }
}

async fn a02_spelling_variants_are_one(cx: Context) {
    let nfc = "caf\u{e9} r\u{e9}sum\u{e9}";
    let nfd = "cafe\u{301} re\u{301}sume\u{301}";
    for content in [nfc, "ＡＰＩ", "Новосибирск", "أحمد"] {
        cx.api
            .remember(json!({"content": content, "scope": cx.scope}))
            .await;
    }
    for (query, content) in [
        (nfd, nfc),
        (nfc, nfc),
        ("cafe resume", nfc),
        ("api", "ＡＰＩ"),
        ("новосибирск", "Новосибирск"),
        ("احمد", "أحمد"),
    ] {
        let hits = cx
            .api
            .recall(json!({"query": query, "mode": "keyword", "scope": cx.scope, "reach": "exact"}))
            .await;
        assert_eq!(hits, [content], "{query}");
    }
}

async fn a04_cuts_fall_between_characters(cx: Context) {
    let writer = cx.unembedded();
    // Past every limit, with the limit inside a character, whatever the limit is.
    let long = |prefix: usize| format!("{}{}", "a".repeat(prefix), "é🟡".repeat(2000));
    for prefix in 0..4 {
        for body in [
            json!({"content": "x", "scope": cx.scope, "kind": long(prefix)}),
            json!({"content": "x", "scope": cx.scope, "key": long(prefix)}),
            json!({"content": "x", "scope": cx.scope, "title": long(prefix)}),
            json!({"content": "x", "scope": format!("{}/{}", cx.scope, long(prefix))}),
        ] {
            let answer = writer.post("/v1/memories", body).await;
            assert!(
                matches!(answer.status.as_u16(), 400 | 413),
                "{}",
                answer.text
            );
            assert!(
                answer.json["error"]["message"]
                    .as_str()
                    .is_some_and(|message| !message.is_empty())
            );
        }
    }
    for prefix in 0..4 {
        let content = long(prefix).repeat(4);
        let id = writer
            .remember(json!({"content": content, "scope": cx.scope}))
            .await;
        let (mut whole, mut offset) = (String::new(), 0);
        loop {
            let answer = cx
                .api
                .get(&format!("/v1/memories/{id}?content_offset={offset}"))
                .await;
            let memory = &answer.success()["memory"];
            whole.push_str(memory["content"].as_str().unwrap());
            match memory["next_offset"].as_u64() {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert!(whole == content, "the parts are not the whole");
        // An offset inside a character is no reason to fall over.
        cx.api
            .get(&format!("/v1/memories/{id}?content_offset={}", prefix + 1))
            .await
            .success();
        cx.api
            .get(&format!(
                "/v1/memories?scope={}",
                crate::client::encode(&cx.scope)
            ))
            .await
            .success();
    }
}

/// Ordinary prose of about this many bytes.
fn prose(bytes: usize) -> String {
    const SENTENCES: [&str; 5] = [
        "The pump in the cellar was serviced in the spring and has run without a fault since then. ",
        "Rosa keeps the spare keys in the blue tin on the second shelf of the workshop. ",
        "Every third Tuesday the committee meets to settle the plan for the coming weeks. ",
        "The river rose over the lower meadow twice, but the dam held on both occasions. ",
        "A letter from the archive confirmed that the map had been drawn after the fire. ",
    ];
    SENTENCES
        .iter()
        .cycle()
        .scan(0, |length, sentence| {
            *length += sentence.len();
            (*length <= bytes).then_some(*sentence)
        })
        .collect()
}

async fn a09_the_last_word_of_a_long_text_is_found(cx: Context) {
    let writer = cx.unembedded();
    let content = format!("{}zebrafish-7431", prose(20_000));
    let id = writer
        .remember(json!({"content": content, "scope": cx.scope}))
        .await;
    writer
        .remember(json!({"content": prose(20_000), "scope": cx.scope}))
        .await;
    let answer = cx.api.post("/v1/memories/recall", json!({"query": "zebrafish-7431", "mode": "keyword", "scope": cx.scope, "reach": "exact"})).await;
    let hits = answer.success()["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0]["id"], id.as_str());
    // A cut hit shows the part that was found, not the beginning.
    assert_eq!(hits[0]["content_truncated"], true);
    assert!(
        hits[0]["content"]
            .as_str()
            .unwrap()
            .contains("zebrafish-7431"),
        "{}",
        answer.text
    );
}

async fn a10_a_long_query_is_clamped(cx: Context) {
    cx.api
        .remember(
            json!({"content": "Rosa's favourite tea is jasmine with honey.", "scope": cx.scope}),
        )
        .await;
    cx.api
        .remember(json!({"content": prose(60_000), "scope": cx.scope}))
        .await;
    let query = format!("{}what is Rosa's favourite tea?", prose(40_000));
    let answer = cx
        .api
        .post(
            "/v1/memories/recall",
            json!({"query": query, "scope": cx.scope, "reach": "exact"}),
        )
        .await;
    let reply = answer.success();
    assert!(
        crate::client::contents(&reply["hits"])
            .iter()
            .any(|content| content.contains("jasmine")),
        "{}",
        answer.text
    );
    let degraded = reply["receipt"]["degraded"].as_array().unwrap();
    assert!(
        !degraded.is_empty(),
        "a clamped query says so: {}",
        reply["receipt"]
    );
    let too_long = "x".repeat(cx.target.limit("query_bytes") + 1);
    cx.api
        .post("/v1/memories/recall", json!({"query": too_long}))
        .await
        .refused(413, "too_large", Some("query"));
}
