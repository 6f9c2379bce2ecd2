//! From JSON to arguments, strictly: an unknown field, a missing one or one of
//! the wrong type is an error that names the field by its path. Separate from the
//! argument types because REST bodies, query strings and MCP calls all pass here.

use ostraca_memory::Error;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments of one operation.
pub trait Arguments: DeserializeOwned + JsonSchema {
    /// Reads the arguments of a JSON object.
    ///
    /// # Errors
    /// `Invalid`, at the field that is at fault.
    fn decode(arguments: Value) -> Result<Self, Error> {
        decode(arguments)
    }
}

/// Reads a value of JSON and names the field at fault by its path.
///
/// # Errors
/// `Invalid`, at the field that is at fault.
pub fn decode<T: DeserializeOwned>(json: Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        let (field, message) = blame(&path, message);
        match field {
            Some(field) => Error::invalid(field, message),
            None => Error::new(ostraca_memory::ErrorKind::Invalid, message),
        }
    })
}

/// The field that a serde message is about. For a field that is unknown or
/// missing the path ends at its parent, and the name stands in the message.
fn blame(path: &str, message: String) -> (Option<String>, String) {
    let parent = (path != ".").then_some(path);
    let named = |name: &str| match parent {
        Some(parent) if parent.ends_with(name) => parent.to_owned(),
        Some(parent) => format!("{parent}.{name}"),
        None => name.to_owned(),
    };
    if let Some(name) = quoted(&message, "missing field `") {
        return (Some(named(name)), "is required".to_owned());
    }
    if let Some(name) = quoted(&message, "unknown field `") {
        let known = message
            .split_once(", expected ")
            .map_or("none", |(_, known)| known);
        let known = known.trim_start_matches("one of ").replace('`', "");
        return (
            Some(named(name)),
            format!("is not a field here; the fields are {known}"),
        );
    }
    (parent.map(str::to_owned), message)
}

fn quoted<'a>(message: &'a str, prefix: &str) -> Option<&'a str> {
    message
        .strip_prefix(prefix)?
        .split_once('`')
        .map(|(name, _)| name)
}
