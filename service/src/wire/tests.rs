use std::collections::BTreeSet;

use ostraca_memory as domain;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::*;

/// What a client of the narrowest dialect would refuse in a schema, by path.
fn complaints(path: &str, schema: &Value, found: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        found.push(format!("{path}: is not an object"));
        return;
    };
    let kind = object.get("type").and_then(Value::as_str);
    match kind {
        Some("string" | "integer" | "number" | "boolean" | "object") => {}
        Some("array") if object.contains_key("items") => {}
        other => found.push(format!(
            "{path}: type {other:?}, items {:?}",
            object.get("items")
        )),
    }
    for banned in [
        "$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "not", "format", "const", "default",
        "nullable", "title",
    ] {
        if object.contains_key(banned) {
            found.push(format!("{path}: has {banned}"));
        }
    }
    if let Some(Value::Array(values)) = object.get("enum")
        && !values.iter().all(Value::is_string)
    {
        found.push(format!("{path}: enum of other than strings"));
    }
    if let Some(Value::Object(properties)) = object.get("properties") {
        for (name, property) in properties {
            complaints(&format!("{path}.{name}"), property, found);
        }
    }
    if let Some(items) = object.get("items") {
        complaints(&format!("{path}[]"), items, found);
    }
    if let Some(additional) = object.get("additionalProperties")
        && !additional.is_boolean()
    {
        complaints(&format!("{path}{{}}"), additional, found);
    }
}

fn check_input<T: JsonSchema>(name: &str) {
    let schema = input_schema::<T>();
    let mut found = Vec::new();
    complaints(name, &Value::Object(schema.clone()), &mut found);
    assert_eq!(schema["type"], "object", "{name}");
    assert_eq!(schema["additionalProperties"], false, "{name}");
    let properties = schema["properties"].as_object().unwrap();
    for (property, schema) in properties {
        if schema["description"].as_str().is_none_or(str::is_empty) {
            found.push(format!("{name}.{property}: has no description"));
        }
    }
    assert!(
        found.is_empty(),
        "{found:#?}\n{}",
        serde_json::to_string_pretty(&schema).unwrap()
    );
}

#[test]
fn a35_input_schemas_are_portable() {
    check_input::<RememberArgs>("remember");
    check_input::<RecallArgs>("recall");
    check_input::<GetArgs>("get");
    check_input::<ListArgs>("list");
    check_input::<UpdateArgs>("update");
    check_input::<ForgetArgs>("forget");
    check_input::<HistoryArgs>("history");
    check_input::<RestoreArgs>("restore");
    check_input::<ScopesArgs>("scopes");
    check_input::<DescribeScopeArgs>("describe_scope");
    check_input::<WatchArgs>("watch");
    check_input::<ExportArgs>("export");
}

