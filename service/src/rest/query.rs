//! Query strings as arguments. A query string has no types, so each parameter is
//! read as the schema of its argument says, and then passes the same strict
//! decoding as a body.

use axum::extract::Query;
use http::Uri;
use ostraca_memory::Error;
use schemars::JsonSchema;
use serde_json::{Map, Number, Value};

use crate::wire::{Arguments, input_schema};

/// The parameters that one route takes.
#[derive(Debug)]
pub(crate) struct QueryShape {
    parameters: Map<String, Value>,
}

impl QueryShape {
    /// All arguments of an operation.
    pub(super) fn of<A: JsonSchema>() -> Self {
        match input_schema::<A>().remove("properties") {
            Some(Value::Object(parameters)) => Self { parameters },
            _ => Self {
                parameters: Map::new(),
            },
        }
    }

    /// These arguments alone.
    pub(super) fn only<A: JsonSchema>(names: &[&str]) -> Self {
        let mut shape = Self::of::<A>();
        shape
            .parameters
            .retain(|name, _| names.contains(&name.as_str()));
        shape
    }

    /// The parameters with their schemas.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.parameters
            .iter()
            .map(|(name, schema)| (name.as_str(), schema))
    }

    /// The arguments that a URI carries.
    ///
    /// # Errors
    /// `Invalid`, at the parameter at fault.
    pub(super) fn arguments<A: Arguments>(&self, uri: &Uri) -> Result<A, Error> {
        A::decode(Value::Object(self.members(uri)?))
    }

    /// The parameters that a URI carries, each read by its type.
    ///
    /// # Errors
    /// `Invalid`, at the parameter at fault.
    pub(super) fn members(&self, uri: &Uri) -> Result<Map<String, Value>, Error> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(|_| {
            Error::new(
                ostraca_memory::ErrorKind::Invalid,
                "the query string cannot be read; encode it as name=value&…",
            )
        })?;
        let mut members = Map::new();
        for (name, text) in pairs {
            let Some(schema) = self.parameters.get(&name) else {
                return Err(self.unknown(name));
            };
            if type_of(schema) == "array" {
                let item = read(&name, schema.get("items").map_or("string", type_of), text)?;
                match members
                    .entry(name)
                    .or_insert_with(|| Value::Array(Vec::new()))
                {
                    Value::Array(items) => items.push(item),
                    other => *other = item,
                }
            } else if members.contains_key(&name) {
                return Err(Error::invalid(name, "is given twice; give it once"));
            } else {
                let value = read(&name, type_of(schema), text)?;
                members.insert(name, value);
            }
        }
        Ok(members)
    }

    fn unknown(&self, name: String) -> Error {
        let known: Vec<_> = self.parameters.keys().map(String::as_str).collect();
        let message = if known.is_empty() {
            "is not a parameter here; there are none".to_owned()
        } else {
            format!(
                "is not a parameter here; the parameters are {}",
                known.join(", ")
            )
        };
        Error::invalid(name, message)
    }
}

fn type_of(schema: &Value) -> &str {
    schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("string")
}

fn read(name: &str, kind: &str, text: String) -> Result<Value, Error> {
    let wrong = |what: &str| Error::invalid(name.to_owned(), format!("{text:?} is not {what}"));
    match kind {
        "integer" => text
            .parse::<u64>()
            .map(Value::from)
            .or_else(|_| text.parse::<i64>().map(Value::from))
            .map_err(|_| wrong("a whole number")),
        "number" => text
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| wrong("a number")),
        "boolean" => text
            .parse()
            .map(Value::Bool)
            .map_err(|_| wrong("true or false")),
        "object" => serde_json::from_str(&text)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| wrong("a JSON object")),
        _ => Ok(Value::String(text)),
    }
}
