//! The part of JSON Schema that our schemas use, as a check of what was answered.
//! Stricter than a validator: a member that no schema describes is a misfit too.

use serde_json::Value;

/// Where a value differs from its schema; `document` is what references point into.
pub(crate) fn misfits(document: &Value, path: &str, value: &Value, schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(document, path, value, schema, &mut found);
    found
}

fn collect(document: &Value, path: &str, value: &Value, schema: &Value, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = document
            .pointer(reference.trim_start_matches('#'))
            .expect("a reference that leads somewhere");
        return collect(document, path, value, schema, found);
    }
    let of_type = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => false,
    };
    if !of_type {
        found.push(format!("{path}: {value} is no {schema}"));
        return;
    }
    if schema["enum"]
        .as_array()
        .is_some_and(|values| !values.contains(value))
    {
        found.push(format!("{path}: {value} is not listed"));
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        if value.get(required.as_str().unwrap()).is_none() {
            found.push(format!("{path}: {required} is missing"));
        }
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        for (name, value) in object {
            match properties.get(name) {
                Some(schema) => collect(document, &format!("{path}.{name}"), value, schema, found),
                None => found.push(format!("{path}.{name}: is not described")),
            }
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        collect(
            document,
            &format!("{path}[{index}]"),
            item,
            &schema["items"],
            found,
        );
    }
}
