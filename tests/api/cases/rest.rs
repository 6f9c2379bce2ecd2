//! What REST takes and what it refuses, beyond what its description says.

use serde_json::{Value, json};

use crate::case::{Context, cases};
use crate::client::encode;

cases![
    bodies_that_are_no_json_are_refused,
    unknown_fields_and_parameters_are_refused,
    unknown_paths_and_methods_are_json,
    scopes_have_guidance,
    everything_can_be_exported,
    a_memory_keeps_all_its_fields,
    recall_takes_a_vector_of_the_callers_own,
    whole_numbers_are_exact_or_refused,
];

async fn bodies_that_are_no_json_are_refused(cx: Context) {
    let post = |media: &'static str, body: Vec<u8>| {
        cx.api.ask("POST", "/v1/memories").bytes(media, body).send()
    };
    for (media, body) in [
        ("text/plain", "{\"content\":\"x\"}"),
        ("", "{\"content\":\"x\"}"),
        ("application/x-www-form-urlencoded", "content=x"),
        ("application/jsonx", "{}"),
    ] {
        post(media, body.into())
            .await
            .refused(415, "unsupported_media_type", None);
    }
    for body in [
        "",
        "{",
        "[]",
        "\"x\"",
        "null",
        "{\"content\":\"x\"} trailing",
        "{\"content\":\"\u{1}\"}",
        "{'content':'x'}",
        "{\"content\":\"\\ud800\"}",
    ] {
        post("application/json", body.into())
            .await
            .refused(400, "invalid", None);
    }
    post(
        "application/json",
        vec![0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d],
    )
    .await
    .refused(400, "invalid", None);
    let deep = format!(
        "{{\"content\":\"x\",\"metadata\":{}1{}}}",
        "{\"a\":".repeat(2000),
        "}".repeat(2000)
    );
    post("application/json", deep.into_bytes())
        .await
        .refused(400, "invalid", None);
    let over = format!(
        "{{\"content\":\"{}\"}}",
        "x".repeat(cx.target.limit("body_bytes"))
    );
    let answer = post("application/json", over.into_bytes()).await;
    answer.refused(413, "too_large", None);
    let answer = post(
        "application/json; charset=utf-8",
        format!("{{\"content\":\"fine\",\"scope\":\"{}\"}}", cx.scope).into_bytes(),
    )
    .await;
    answer.status(201);
    assert_eq!(cx.api.list(&cx.scope).await, ["fine"]);
}

async fn unknown_fields_and_parameters_are_refused(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "strict", "scope": cx.scope}))
        .await;
    for (path, body, field) in [
        ("/v1/memories", json!({"content": "x", "text": "y"}), "text"),
        ("/v1/memories", json!({"text": "y"}), "text"),
        (
            "/v1/memories",
            json!({"items": [{"content": "x", "tags": []}]}),
            "items[0].tags",
        ),
        (
            "/v1/memories",
            json!({"items": [{"content": "x"}], "scope": "y"}),
            "scope",
        ),
        (
            "/v1/memories/recall",
            json!({"query": "x", "namespace": "y"}),
            "namespace",
        ),
        (
            "/v1/memories/recall",
            json!({"query": "x", "limit": 2.5}),
            "limit",
        ),
        (
            "/v1/memories/recall",
            json!({"query": "x", "kinds": "fact"}),
            "kinds",
        ),
        (
            "/v1/memories/get",
            json!({"ids": ["a"], "purge": true}),
            "purge",
        ),
        (
            "/v1/memories/forget",
            json!({"ids": ["a"], "purge": "yes"}),
            "purge",
        ),
    ] {
        cx.api
            .post(path, body)
            .await
            .refused(400, "invalid", Some(field));
    }
    for (path, field) in [
        ("/v1/memories?page=2", "page"),
        ("/v1/memories?limit=1&limit=2", "limit"),
        ("/v1/memories?reach=everywhere", "reach"),
        ("/v1/memories/recall?q=x", "q"),
        ("/v1/memories/recall?query=x&min_score=high", "min_score"),
        ("/v1/scopes?scope=x", "scope"),
        ("/v1/watch?wait_seconds=soon", "wait_seconds"),
        ("/v1/export?format=csv", "format"),
    ] {
        cx.api.get(path).await.refused(400, "invalid", Some(field));
    }
    cx.api
        .get(&format!("/v1/memories/{id}?full=true"))
        .await
        .refused(400, "invalid", Some("full"));
    cx.api
        .delete(&format!("/v1/memories/{id}?purge=1"))
        .await
        .refused(400, "invalid", Some("purge"));
    cx.api
        .delete(&format!("/v1/memories/{id}?force=true"))
        .await
        .refused(400, "invalid", Some("force"));
    cx.api
        .patch(&format!("/v1/memories/{id}"), json!({"text": "x"}))
        .await
        .refused(400, "invalid", Some("text"));
    assert_eq!(cx.api.list(&cx.scope).await, ["strict"]);
}

