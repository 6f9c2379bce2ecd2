//! The values that a filter compares with, tagged or plain.
//!
//! A tagged value names its kind and fills exactly that kind's slot; a plain
//! one has the kind that storing it would give it. Neither is ever converted.

use serde_json::{Map, Value as JsonValue};

use super::ValueSyntax;
use super::error::{FilterError, FilterReason, json_type};
use super::parse::Path;
use crate::record::Value;

/// Reads a value.
pub(super) fn value(
    json: &JsonValue,
    syntax: ValueSyntax,
    path: &Path,
) -> Result<Value, FilterError> {
    match json {
        JsonValue::Object(object) if object.contains_key("kind") => tagged(object, path),
        JsonValue::Object(object) if syntax == ValueSyntax::Tagged => {
            let reason = match object.keys().next() {
                Some(key) => FilterReason::WrongSlot {
                    kind: "(missing)",
                    expected: "`kind` and its slot",
                    found: key.clone(),
                },
                None => FilterReason::NotTagged {
                    found: "an empty object",
                },
            };
            Err(path.error(reason))
        }
        _ if syntax == ValueSyntax::Tagged => Err(path.error(FilterReason::NotTagged {
            found: json_type(json),
        })),
        _ => match Value::from_json(json) {
            Value::Json(_) => Err(path.error(FilterReason::NoKind {
                found: json_type(json),
            })),
            value => Ok(value),
        },
    }
}

fn tagged(object: &Map<String, JsonValue>, path: &Path) -> Result<Value, FilterError> {
    let kind = match object.get("kind") {
        Some(JsonValue::String(kind)) => kind.as_str(),
        other => {
            let found = other.map_or("nothing", json_type);
            return Err(path.error(FilterReason::UnknownKind {
                kind: found.to_owned(),
            }));
        }
    };
    match kind {
        "none" => {
            only(object, "none", &[], "no slot", path)?;
            Ok(Value::Null)
        }
        "geo" => {
            only(object, "geo", &["lat", "lon"], "`lat` and `lon`", path)?;
            let degrees = |name: &'static str, limit: f64| {
                let found = object.get(name).and_then(JsonValue::as_f64);
                found.filter(|value| value.abs() <= limit).ok_or_else(|| {
                    path.error(FilterReason::SlotType {
                        slot: name,
                        expected: "a number of degrees within range",
                    })
                })
            };
            Ok(Value::Geo {
                lat: degrees("lat", 90.0)?,
                lon: degrees("lon", 180.0)?,
            })
        }
        _ => {
            let slot = SLOTS.iter().find(|slot| slot.kind == kind).ok_or_else(|| {
                path.error(FilterReason::UnknownKind {
                    kind: kind.to_owned(),
                })
            })?;
            only(object, slot.kind, &[slot.name], slot.name, path)?;
            let json = object.get(slot.name).ok_or_else(|| {
                path.error(FilterReason::NoSlot {
                    kind: slot.kind,
                    expected: slot.name,
                })
            })?;
            (slot.read)(json).ok_or_else(|| {
                path.error(FilterReason::SlotType {
                    slot: slot.name,
                    expected: slot.expected,
                })
            })
        }
    }
}

struct Slot {
    kind: &'static str,
    name: &'static str,
    expected: &'static str,
    read: fn(&JsonValue) -> Option<Value>,
}

const SLOTS: [Slot; 7] = [
    Slot {
        kind: "string",
        name: "str",
        expected: "a string",
        read: |json| json.as_str().map(|text| Value::String(text.to_owned())),
    },
    Slot {
        kind: "int",
        name: "int",
        expected: "a whole number of 64 bits",
        read: |json| json.as_i64().map(Value::Int),
    },
    Slot {
        kind: "float",
        name: "flt",
        expected: "a number",
        read: |json| json.as_f64().map(Value::Float),
    },
    Slot {
        kind: "bool",
        name: "bool",
        expected: "true or false",
        read: |json| json.as_bool().map(Value::Bool),
    },
    Slot {
        kind: "strings",
        name: "strs",
        expected: "an array of strings",
        read: |json| {
            let items = json
                .as_array()?
                .iter()
                .map(|item| item.as_str().map(str::to_owned));
            items.collect::<Option<_>>().map(Value::Strings)
        },
    },
    Slot {
        kind: "ints",
        name: "ints",
        expected: "an array of whole numbers of 64 bits",
        read: |json| {
            let items = json.as_array()?.iter().map(JsonValue::as_i64);
            items.collect::<Option<_>>().map(Value::Ints)
        },
    },
    Slot {
        kind: "floats",
        name: "flts",
        expected: "an array of numbers",
        read: |json| {
            let items = json.as_array()?.iter().map(JsonValue::as_f64);
            items.collect::<Option<_>>().map(Value::Floats)
        },
    },
];

fn only(
    object: &Map<String, JsonValue>,
    kind: &'static str,
    allowed: &[&str],
    expected: &'static str,
    path: &Path,
) -> Result<(), FilterError> {
    match object
        .keys()
        .find(|key| *key != "kind" && !allowed.contains(&key.as_str()))
    {
        None => Ok(()),
        Some(key) => Err(path.error(FilterReason::WrongSlot {
            kind,
            expected,
            found: key.clone(),
        })),
    }
}
