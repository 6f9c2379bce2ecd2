//! The tools, prompts and resources that the official conformance suite calls by name.
//! They exist only under the cargo feature `conformance`, on the same handler as the
//! product's own, so that the suite can exercise results that no memory tool gives.
//! They touch no memory.

mod input_required;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod tools;

use rmcp::model::{CompleteResult, CompletionInfo, ErrorData};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A picture of one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// A result of the protocol from its JSON.
fn typed<T: DeserializeOwned>(json: Value) -> Result<T, ErrorData> {
    serde_json::from_value(json)
        .map_err(|error| ErrorData::internal_error(format!("fixture: {error}"), None))
}

/// Nothing to complete, which is a complete answer.
pub(crate) fn complete() -> Result<CompleteResult, ErrorData> {
    CompletionInfo::with_all_values(Vec::new())
        .map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}