async fn unknown_paths_and_methods_are_json(cx: Context) {
    for path in [
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/memories/",
        "/v1/memories/a/b",
        "/v2/memories",
        "/nothing",
        "/v1/memories/by-key/",
        "/v1/keys",
    ] {
        cx.api.get(path).await.refused(404, "not_found", None);
    }
    for (method, path, allowed) in [
        ("PUT", "/v1/memories", ["GET", "POST"].as_slice()),
        ("DELETE", "/v1/memories", &["GET", "POST"]),
        ("POST", "/v1/memories/x", &["GET", "PATCH", "DELETE"]),
        ("GET", "/v1/memories/forget", &["POST"]),
        ("POST", "/v1/health", &["GET"]),
        ("DELETE", "/v1/scopes", &["GET", "PUT"]),
        ("GET", "/v1/memories/x/restore", &["POST"]),
    ] {
        let answer = cx.api.ask(method, path).send().await;
        answer.refused(405, "method_not_allowed", None);
        let allow = answer.header("allow").unwrap_or_default();
        assert!(
            allowed.iter().all(|method| allow.contains(method)),
            "{method} {path}: {allow}"
        );
    }
}

async fn scopes_have_guidance(cx: Context) {
    cx.api
        .remember(json!({"content": "x", "scope": cx.scope}))
        .await;
    let describe = |guidance: Value| {
        cx.api.put(
            "/v1/scopes",
            json!({"scope": cx.scope, "guidance": guidance}),
        )
    };
    let shown = || async {
        let reply = cx
            .api
            .get(&format!("/v1/scopes?below={}", encode(&cx.scope)))
            .await
            .success()
            .clone();
        reply["scopes"][0]["guidance"].clone()
    };
    describe(json!("Only what the lanterns are about."))
        .await
        .status(200);
    assert_eq!(shown().await, "Only what the lanterns are about.");
    describe(Value::Null).await.status(200);
    assert_eq!(shown().await, Value::Null);
    let answer = describe(json!("x".repeat(1 << 20))).await;
    assert!(
        matches!(answer.status.as_u16(), 400 | 413),
        "{}",
        answer.text
    );
    cx.api
        .put("/v1/scopes", json!({"scope": "a//b", "guidance": "x"}))
        .await
        .refused(400, "invalid", Some("scope"));
}

