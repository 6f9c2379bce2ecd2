//! Times on the wire: RFC 3339 in and out, an expiry as an instant or as a time
//! to live, and the moment of a point-in-time read. Parsing itself is the
//! domain's, so that every surface reads the same texts.

use std::borrow::Cow;
use std::time::Duration;

use ostraca_memory as domain;
use ostraca_memory::{Error, Expiry, Timestamp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

/// An optional instant.
pub(super) fn instant(
    field: &'static str,
    text: Option<String>,
) -> Result<Option<Timestamp>, Error> {
    text.map(|text| domain::time::parse_instant(field, &text))
        .transpose()
}

/// When a memory ends, given in at most one of two ways.
pub(super) fn expiry(
    expires_at: Option<String>,
    ttl_seconds: Option<u64>,
) -> Result<Option<Expiry>, Error> {
    match (expires_at, ttl_seconds) {
        (None, None) => Ok(None),
        (Some(at), None) => Ok(Some(Expiry::At(domain::time::parse_instant(
            "expires_at",
            &at,
        )?))),
        (None, Some(seconds)) => Ok(Some(Expiry::After(Duration::from_secs(seconds)))),
        (Some(_), Some(_)) => Err(Error::invalid(
            "ttl_seconds",
            "stands beside expires_at; give one of the two",
        )),
    }
}

/// A moment to read at: a log position, or a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsOf(String);

impl AsOf {
    /// The domain's moment.
    ///
    /// # Errors
    /// `Invalid` if the text is neither a position nor an instant.
    pub(super) fn resolve(self) -> Result<domain::AsOf, Error> {
        if let Ok(position) = self.0.parse() {
            return Ok(domain::AsOf::Position(position));
        }
        domain::time::parse_instant("as_of", &self.0).map(domain::AsOf::Time)
    }
}

impl<'de> Deserialize<'de> for AsOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Some callers send the position of a receipt as they got it: a number.
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a log position or an RFC 3339 time")]
        enum Written {
            Position(u64),
            Text(String),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Position(position) => Self(position.to_string()),
            Written::Text(text) => Self(text),
        })
    }
}

impl JsonSchema for AsOf {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AsOf".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
