//! Why a filter was refused, in sentences that say where and what to write
//! instead.
//!
//! They are typed so that a surface can tell an unknown operator from a bad
//! instant; the text is what an agent reads and corrects itself by.

use serde_json::Value as JsonValue;

use super::parse::op_names;
use super::{Field, FieldKind, MAX_DEPTH, MAX_NODES, PatternError, TimeError};

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
    #[error(
        "a condition is an object like {{\"op\": \"eq\", \"field\": …, \"value\": …}}, got {found}"
    )]
    NotAnObject {
        /// The JSON type found.
        found: &'static str,
    },
    /// Not an array.
    #[error("expected an array of conditions, got {found}")]
    NotAnArray {
        /// The JSON type found.
        found: &'static str,
    },
    /// An empty object.
    #[error("a condition needs an `op`: one of {}", op_names())]
    NoOp,
    /// No `op`, but another key.
    #[error(
        "unknown key \"{key}\" and no `op`: write {{\"op\": \"eq\", \"field\": \"{key}\", \"value\": …}}"
    )]
    NoOpBut {
        /// The first key.
        key: String,
    },
    /// `op` is not a string.
    #[error("`op` is a string, got {found}")]
    OpType {
        /// The JSON type found.
        found: &'static str,
    },
    /// An operator that does not exist.
    #[error("unknown op \"{op}\": use one of {}", op_names())]
    UnknownOp {
        /// The name given.
        op: String,
    },
    /// A key that the operator does not have.
    #[error("unknown key \"{key}\" for op \"{op}\": allowed are op, {}", allowed.join(", "))]
    UnknownKey {
        /// The key.
        key: String,
        /// The operator.
        op: &'static str,
        /// The keys it has.
        allowed: &'static [&'static str],
    },
    /// `not` without its condition.
    #[error("filter op 'not' requires a 'not' child")]
    NoChild,
    /// A test without a field.
    #[error("leaf filter op \"{op}\" requires a field")]
    NoField {
        /// The operator.
        op: &'static str,
    },
    /// `field` is not a string.
    #[error("`field` is a string, got {found}")]
    FieldType {
        /// The JSON type found.
        found: &'static str,
    },
    /// A field with `$` that records do not have.
    #[error("unknown field \"{field}\": own fields are {}", Field::names().collect::<Vec<_>>().join(", "))]
    UnknownField {
        /// The name given.
        field: String,
    },
    /// A test without what it compares with.
    #[error("op \"{op}\" requires `{slot}`")]
    NoOperand {
        /// The operator.
        op: &'static str,
        /// The missing key.
        slot: &'static str,
    },
    /// A plain value where only tagged ones are read.
    #[error("a value is an object like {{\"kind\": \"string\", \"str\": …}}, got {found}")]
    NotTagged {
        /// The JSON type found.
        found: &'static str,
    },
    /// A kind that does not exist.
    #[error(
        "unknown kind \"{kind}\": use string, int, float, bool, strings, ints, floats, geo or none"
    )]
    UnknownKind {
        /// The name given.
        kind: String,
    },
    /// A slot that belongs to another kind, or none.
    #[error("kind \"{kind}\" takes {expected}, got \"{found}\"")]
    WrongSlot {
        /// The kind.
        kind: &'static str,
        /// The slot it takes.
        expected: &'static str,
        /// The key found.
        found: String,
    },
    /// The slot of the kind is missing.
    #[error("kind \"{kind}\" requires {expected}")]
    NoSlot {
        /// The kind.
        kind: &'static str,
        /// The slot it takes.
        expected: &'static str,
    },
    /// A slot holds another JSON type.
    #[error("`{slot}` is not {expected}")]
    SlotType {
        /// The slot.
        slot: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
    /// A plain value that has no kind.
    #[error(
        "a plain value is a string, a number, a boolean, null or an array of one kind, got {found}"
    )]
    NoKind {
        /// The JSON type found.
        found: &'static str,
    },
    /// The operator does not take values of this kind.
    #[error("op \"{op}\" takes {expected}, got {found}")]
    WrongKind {
        /// The operator.
        op: &'static str,
        /// The kinds it takes.
        expected: &'static str,
        /// The kind given.
        found: &'static str,
    },
    /// The operator says nothing of a field of this kind.
    #[error("op \"{op}\" does not apply to `{field}`, which holds {}", describe(*kind))]
    WrongField {
        /// The operator.
        op: &'static str,
        /// The field.
        field: Field,
        /// What it holds.
        kind: FieldKind,
    },
    /// The value could never equal the field.
    #[error("`{field}` holds {}, got a value of kind {found}", describe(*kind))]
    FieldValue {
        /// The field.
        field: Field,
        /// What it holds.
        kind: FieldKind,
        /// The kind given.
        found: &'static str,
    },
    /// A key that a shape does not have.
    #[error("unknown key \"{key}\" in geo: allowed are {allowed}")]
    GeoKey {
        /// The key.
        key: String,
        /// The keys it has.
        allowed: &'static str,
    },
    /// A shape that is none.
    #[error("geo: {rule}")]
    Geo {
        /// What has to hold.
        rule: &'static str,
    },
    /// Past [`MAX_DEPTH`].
    #[error("conditions nest deeper than {MAX_DEPTH}")]
    TooDeep,
    /// Past [`MAX_NODES`].
    #[error("the filter has more than {MAX_NODES} conditions: `in` takes a list of values")]
    TooMany,
    /// The pattern is refused.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The instant is refused.
    #[error(transparent)]
    Time(#[from] TimeError),
}

/// The name of a JSON value's type, for an error message.
pub(super) fn json_type(json: &JsonValue) -> &'static str {
    match json {
        JsonValue::Null => "null",
        JsonValue::Bool(_) => "a boolean",
        JsonValue::Number(_) => "a number",
        JsonValue::String(_) => "a string",
        JsonValue::Array(_) => "an array",
        JsonValue::Object(_) => "an object",
    }
}

fn describe(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::String => "a string",
        FieldKind::Int => "an int",
        FieldKind::Float => "a float",
        FieldKind::Time => "an instant (use dt_gt, dt_gte, dt_lt, dt_lte)",
        FieldKind::Any => "any value",
    }
}