#[test]
fn a35_output_schemas_are_portable() {
    let schemas = [
        ("remember", output_schema::<RememberReply>()),
        ("recall", output_schema::<RecallReply>()),
        ("get", output_schema::<GetReply>()),
        ("list", output_schema::<ListReply>()),
        ("update", output_schema::<UpdateReply>()),
        ("forget", output_schema::<ForgetReply>()),
        ("history", output_schema::<HistoryReply>()),
        ("restore", output_schema::<RestoreReply>()),
        ("scopes", output_schema::<ScopesReply>()),
        ("watch", output_schema::<WatchReply>()),
    ];
    for (name, schema) in schemas {
        let mut found = Vec::new();
        complaints(name, &Value::Object(schema), &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn only_what_is_needed_is_required() {
    let required =
        |schema: Map<String, Value>| schema.get("required").cloned().unwrap_or(json!([]));
    assert_eq!(required(input_schema::<RememberArgs>()), json!([]));
    assert_eq!(
        input_schema::<RememberArgs>()["properties"]["items"]["items"]["required"],
        json!(["content"])
    );
    assert_eq!(required(input_schema::<RecallArgs>()), json!([]));
    assert_eq!(required(input_schema::<UpdateArgs>()), json!([]));
}

fn refusal<A: Arguments + std::fmt::Debug>(arguments: Value) -> (String, String) {
    let error = A::decode(arguments).expect_err("these arguments must be refused");
    (
        error.field().unwrap_or_default().to_owned(),
        error.message().to_owned(),
    )
}

#[test]
fn a_refusal_names_the_field() {
    let cases = [
        (
            refusal::<RecallArgs>(json!({"query": "a", "k": 3})),
            "k",
            "is not a field here",
        ),
        (
            refusal::<RecallArgs>(json!({"query": "a", "limit": "many"})),
            "limit",
            "invalid type",
        ),
        (
            refusal::<RecallArgs>(json!({"query": "a", "limit": -1})),
            "limit",
            "invalid value",
        ),
        (
            refusal::<RecallArgs>(json!({"query": "a", "mode": "fuzzy"})),
            "mode",
            "unknown variant",
        ),
        (
            refusal::<RecallArgs>(json!({"query": "a", "effort": "hard"})),
            "effort",
            "expected one of `fast`, `balanced`, `thorough`, `exact`",
        ),
        (
            refusal::<RecallArgs>(json!({"query": "a", "as_of": true})),
            "as_of",
            "log position",
        ),
        (refusal::<RememberArgs>(json!({})), "content", "is required"),
        (
            refusal::<RememberArgs>(json!({"content": "a", "text": "b"})),
            "text",
            "is not a field here",
        ),
        (
            refusal::<RememberArgs>(json!({"items": [{"content": "a"}, {"scope": "b"}]})),
            "items[1].content",
            "is required",
        ),
        (
            refusal::<RememberArgs>(json!({"items": [{"content": 5}]})),
            "items[0].content",
            "invalid type",
        ),
        (
            refusal::<RememberArgs>(json!({"items": [{"content": "a"}], "scope": "b"})),
            "scope",
            "inside each item",
        ),
        (
            refusal::<RememberArgs>(json!({"content": "a", "idempotency_key": 5})),
            "idempotency_key",
            "invalid type",
        ),
        (refusal::<RememberArgs>(json!([])), "", "invalid type"),
        (
            refusal::<RememberArgs>(json!({"items": "a"})),
            "items",
            "invalid type",
        ),
    ];
    for ((field, message), expected, part) in cases {
        assert_eq!(field, expected, "{message}");
        assert!(message.contains(part), "{field}: {message}");
    }
}

#[test]
fn a16_absent_null_and_value_are_three_things() {
    let args = UpdateArgs::decode(
        json!({"id": "x", "title": null, "kind": "note", "metadata": {"a": null, "b": 1.0}}),
    )
    .unwrap();
    assert_eq!(args.key, None);
    assert_eq!(args.title, Patch::Clear);
    assert_eq!(args.kind, Patch::Set("note".to_owned()));
    assert_eq!(args.source, Patch::Keep);
    let request = domain::UpdateRequest::try_from(args).unwrap();
    assert_eq!(request.title, domain::Patch::Clear);
    let domain::Patch::Set(metadata) = request.metadata else {
        panic!("metadata is lost")
    };
    assert_eq!(Value::Object(metadata), json!({"a": null, "b": 1.0}));
}

#[test]
fn clear_stands_for_null_where_a_client_cannot_send_it() {
    let cleared = UpdateArgs::decode(json!({"id": "x", "clear": ["title", "expires_at", "key"]}));
    let request = ostraca_memory::UpdateRequest::try_from(cleared.unwrap()).unwrap();
    assert_eq!(request.title, ostraca_memory::Patch::Clear);
    assert_eq!(request.expires, ostraca_memory::Patch::Clear);
    assert_eq!(request.key, ostraca_memory::Patch::Clear);
    assert_eq!(request.kind, ostraca_memory::Patch::Keep);
    let both = UpdateArgs::decode(json!({"id": "x", "clear": ["title"], "title": "new"}));
    let error = ostraca_memory::UpdateRequest::try_from(both.unwrap()).unwrap_err();
    assert_eq!(error.field(), Some("clear"));
    let unknown = UpdateArgs::decode(json!({"id": "x", "clear": ["content"]})).unwrap_err();
    assert_eq!(unknown.field(), Some("clear[0]"));
}

#[test]
fn null_stands_for_absent_where_nothing_can_be_removed() {
    let args =
        RecallArgs::decode(json!({"query": "a", "limit": null, "kinds": null, "filter": null}))
            .unwrap();
    assert!(args.limit.is_none() && args.kinds.is_none() && args.filter.is_none());
    let args =
        RememberArgs::decode(json!({"content": "a", "items": null, "metadata": null})).unwrap();
    assert!(args.single);
}

#[test]
fn a_moment_is_a_position_or_a_time() {
    let moment = |value: Value| {
        let args = RecallArgs::decode(json!({"query": "a", "as_of": value})).unwrap();
        domain::RecallRequest::try_from(args).map(|request| request.as_of)
    };
    assert_eq!(moment(json!(7)).unwrap(), Some(domain::AsOf::Position(7)));
    assert_eq!(moment(json!("7")).unwrap(), Some(domain::AsOf::Position(7)));
    assert!(matches!(
        moment(json!("2026-07-25T02:00:00Z")).unwrap(),
        Some(domain::AsOf::Time(_))
    ));
    assert_eq!(
        moment(json!("yesterday")).unwrap_err().field(),
        Some("as_of")
    );
}

#[test]
fn a_memory_is_named_once() {
    let target =
        |arguments: Value| UpdateArgs::decode(arguments).and_then(domain::UpdateRequest::try_from);
    for (arguments, field) in [
        (json!({"content": "a"}), "id"),
        (json!({"id": "x", "key": "y"}), "key"),
        (json!({"id": "x", "scope": "y"}), "scope"),
        (json!({"key": "x", "scope": "a//b"}), "scope"),
        (json!({"id": "x", "new_scope": "../a"}), "new_scope"),
    ] {
        let error = target(arguments.clone()).expect_err(&arguments.to_string());
        assert_eq!(error.field(), Some(field), "{arguments}");
    }
    assert!(target(json!({"key": "x", "scope": "a/b", "new_scope": ""})).is_ok());
}

#[test]
fn an_expiry_is_given_in_one_way() {
    let expiry = |arguments: Value| {
        UpdateArgs::decode(arguments)
            .and_then(domain::UpdateRequest::try_from)
            .map(|request| request.expires)
    };
    assert_eq!(expiry(json!({"id": "x"})).unwrap(), domain::Patch::Keep);
    assert_eq!(
        expiry(json!({"id": "x", "expires_at": null})).unwrap(),
        domain::Patch::Clear
    );
    assert!(matches!(
        expiry(json!({"id": "x", "ttl_seconds": 5})).unwrap(),
        domain::Patch::Set(domain::Expiry::After(_))
    ));
    assert!(matches!(
        expiry(json!({"id": "x", "expires_at": "2999-01-01"})).unwrap(),
        domain::Patch::Set(domain::Expiry::At(_))
    ));
    assert_eq!(
        expiry(json!({"id": "x", "expires_at": null, "ttl_seconds": 5}))
            .unwrap_err()
            .field(),
        Some("ttl_seconds")
    );
}

#[test]
fn whole_numbers_stay_exact() {
    let args = RememberArgs::decode(
        json!({"content": "a", "metadata": {"big": 9_007_199_254_740_993_i64, "float": 1.0}}),
    )
    .unwrap();
    let metadata = args.items[0].metadata.clone().unwrap();
    assert_eq!(
        Value::Object(metadata).to_string(),
        r#"{"big":9007199254740993,"float":1.0}"#
    );
}

/// A client reads every tool's schema into its context, so their size is a budget.
#[test]
fn input_schemas_stay_small() {
    let schemas = [
        input_schema::<RememberArgs>(),
        input_schema::<RecallArgs>(),
        input_schema::<GetArgs>(),
        input_schema::<ListArgs>(),
        input_schema::<UpdateArgs>(),
        input_schema::<ForgetArgs>(),
        input_schema::<HistoryArgs>(),
        input_schema::<RestoreArgs>(),
        input_schema::<ScopesArgs>(),
        input_schema::<WatchArgs>(),
    ];
    let bytes: usize = schemas
        .iter()
        .map(|schema| serde_json::to_string(schema).unwrap().len())
        .sum();
    assert!(
        bytes < 16_000,
        "the input schemas have {bytes} bytes together"
    );
    let names: BTreeSet<_> = schemas
        .iter()
        .flat_map(|schema| schema["properties"].as_object().unwrap().keys())
        .collect();
    assert!(names.contains(&"idempotency_key".to_owned()));
}
