//! Filters from JSON, strictly: what is not understood is refused, with the
//! path to it.
//!
//! An unknown key or operator that is ignored turns a filter into "everything",
//! so nothing is ignored here. Depth and size are bounded before anything is
//! compiled.

use serde_json::Value as JsonValue;

use super::{Filter, PatternError, TimeError};

/// How deep conditions may nest.
pub const MAX_DEPTH: usize = 32;
/// How many conditions a filter may have.
pub const MAX_NODES: usize = 10_000;

/// How a filter's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueSyntax {
    /// `{"kind": "int", "int": 1}` only.
    Tagged,
    /// A plain JSON scalar or array as well, its kind inferred.
    #[default]
    Plain,
}

/// Why a filter was refused. `path` says where, like `filter.and[1]`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct FilterError {
    /// Where.
    pub path: String,
    /// What.
    pub reason: FilterReason,
}

/// What is wrong with a condition.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FilterReason {
    /// Not an object.
    #[error("a condition is an object, got {found}")]
    NotAnObject {
        /// The JSON type found.
        found: &'static str,
    },
    /// The pattern is refused.
    #[error(transparent)]
    Pattern(PatternError),
    /// The instant is refused.
    #[error(transparent)]
    Time(TimeError),
}

impl Filter {
    /// Reads a filter whose values are tagged or plain.
    pub fn parse(json: &JsonValue) -> Result<Self, FilterError> {
        Self::parse_with(json, ValueSyntax::Plain)
    }

    /// Reads a filter whose values are written in the given syntax.
    pub fn parse_with(json: &JsonValue, _syntax: ValueSyntax) -> Result<Self, FilterError> {
        let _ = json;
        Err(FilterError {
            path: "filter".to_owned(),
            reason: FilterReason::NotAnObject { found: "a value" },
        })
    }
}
