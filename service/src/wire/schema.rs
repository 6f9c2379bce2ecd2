//! JSON Schemas that every client can read. Some take only a dialect in which
//! every node has one plain `type` and nothing refers to anything else, so
//! nullable types, references, formats and unions are folded away here, in one
//! place, rather than avoided in every argument type.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The portable schema of what an operation takes.
pub fn input_schema<T: JsonSchema>() -> Map<String, Value> {
    object(
        inline()
            .for_deserialize()
            .into_generator()
            .into_root_schema_for::<T>(),
    )
}

/// The portable schema of what an operation answers.
pub fn output_schema<T: JsonSchema>() -> Map<String, Value> {
    object(
        inline()
            .for_serialize()
            .into_generator()
            .into_root_schema_for::<T>(),
    )
}

fn inline() -> SchemaSettings {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .with_transform(Portable)
}

fn object(schema: Schema) -> Map<String, Value> {
    match schema.to_value() {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Folds one schema and all below it into the portable dialect.
pub fn portable(schema: &mut Schema) {
    transform_subschemas(&mut portable, schema);
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    for key in ["$schema", "title", "format"] {
        object.remove(key);
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if object.get("additionalProperties") == Some(&Value::Bool(true)) {
        object.remove("additionalProperties");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = object.remove(key) {
            fold(object, alternatives);
        }
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// Merges a union: of constants into an enumeration, of a schema and null into
/// that schema. The description of the union itself stays.
fn fold(object: &mut Map<String, Value>, alternatives: Vec<Value>) {
    let mut constants = Vec::new();
    for alternative in alternatives {
        let Value::Object(mut alternative) = alternative else {
            continue;
        };
        if let Some(constant) = alternative.remove("const") {
            constants.push(constant);
        } else if let Some(Value::Array(values)) = alternative.remove("enum") {
            constants.extend(values);
        } else if alternative.get("type") != Some(&json!("null")) {
            for (key, value) in alternative {
                object.entry(key).or_insert(value);
            }
        }
    }
    if !constants.is_empty() {
        object.insert("type".to_owned(), json!("string"));
        object.insert("enum".to_owned(), Value::Array(constants));
    }
}

#[derive(Debug, Clone)]
struct Portable;

impl Transform for Portable {
    fn transform(&mut self, schema: &mut Schema) {
        portable(schema);
    }
}
