//! What differs between two runs of the same case, or between two targets, is
//! replaced before a snapshot is taken: ids, times, cursors, costs, log positions,
//! who wrote it and whether it is embedded.

use serde_json::{Map, Value, json};

/// The value with what differs replaced by its name in brackets.
pub(crate) fn redact(value: &Value, run: &str) -> Value {
    match value {
        Value::Object(object) => Value::Object(
            object
                .iter()
                // Where nobody signs in, there is no author; whether there is a hint, and
                // which, depends on what other cases have stored.
                .filter(|(name, _)| !matches!(name.as_str(), "author" | "hint"))
                .map(|(name, value)| (name.clone(), member(name, value, run)))
                .collect(),
        ),
        Value::Array(items) => items.iter().map(|item| redact(item, run)).collect(),
        Value::String(text) => json!(text.replace(run, "[run]")),
        other => other.clone(),
    }
}

fn member(name: &str, value: &Value, run: &str) -> Value {
    match name {
        "id" if value.is_string() => json!("[id]"),
        "created_at" | "updated_at" | "expires_at" | "time" => json!("[time]"),
        "next_cursor" => json!("[cursor]"),
        "embedding" => json!("[embedding]"),
        "position" => json!("[position]"),
        // What an answer costs depends on what ran before; other tests hold the budgets.
        "steps" | "bytes" | "requests" | "coverage" => shape(name, value),
        "score" => json!("[score]"),
        _ => redact(value, run),
    }
}

fn shape(name: &str, value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(
            object
                .keys()
                .map(|key| (key.clone(), json!(format!("[{key}]"))))
                .collect::<Map<_, _>>(),
        ),
        _ => json!(format!("[{name}]")),
    }
}
