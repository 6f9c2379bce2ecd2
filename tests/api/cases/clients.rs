//! What clients need of a tool list, and what replies may weigh.

use serde_json::{Value, json};

use crate::case::{Context, cases};
use crate::schema::misfits;

cases![
    a35_every_tool_is_portable,
    a35_what_a_tool_answers_fits_its_schema
];

fn complaints(path: &str, schema: &Value, found: &mut Vec<String>) {
    match schema["type"].as_str() {
        Some("string" | "integer" | "number" | "boolean" | "object") => {}
        Some("array") if schema["items"].is_object() => {}
        _ => found.push(format!("{path}: no plain type: {schema}")),
    }
    for banned in [
        "$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "format", "nullable", "const",
    ] {
        if schema.get(banned).is_some() {
            found.push(format!("{path}: {banned}"));
        }
    }
    if schema["enum"]
        .as_array()
        .is_some_and(|values| !values.iter().all(Value::is_string))
    {
        found.push(format!("{path}: an enum of other than strings"));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        complaints(&format!("{path}.{name}"), property, found);
    }
    if schema["items"].is_object() {
        complaints(&format!("{path}[]"), &schema["items"], found);
    }
}

async fn tools(cx: &Context, path: &str) -> Vec<Value> {
    let answer = cx.api.mcp(path, "tools/list", json!({})).await;
    answer.success()["result"]["tools"]
        .as_array()
        .expect("tools")
        .clone()
}

async fn a35_every_tool_is_portable(cx: Context) {
    let tools = tools(&cx, "/mcp").await;
    assert!(
        tools.len() <= 15,
        "an agent should not have to choose among {}",
        tools.len()
    );
    let mut found = Vec::new();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(
            name.len() <= 64
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
            "{name}"
        );
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        complaints(name, &tool["inputSchema"], &mut found);
        complaints(&format!("{name}->"), &tool["outputSchema"], &mut found);
        assert!(
            tool["title"].is_string()
                && tool["description"]
                    .as_str()
                    .is_some_and(|text| text.len() >= 60),
            "{name}"
        );
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    let again = self::tools(&cx, "/mcp").await;
    assert_eq!(tools, again, "the list differs from call to call");
    let read_only: Vec<String> = self::tools(&cx, "/mcp/readonly")
        .await
        .iter()
        .map(|tool| {
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
            tool["name"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(
        read_only.contains(&"recall".to_owned()) && !read_only.contains(&"remember".to_owned())
    );
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    insta::with_settings!({snapshot_path => "../snapshots", prepend_module_to_snapshot => false}, {
        insta::assert_json_snapshot!("tool_names", names);
    });
}

async fn a35_what_a_tool_answers_fits_its_schema(cx: Context) {
    let tools = tools(&cx, "/mcp").await;
    let id = cx.api.remember(json!({"content": "a lantern", "scope": cx.scope, "title": "t", "metadata": {"a": [1, "b", null]}})).await;
    cx.api
        .patch(&format!("/v1/memories/{id}"), json!({"title": "u"}))
        .await
        .status(200);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let arguments = match name {
            "remember" => {
                json!({"items": [{"content": "b lantern", "scope": cx.scope}, {"content": " "}]})
            }
            "recall" => json!({"query": "lantern", "scope": cx.scope}),
            "get" => json!({"ids": [id, "nothing"]}),
            "list" | "watch" => json!({"scope": cx.scope}),
            "update" => json!({"id": id, "kind": "note"}),
            "forget" => json!({"ids": ["nothing"]}),
            "history" => json!({"id": id}),
            "restore" => json!({"id": id, "version": 1}),
            "scopes" => json!({"below": cx.scope}),
            other => panic!("a tool that this case does not know: {other}"),
        };
        let result = cx.api.tool_result(name, arguments).await;
        assert_ne!(result["isError"], true, "{name}: {result:#}");
        let misfits = misfits(
            &tool["outputSchema"],
            name,
            &result["structuredContent"],
            &tool["outputSchema"],
        );
        assert!(misfits.is_empty(), "{misfits:#?}\n{result:#}");
    }
}
