//! Metadata values: what a user attached, with a kind that filters compare
//! strictly.
//!
//! They are a closed enum rather than JSON so that a filter never guesses, and
//! `Json` keeps whatever has no kind of its own. Nothing here refuses a value:
//! a surface that forbids some kinds does so itself.

use std::collections::BTreeMap;

use serde_json::{Map, Value as JsonValue, json};

/// Metadata by key. Keys are literal: a dot has no meaning.
pub type Metadata = BTreeMap<String, Value>;

/// The key that marks a float that JSON has no number for.
const NON_FINITE: &str = "$float";

/// One metadata value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An explicit nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction part, even if it is zero.
    Float(f64),
    /// A text.
    String(String),
    /// An array of texts. The empty array has this kind.
    Strings(Vec<String>),
    /// An array of whole numbers.
    Ints(Vec<i64>),
    /// An array of numbers of which at least one is a float.
    Floats(Vec<f64>),
    /// A place in degrees.
    Geo {
        /// Latitude, -90 to 90.
        lat: f64,
        /// Longitude, -180 to 180.
        lon: f64,
    },
    /// Anything else, kept as it came: nested objects, mixed or nested
    /// arrays, whole numbers beyond 64 bits signed. Filters see only whether it is
    /// empty.
    Json(JsonValue),
}

impl Value {
    /// The value of a JSON value, its kind inferred.
    ///
    /// An object of exactly `lat` and `lon` within range is a place; integers
    /// among floats are widened if that loses nothing.
    pub fn from_json(json: &JsonValue) -> Self {
        match json {
            JsonValue::Null => Self::Null,
            JsonValue::Bool(value) => Self::Bool(*value),
            JsonValue::Number(number) => {
                if let Some(int) = number.as_i64() {
                    Self::Int(int)
                } else if let (Some(float), true) = (number.as_f64(), number.is_f64()) {
                    Self::Float(float)
                } else {
                    Self::Json(json.clone())
                }
            }
            JsonValue::String(text) => Self::String(text.clone()),
            JsonValue::Array(items) => {
                array_from_json(items).unwrap_or_else(|| Self::Json(json.clone()))
            }
            JsonValue::Object(object) => {
                object_from_json(object).unwrap_or_else(|| Self::Json(json.clone()))
            }
        }
    }

    /// The value as JSON; [`Value::from_json`] of it gives the value back.
    pub fn to_json(&self) -> JsonValue {
        match self {
            Self::Null => JsonValue::Null,
            Self::Bool(value) => JsonValue::Bool(*value),
            Self::Int(value) => json!(value),
            Self::Float(value) => float_to_json(*value),
            Self::String(value) => JsonValue::String(value.clone()),
            Self::Strings(values) => json!(values),
            Self::Ints(values) => json!(values),
            Self::Floats(values) => {
                JsonValue::Array(values.iter().map(|value| float_to_json(*value)).collect())
            }
            Self::Geo { lat, lon } => {
                json!({ "lat": float_to_json(*lat), "lon": float_to_json(*lon) })
            }
            Self::Json(value) => value.clone(),
        }
    }

    /// The name of the kind, as the tagged filter form spells it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "none",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::String(_) => "string",
            Self::Strings(_) => "strings",
            Self::Ints(_) => "ints",
            Self::Floats(_) => "floats",
            Self::Geo { .. } => "geo",
            Self::Json(_) => "json",
        }
    }
}

/// Metadata as a JSON object.
pub fn metadata_to_json(metadata: &Metadata) -> JsonValue {
    JsonValue::Object(
        metadata
            .iter()
            .map(|(key, value)| (key.clone(), value.to_json()))
            .collect(),
    )
}

/// Metadata of a JSON object's members.
pub fn metadata_from_json(object: &Map<String, JsonValue>) -> Metadata {
    object
        .iter()
        .map(|(key, value)| (key.clone(), Value::from_json(value)))
        .collect()
}

fn float_to_json(value: f64) -> JsonValue {
    serde_json::Number::from_f64(value).map_or_else(
        || json!({ NON_FINITE: value.to_string() }),
        JsonValue::Number,
    )
}

fn float_from_json(json: &JsonValue) -> Option<f64> {
    match json {
        JsonValue::Number(number) if number.is_f64() => number.as_f64(),
        JsonValue::Object(object) => non_finite(object),
        _ => None,
    }
}

fn non_finite(object: &Map<String, JsonValue>) -> Option<f64> {
    if object.len() != 1 {
        return None;
    }
    match object.get(NON_FINITE)?.as_str()? {
        "NaN" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn object_from_json(object: &Map<String, JsonValue>) -> Option<Value> {
    if let Some(float) = non_finite(object) {
        return Some(Value::Float(float));
    }
    if object.len() != 2 {
        return None;
    }
    let (lat, lon) = (object.get("lat")?.as_f64()?, object.get("lon")?.as_f64()?);
    ((-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon))
        .then_some(Value::Geo { lat, lon })
}

fn array_from_json(items: &[JsonValue]) -> Option<Value> {
    let strings: Option<Vec<String>> = items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect();
    if let Some(strings) = strings {
        return Some(Value::Strings(strings));
    }
    let ints: Option<Vec<i64>> = items.iter().map(JsonValue::as_i64).collect();
    if let Some(ints) = ints {
        return Some(Value::Ints(ints));
    }
    items
        .iter()
        .map(|item| float_from_json(item).or_else(|| exact_float(item.as_i64()?)))
        .collect::<Option<Vec<f64>>>()
        .map(Value::Floats)
}

/// The float of the same value, if there is one.
fn exact_float(int: i64) -> Option<f64> {
    const EXACT: i64 = 1 << 53;
    (-EXACT..=EXACT).contains(&int).then_some(int as f64)
}
