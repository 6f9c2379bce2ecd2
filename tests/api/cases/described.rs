//! Every route of the `OpenAPI` document is called, and answers as it is described.

use serde_json::{Value, json};

use crate::case::{Context, cases};
use crate::client::encode;
use crate::redact::redact;
use crate::schema::misfits;

cases![every_route_answers_as_described];

async fn every_route_answers_as_described(cx: Context) {
    let document = cx.api.get("/v1/openapi.json").await.success().clone();
    assert_eq!(document["openapi"], "3.1.0");
    let id = cx
        .api
        .remember(json!({"content": "described", "scope": cx.scope, "key": "described"}))
        .await;
    let scope = encode(&cx.scope);
    let mut called = std::collections::BTreeSet::new();
    let calls: Vec<(&str, String, Value, &str)> = vec![
        (
            "POST",
            "/v1/memories".into(),
            json!({"content": "one", "scope": cx.scope}),
            "/v1/memories",
        ),
        (
            "POST",
            "/v1/memories".into(),
            json!({"content": "one", "scope": cx.scope}),
            "/v1/memories",
        ),
        (
            "POST",
            "/v1/memories".into(),
            json!({"items": [{"content": "two", "scope": cx.scope}, {"content": ""}]}),
            "/v1/memories",
        ),
        (
            "GET",
            format!("/v1/memories?scope={scope}"),
            Value::Null,
            "/v1/memories",
        ),
        (
            "POST",
            "/v1/memories/recall".into(),
            json!({"query": "described", "mode": "keyword", "scope": cx.scope}),
            "/v1/memories/recall",
        ),
        (
            "GET",
            format!(
                "/v1/memories/recall?query=described&mode=keyword&scope={scope}&limit=3&reach=exact&kinds=a&kinds=b"
            ),
            Value::Null,
            "/v1/memories/recall",
        ),
        (
            "GET",
            format!("/v1/memories/{id}"),
            Value::Null,
            "/v1/memories/{id}",
        ),
        (
            "GET",
            format!("/v1/memories/by-key/described?scope={scope}"),
            Value::Null,
            "/v1/memories/by-key/{key}",
        ),
        (
            "POST",
            "/v1/memories/get".into(),
            json!({"ids": [id, "nothing"]}),
            "/v1/memories/get",
        ),
        (
            "PATCH",
            format!("/v1/memories/{id}"),
            json!({"title": "a"}),
            "/v1/memories/{id}",
        ),
        (
            "PATCH",
            format!("/v1/memories/by-key/described?scope={scope}"),
            json!({"title": "b"}),
            "/v1/memories/by-key/{key}",
        ),
        (
            "GET",
            format!("/v1/memories/{id}/history"),
            Value::Null,
            "/v1/memories/{id}/history",
        ),
        (
            "DELETE",
            format!("/v1/memories/by-key/described?scope={scope}"),
            Value::Null,
            "/v1/memories/by-key/{key}",
        ),
        (
            "POST",
            format!("/v1/memories/{id}/restore"),
            json!({}),
            "/v1/memories/{id}/restore",
        ),
        (
            "DELETE",
            format!("/v1/memories/{id}"),
            Value::Null,
            "/v1/memories/{id}",
        ),
        (
            "POST",
            "/v1/memories/forget".into(),
            json!({"ids": ["nothing"]}),
            "/v1/memories/forget",
        ),
        (
            "GET",
            format!("/v1/scopes?below={scope}"),
            Value::Null,
            "/v1/scopes",
        ),
        (
            "PUT",
            "/v1/scopes".into(),
            json!({"scope": cx.scope, "guidance": "what is described"}),
            "/v1/scopes",
        ),
        (
            "GET",
            format!("/v1/watch?scope={scope}"),
            Value::Null,
            "/v1/watch",
        ),
        (
            "GET",
            "/v1/export?limit=3".into(),
            Value::Null,
            "/v1/export",
        ),
        ("GET", "/v1/health".into(), Value::Null, "/v1/health"),
        ("GET", "/v1/version".into(), Value::Null, "/v1/version"),
        (
            "GET",
            "/v1/capabilities".into(),
            Value::Null,
            "/v1/capabilities",
        ),
        (
            "GET",
            "/v1/openapi.json".into(),
            Value::Null,
            "/v1/openapi.json",
        ),
        // Refusals are described too.
        (
            "GET",
            "/v1/memories/nothing".into(),
            Value::Null,
            "/v1/memories/{id}",
        ),
        (
            "GET",
            "/v1/memories?limit=x".into(),
            Value::Null,
            "/v1/memories",
        ),
        (
            "POST",
            "/v1/memories".into(),
            json!({"content": " "}),
            "/v1/memories",
        ),
        (
            "POST",
            "/v1/memories".into(),
            json!({"content": "x", "scope": cx.scope, "key": "k", "expected_version": 7}),
            "/v1/memories",
        ),
    ];
    let mut kept = serde_json::Map::new();
    for (method, path, body, described) in calls {
        let asking = cx.api.ask(method, &path);
        let answer = if body.is_null() {
            asking.send().await
        } else {
            asking.json(&body).send().await
        };
        let operation = &document["paths"][described][method.to_lowercase()];
        assert!(
            operation.is_object(),
            "{method} {described} is not described"
        );
        called.insert(operation["operationId"].as_str().unwrap().to_owned());
        let mut response = &operation["responses"][answer.status.as_str()];
        if let Some(reference) = response["$ref"].as_str() {
            response = document.pointer(reference.trim_start_matches('#')).unwrap();
        }
        assert!(
            response.is_object(),
            "{method} {path}: {} is not described",
            answer.status
        );
        let schema = &response["content"]["application/json"]["schema"];
        let misfits = misfits(&document, described, &answer.json, schema);
        assert!(
            misfits.is_empty(),
            "{method} {path}: {misfits:#?}\n{}",
            answer.text
        );
        let name = format!("{method} {described} {}", answer.status.as_u16());
        if !matches!(
            described,
            "/v1/openapi.json" | "/v1/capabilities" | "/v1/version" | "/v1/export"
        ) {
            kept.insert(name, redact(&answer.json, &cx.target.run));
        }
    }
    let all: std::collections::BTreeSet<String> = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|item| item.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(called, all, "routes that this case does not call");
    insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false}, {
        insta::assert_json_snapshot!("rest_answers", Value::Object(kept));
    });
}
