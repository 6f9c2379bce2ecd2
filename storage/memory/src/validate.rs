//! The checks of single fields that need no state, shared by every operation that
//! writes. Each refusal names the field, the limit and the way out.

use std::borrow::Cow;

use ostraca_object::port::Timestamp;
use ostraca_search::record::metadata_from_json;
use ostraca_search::{Metadata, text};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::idempotency::first_128_bits;
use crate::limits::Limits;
use crate::ops::remember::Expiry;

pub(crate) fn content(limits: &Limits, content: &str) -> Result<()> {
    if text::is_blank(content) {
        return Err(Error::invalid(
            "content",
            "the content is blank; say what to remember",
        ));
    }
    if content.len() > limits.content_bytes {
        return Err(Error::too_large(
            "content",
            format!(
                "the content has {} bytes, the limit is {}; split it into several memories",
                content.len(),
                limits.content_bytes
            ),
        ));
    }
    Ok(())
}

/// A key, title or source: trimmed, not blank, bounded, without control characters.
pub(crate) fn name(
    limits: &Limits,
    field: &'static str,
    value: Option<String>,
) -> Result<Option<String>> {
    short(limits.name_bytes, field, value)
}

/// A kind or sensitivity: as [`name`], and shorter.
pub(crate) fn label(
    limits: &Limits,
    field: &'static str,
    value: Option<String>,
) -> Result<Option<String>> {
    short(limits.label_bytes, field, value)
}

fn short(limit: usize, field: &'static str, value: Option<String>) -> Result<Option<String>> {
    let Some(value) = value else { return Ok(None) };
    if text::is_blank(&value) {
        return Err(Error::invalid(
            field,
            format!("{field} is blank; give one or leave it out"),
        ));
    }
    if value.len() > limit {
        return Err(Error::too_large(
            field,
            format!(
                "{field} has {} bytes, the limit is {limit}; shorten it",
                value.len()
            ),
        ));
    }
    if value.chars().any(char::is_control) {
        return Err(Error::invalid(
            field,
            format!("{field} has a control character; remove it"),
        ));
    }
    Ok(Some(value))
}

pub(crate) fn metadata(limits: &Limits, metadata: &Map<String, Value>) -> Result<Metadata> {
    for name in metadata.keys() {
        if name.starts_with('$') || name.is_empty() {
            return Err(Error::invalid(
                "metadata",
                format!(
                    "the metadata name {name:?} is not free; names that start with $ are fields of the memory itself: choose another"
                ),
            ));
        }
    }
    let bytes = serde_json::to_vec(metadata).map_or(usize::MAX, |json| json.len());
    if bytes > limits.metadata_bytes {
        return Err(Error::too_large(
            "metadata",
            format!(
                "the metadata has {bytes} bytes of JSON, the limit is {}; put long text into the content",
                limits.metadata_bytes
            ),
        ));
    }
    Ok(metadata_from_json(metadata))
}

pub(crate) fn confidence(value: Option<f64>) -> Result<Option<f64>> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(Error::invalid(
            "confidence",
            format!("confidence is {value}; give a number from 0 to 1"),
        )),
        other => Ok(other),
    }
}

pub(crate) fn vector(limits: &Limits, field: &'static str, vector: Vec<f32>) -> Result<Vec<f32>> {
    if vector.is_empty() || vector.len() > limits.dimensions {
        return Err(Error::invalid(
            field,
            format!(
                "the vector has {} dimensions; give 1 to {}",
                vector.len(),
                limits.dimensions
            ),
        ));
    }
    match vector.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(Error::invalid(
            field,
            format!("value {at} of the vector is not a finite number"),
        )),
        None => Ok(vector),
    }
}

/// The instant at which something expires, which must lie ahead.
pub(crate) fn expiry(expiry: Expiry, now: Timestamp) -> Result<i64> {
    let at = match expiry {
        Expiry::At(at) => at,
        Expiry::After(time) => now.plus_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    };
    if at <= now {
        return Err(Error::invalid(
            "expires_at",
            "the expiry does not lie in the future; give a later one or leave it out",
        ));
    }
    Ok(at.0)
}

/// What two memories share exactly when their texts are equal byte for byte.
pub(crate) fn content_hash(content: &str) -> [u8; 16] {
    first_128_bits(content.as_bytes()).to_be_bytes()
}

/// The same error as it reads for one item of several.
pub(crate) fn in_item(error: Error, index: usize, count: usize) -> Error {
    if count == 1 {
        return error;
    }
    let field: Cow<'static, str> = match error.field() {
        Some(field) => format!("items[{index}].{field}").into(),
        None => format!("items[{index}]").into(),
    };
    error.at(field)
}
