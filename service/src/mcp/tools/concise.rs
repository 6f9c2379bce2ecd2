//! Output schemas without what a client can do without. Some clients put the whole
//! list before the model; the receipt, which every answer has, is described once as a
//! whole there, and in full in the REST document.

use serde_json::{Map, Value};

/// The schema with a bare receipt and without bounds that say nothing.
pub(super) fn concise(mut schema: Map<String, Value>) -> Map<String, Value> {
    for (name, property) in properties(&mut schema) {
        if name == "receipt" {
            for (_, inner) in property.as_object_mut().into_iter().flat_map(properties) {
                undescribed(inner);
            }
        }
    }
    unbounded(&mut schema);
    schema
}

fn properties(schema: &mut Map<String, Value>) -> impl Iterator<Item = (&String, &mut Value)> {
    schema
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
}

fn undescribed(node: &mut Value) {
    let Some(node) = node.as_object_mut() else {
        return;
    };
    node.remove("description");
    properties(node).for_each(|(_, inner)| undescribed(inner));
}

/// Counts are never negative, and no client has to be told.
fn unbounded(node: &mut Map<String, Value>) {
    if node.get("minimum").and_then(Value::as_u64) == Some(0) {
        node.remove("minimum");
    }
    for inner in node.values_mut().filter_map(Value::as_object_mut) {
        unbounded(inner);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_receipt_loses_its_words() {
        let schema = json!({
            "type": "object",
            "properties": {
                "total": {"type": "integer", "minimum": 0, "description": "How many."},
                "limit": {"type": "integer", "minimum": 1},
                "receipt": {"type": "object", "description": "What it took.", "properties": {
                    "steps": {"type": "integer", "minimum": 0, "description": "Round trips."},
                }, "required": ["steps"]},
            },
        });
        let Value::Object(schema) = schema else {
            panic!("an object")
        };
        assert_eq!(
            Value::Object(concise(schema)),
            json!({
                "type": "object",
                "properties": {
                    "total": {"type": "integer", "description": "How many."},
                    "limit": {"type": "integer", "minimum": 1},
                    "receipt": {"type": "object", "description": "What it took.", "properties": {
                        "steps": {"type": "integer"},
                    }, "required": ["steps"]},
                },
            })
        );
    }
}