async fn everything_can_be_exported(cx: Context) {
    let writer = cx.unembedded();
    let items: Vec<_> = (0..25).map(|n| json!({"content": format!("export {n} {}", "long ".repeat(1000)), "scope": cx.scope, "metadata": {"n": n}})).collect();
    writer
        .post("/v1/memories", json!({"items": items}))
        .await
        .status(201);
    let scope = encode(&cx.scope);
    for lines in [false, true] {
        let (mut contents, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let after = cursor
                .map(|cursor| format!("&cursor={}", encode(&cursor)))
                .unwrap_or_default();
            let path = format!("/v1/export?scope={scope}&limit=10{after}");
            let accept = if lines {
                "application/x-ndjson"
            } else {
                "application/json"
            };
            let page = cx
                .api
                .ask("GET", &path)
                .header("accept", accept)
                .send()
                .await;
            page.status(200);
            let memories: Vec<Value> = if lines {
                assert_eq!(page.header("content-type"), Some("application/x-ndjson"));
                page.text
                    .lines()
                    .map(|line| serde_json::from_str(line).unwrap())
                    .collect()
            } else {
                page.json["memories"].as_array().unwrap().clone()
            };
            assert!(
                memories
                    .iter()
                    .all(|memory| memory.get("content_truncated").is_none())
            );
            contents.extend(
                memories
                    .iter()
                    .map(|memory| memory["content"].as_str().unwrap().to_owned()),
            );
            cursor = if lines {
                page.header("x-next-cursor").map(str::to_owned)
            } else {
                page.json["next_cursor"].as_str().map(str::to_owned)
            };
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(contents.len(), 25);
        assert!(contents.iter().enumerate().all(|(n, content)| {
            content.starts_with(&format!("export {n} ")) && content.len() > 5000
        }));
    }
}

async fn a_memory_keeps_all_its_fields(cx: Context) {
    let memory = json!({
        "content": "all of it\nwith a second line", "scope": cx.scope, "key": "full", "title": "Everything", "kind": "note",
        "metadata": {"text": "a", "whole": 1, "float": 1.0, "big": 9_007_199_254_740_993_i64, "yes": true, "nothing": null, "list": [1, 2], "mixed": [1, "a", null], "nested": {"a": {"b": []}}, "place": {"lat": 52.5, "lon": 13.4}},
        "source": "a letter", "confidence": 0.75, "sensitivity": "personal", "expires_at": "2999-12-31T23:59:59.5+02:00",
    });
    let id = cx.api.remember(memory.clone()).await;
    let got = cx.api.get(&format!("/v1/memories/{id}")).await;
    let shown = &got.success()["memory"];
    for (name, value) in memory.as_object().unwrap() {
        if name != "expires_at" {
            assert_eq!(&shown[name], value, "{name}");
        }
    }
    assert_eq!(shown["expires_at"], "2999-12-31T21:59:59.500Z");
    assert_eq!(
        (&shown["status"], &shown["version"]),
        (&json!("active"), &json!(1))
    );
    assert!(
        got.text.contains("\"whole\":1,") || got.text.contains("\"whole\":1}"),
        "{}",
        got.text
    );
    assert!(got.text.contains("\"float\":1.0"), "{}", got.text);
    let answer = cx
        .api
        .ask("POST", "/v1/memories")
        .json(&json!({"content": "located", "scope": cx.scope}))
        .send()
        .await;
    let location = answer.header("location").unwrap().to_owned();
    assert_eq!(
        cx.api.get(&location).await.success()["memory"]["content"],
        "located"
    );
}

async fn whole_numbers_are_exact_or_refused(cx: Context) {
    let remember = |number: &str| {
        let body = format!(
            "{{\"content\":\"number {number}\",\"scope\":\"{}\",\"metadata\":{{\"n\":{number}}}}}",
            cx.scope
        );
        cx.api
            .ask("POST", "/v1/memories")
            .bytes("application/json", body.into_bytes())
            .send()
    };
    for number in [
        "9007199254740993",
        "-9223372036854775808",
        "18446744073709551615",
        "1.0",
        "0",
    ] {
        let id = remember(number).await.success()["items"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let got = cx.api.get(&format!("/v1/memories/{id}")).await;
        assert!(
            got.text.contains(&format!("\"n\":{number}}}")),
            "{}",
            got.text
        );
    }
    for number in ["18446744073709551616", "-9223372036854775809"] {
        remember(number).await.refused(400, "invalid", None);
        let message = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{{\"name\":\"remember\",\"arguments\":{{\"content\":\"x\",\"metadata\":{{\"n\":{number}}}}}}}}}"
        );
        let answer = cx
            .api
            .ask("POST", "/mcp")
            .header("mcp-protocol-version", "2025-11-25")
            .bytes("application/json", message.into_bytes())
            .send()
            .await;
        assert_eq!(
            (&answer.json["id"], &answer.json["error"]["code"]),
            (&json!(7), &json!(-32602)),
            "{}",
            answer.text
        );
    }
    assert_eq!(cx.api.list(&cx.scope).await.len(), 5);
}

async fn recall_takes_a_vector_of_the_callers_own(cx: Context) {
    // What length a vector must have is the server's business; a wrong one is refused by name.
    for vector in [json!([]), json!([1.0, "x"]), json!("x")] {
        let answer = cx
            .api
            .post("/v1/memories/recall", json!({"vector": vector}))
            .await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        assert!(
            answer.json["error"]["field"]
                .as_str()
                .unwrap()
                .starts_with("vector"),
            "{}",
            answer.text
        );
    }
    let answer = cx
        .api
        .post(
            "/v1/memories/recall",
            json!({"vector": [1.0, 2.0], "mode": "keyword"}),
        )
        .await;
    answer.refused(400, "invalid", Some("query"));
}
