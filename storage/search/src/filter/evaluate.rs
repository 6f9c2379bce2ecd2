//! Whether a record satisfies a filter.
//!
//! It is separate from parsing so that its semantics can be read in one place:
//! kinds are never converted, and a missing field satisfies nothing but
//! `is_empty`. It is total; no record makes it fail.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value as JsonValue;

use super::{Comparison, Field, Filter, Members, Operand, Test, time, tokens};
use crate::record::{Record, Value};

impl Filter {
    /// Whether the record satisfies the filter.
    pub fn evaluate(&self, record: &Record) -> bool {
        match self {
            Self::And(children) => children.iter().all(|child| child.evaluate(record)),
            Self::Or(children) => children.iter().any(|child| child.evaluate(record)),
            Self::Not(child) => !child.evaluate(record),
            Self::Leaf { field, test } => satisfies(value_of(record, field).as_deref(), test),
        }
    }
}

fn value_of<'a>(record: &'a Record, field: &Field) -> Option<Cow<'a, Value>> {
    let own = |text: &str| Some(Cow::Owned(Value::String(text.to_owned())));
    let optional = |text: &Option<String>| text.as_deref().and_then(own);
    let instant = |ms: i64| Some(Cow::Owned(Value::Int(ms)));
    match field {
        Field::Id => own(&record.id),
        Field::Key => optional(&record.key),
        Field::Kind => optional(&record.kind),
        Field::Scope => own(record.scope.as_str()),
        Field::Title => optional(&record.title),
        Field::Content => own(&record.content),
        Field::Source => optional(&record.source),
        Field::Author => optional(&record.author),
        Field::Sensitivity => optional(&record.sensitivity),
        Field::Confidence => record
            .confidence
            .map(|value| Cow::Owned(Value::Float(value))),
        Field::Status => own(record.status.as_str()),
        Field::Version => Some(Cow::Owned(Value::Int(
            i64::try_from(record.version).unwrap_or(i64::MAX),
        ))),
        Field::CreatedAt => instant(record.created),
        Field::UpdatedAt => instant(record.updated),
        Field::ExpiresAt => record.expires.and_then(instant),
        Field::Metadata(key) => record.metadata.get(key).map(Cow::Borrowed),
    }
}

fn satisfies(value: Option<&Value>, test: &Test) -> bool {
    let Some(value) = value else {
        return matches!(test, Test::IsEmpty);
    };
    match test {
        Test::Eq(wanted) => same_kind(value, wanted) && value == wanted,
        Test::Ne(other) => same_kind(value, other) && value != other,
        Test::Compare(comparison, operand) => compares(value, *comparison, operand),
        Test::In(members) => is_member(value, members),
        Test::Contains(wanted) => holds(value, wanted),
        Test::Match(words) => any_text(value, |text| tokens::matches(words, text)),
        Test::Regex(pattern) => any_text(value, |text| pattern.is_match(text)),
        Test::IsEmpty => is_empty(value),
        Test::IsNull => matches!(value, Value::Null),
        Test::Time(comparison, instant) => {
            instant_of(value).is_some_and(|ms| comparison.holds(ms.cmp(instant)))
        }
        Test::Geo(shape) => match value {
            Value::Geo { lat, lon } => shape.holds(*lat, *lon),
            _ => false,
        },
    }
}

fn same_kind(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn compares(value: &Value, comparison: Comparison, operand: &Operand) -> bool {
    let ordering = match (value, operand) {
        (Value::Int(a), Operand::Int(b)) => Some(a.cmp(b)),
        (Value::Int(a), Operand::Float(b)) => compare_int_float(*a, *b),
        (Value::Float(a), Operand::Int(b)) => compare_int_float(*b, *a).map(Ordering::reverse),
        (Value::Float(a), Operand::Float(b)) => a.partial_cmp(b),
        (Value::String(a), Operand::String(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        _ => None,
    };
    ordering.is_some_and(|ordering| comparison.holds(ordering))
}

fn compare_int_float(int: i64, float: f64) -> Option<Ordering> {
    (int as f64).partial_cmp(&float)
}

fn is_member(value: &Value, members: &Members) -> bool {
    match (value, members) {
        (Value::String(value), Members::Strings(members)) => members.contains(value),
        (Value::Int(value), Members::Ints(members)) => members.contains(value),
        (Value::Float(value), Members::Floats(members)) => members
            .binary_search_by(|member| member.partial_cmp(value).unwrap_or(Ordering::Less))
            .is_ok(),
        _ => false,
    }
}

fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Strings(items), Value::String(wanted)) => items.contains(wanted),
        (Value::Ints(items), Value::Int(wanted)) => items.contains(wanted),
        (Value::Floats(items), Value::Float(wanted)) => items.contains(wanted),
        _ => false,
    }
}

fn any_text(value: &Value, holds: impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Strings(texts) => texts.iter().any(|text| holds(text)),
        _ => false,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Strings(items) => items.is_empty(),
        Value::Ints(items) => items.is_empty(),
        Value::Floats(items) => items.is_empty(),
        Value::Json(JsonValue::Array(items)) => items.is_empty(),
        Value::Json(JsonValue::Object(items)) => items.is_empty(),
        _ => false,
    }
}

fn instant_of(value: &Value) -> Option<i64> {
    match value {
        Value::Int(ms) => Some(*ms),
        Value::String(text) => time::parse_instant(text).ok(),
        _ => None,
    }
}
