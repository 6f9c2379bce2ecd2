//! What clients read about the tools: the whole list as a snapshot, and the rules that
//! keep it readable for every client.

use serde_json::{Map, Value, json};

use super::{Tool, Tools};

fn definitions() -> Vec<Value> {
    Tools::new()
        .iter()
        .map(|tool| json!(tool.definition()))
        .collect()
}

#[test]
fn the_list_as_clients_read_it() {
    insta::assert_json_snapshot!(definitions());
}

#[test]
fn a35_input_schemas_are_portable() {
    for tool in definitions() {
        let name = tool["name"].as_str().unwrap();
        assert_eq!(
            tool["inputSchema"]["additionalProperties"], false,
            "{name} takes unknown arguments"
        );
        lint(name, &tool["inputSchema"], Described::Yes);
    }
}

#[test]
fn output_schemas_are_portable_objects() {
    for tool in definitions() {
        let name = tool["name"].as_str().unwrap();
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        lint(name, &tool["outputSchema"], Described::No);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Described {
    Yes,
    No,
}

/// The dialect that every client understands, checked node by node.
fn lint(path: &str, node: &Value, described: Described) {
    let node = node
        .as_object()
        .unwrap_or_else(|| panic!("{path} is no object"));
    for keyword in [
        "$ref",
        "$defs",
        "definitions",
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "format",
        "$schema",
        "const",
        "nullable",
        "x-mcp-header",
    ] {
        assert!(!node.contains_key(keyword), "{path} uses {keyword}");
    }
    let kind = node
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("{path} has no single type"));
    assert!(
        ["object", "array", "string", "number", "integer", "boolean"].contains(&kind),
        "{path} is {kind}"
    );
    if let Some(values) = node.get("enum") {
        assert_eq!(kind, "string", "{path}");
        assert!(
            values.as_array().unwrap().iter().all(Value::is_string),
            "{path}"
        );
    }
    if kind == "array" {
        lint(
            &format!("{path}[]"),
            node.get("items")
                .unwrap_or_else(|| panic!("{path} has no items")),
            Described::No,
        );
    }
    let none = Map::new();
    let properties = node
        .get("properties")
        .map_or(&none, |properties| properties.as_object().unwrap());
    assert!(properties.is_empty() || kind == "object", "{path}");
    for required in node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        assert!(
            properties.contains_key(required.as_str().unwrap()),
            "{path} requires {required}"
        );
    }
    for (name, property) in properties {
        let path = format!("{path}.{name}");
        let usable = name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_');
        assert!(usable && name.len() <= 64, "{path}");
        if described == Described::Yes {
            assert!(
                property["description"]
                    .as_str()
                    .is_some_and(|text| text.len() > 10),
                "{path} is not described"
            );
        }
        lint(&path, property, Described::No);
    }
}

#[test]
fn names_titles_and_hints_are_complete() {
    for tool in definitions() {
        let name = tool["name"].as_str().unwrap();
        assert!(
            name.len() <= 64
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{name}"
        );
        assert!(tool["title"].is_string(), "{name}");
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
    }
    let with = |hint: &str| -> Vec<String> {
        definitions()
            .iter()
            .filter(|tool| tool["annotations"][hint] == true)
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        with("readOnlyHint"),
        ["recall", "get", "list", "history", "scopes", "watch"]
    );
    assert_eq!(with("destructiveHint"), ["update", "forget", "restore"]);
}

#[test]
fn descriptions_inform_and_do_not_order() {
    for tool in definitions() {
        let name = tool["name"].as_str().unwrap();
        let text = tool["description"].as_str().unwrap();
        assert!(
            (80..=400).contains(&text.len()),
            "{name}: {} characters",
            text.len()
        );
        let words = text.to_ascii_lowercase();
        for order in [
            "always",
            "never",
            "you must",
            "you should",
            "make sure",
            "important",
            "do not ",
        ] {
            assert!(!words.contains(order), "{name} says {order:?}");
        }
    }
}

#[test]
fn the_list_stays_affordable() {
    // What a model pays for: names, descriptions and input schemas.
    let read: usize = Tools::new()
        .iter()
        .map(|tool: &Tool| {
            let definition = tool.definition();
            definition.name.len()
                + definition.description.as_deref().map_or(0, str::len)
                + json!(definition.input_schema).to_string().len()
        })
        .sum();
    assert!(read < 14_000, "{read} bytes");
}
