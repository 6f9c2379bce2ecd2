//! Whether a record satisfies a filter.
//!
//! It is separate from parsing so that its semantics can be read in one place:
//! kinds are never converted, and a missing field satisfies nothing but
//! `is_empty`. It is total; no record makes it fail.

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
            Self::Leaf { field, test } => satisfies(view(record, field), test),
        }
    }
}

/// A field's value as tests see it.
#[derive(Clone, Copy)]
enum View<'a> {
    Text(&'a str),
    Int(i64),
    Float(f64),
    Stored(&'a Value),
}

impl<'a> View<'a> {
    fn of(value: &'a Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Int(int) => Self::Int(*int),
            Value::Float(float) => Self::Float(*float),
            other => Self::Stored(other),
        }
    }
}

fn view<'a>(record: &'a Record, field: &Field) -> Option<View<'a>> {
    let optional = |text: &'a Option<String>| text.as_deref().map(View::Text);
    match field {
        Field::Id => Some(View::Text(&record.id)),
        Field::Key => optional(&record.key),
        Field::Kind => optional(&record.kind),
        Field::Scope => Some(View::Text(record.scope.as_str())),
        Field::Title => optional(&record.title),
        Field::Content => Some(View::Text(&record.content)),
        Field::Source => optional(&record.source),
        Field::Author => optional(&record.author),
        Field::Sensitivity => optional(&record.sensitivity),
        Field::Confidence => record.confidence.map(View::Float),
        Field::Status => Some(View::Text(record.status.as_str())),
        Field::Version => Some(View::Int(i64::try_from(record.version).unwrap_or(i64::MAX))),
        Field::CreatedAt => Some(View::Int(record.created)),
        Field::UpdatedAt => Some(View::Int(record.updated)),
        Field::ExpiresAt => record.expires.map(View::Int),
        Field::Metadata(key) => record.metadata.get(key).map(View::of),
    }
}

/// A field's value as the orders of numbers and of instants see it, so that an index of
/// these orders asks the same rules as a record does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ordered {
    /// A whole number, which as an instant is in Unix milliseconds.
    Int(i64),
    /// A float.
    Float(f64),
    /// The instant that a text names, in Unix milliseconds.
    Time(i64),
}

impl Ordered {
    /// The value of a record's field, if these orders have a place for it.
    pub(crate) fn of(record: &Record, field: &Field) -> Option<Self> {
        match view(record, field)? {
            View::Int(int) => Some(Self::Int(int)),
            View::Float(float) => Some(Self::Float(float)),
            text @ View::Text(_) => instant_of(text).map(Self::Time),
            View::Stored(_) => None,
        }
    }

    /// Whether the value satisfies a test of these orders.
    pub(crate) fn satisfies(self, test: &Test) -> bool {
        match (self, test) {
            (Self::Int(int), test) => satisfies(Some(View::Int(int)), test),
            (Self::Float(float), test) => satisfies(Some(View::Float(float)), test),
            (Self::Time(ms), Test::Time(comparison, instant)) => comparison.holds(ms.cmp(instant)),
            (Self::Time(_), _) => false,
        }
    }

    /// The values that a test of equality with numbers allows; `None` of another test.
    pub(crate) fn equal_in(test: &Test) -> Option<Vec<Self>> {
        match test {
            Test::Eq(Value::Int(int)) => Some(vec![Self::Int(*int)]),
            Test::Eq(Value::Float(float)) => Some(vec![Self::Float(*float)]),
            Test::In(Members::Ints(ints)) => Some(ints.iter().copied().map(Self::Int).collect()),
            Test::In(Members::Floats(floats)) => {
                Some(floats.iter().copied().map(Self::Float).collect())
            }
            _ => None,
        }
    }
}

fn satisfies(value: Option<View<'_>>, test: &Test) -> bool {
    let Some(value) = value else {
        return matches!(test, Test::IsEmpty);
    };
    match test {
        Test::Eq(wanted) => equals(value, wanted) == Some(true),
        Test::Ne(other) => equals(value, other) == Some(false),
        Test::Compare(comparison, operand) => compares(value, *comparison, operand),
        Test::In(members) => is_member(value, members),
        Test::Contains(wanted) => holds(value, wanted),
        Test::Match(words) => any_text(value, |text| tokens::matches(words, text)),
        Test::Regex(pattern) => any_text(value, |text| pattern.is_match(text)),
        Test::IsEmpty => is_empty(value),
        Test::IsNull => matches!(value, View::Stored(Value::Null)),
        Test::Time(comparison, instant) => {
            instant_of(value).is_some_and(|ms| comparison.holds(ms.cmp(instant)))
        }
        Test::Geo(shape) => match value {
            View::Stored(Value::Geo { lat, lon }) => shape.holds(*lat, *lon),
            _ => false,
        },
    }
}

/// Whether the values are equal; `None` if their kinds differ.
fn equals(value: View<'_>, wanted: &Value) -> Option<bool> {
    match (value, View::of(wanted)) {
        (View::Text(a), View::Text(b)) => Some(a == b),
        (View::Int(a), View::Int(b)) => Some(a == b),
        (View::Float(a), View::Float(b)) => Some(a.partial_cmp(&b) == Some(Ordering::Equal)),
        (View::Stored(a), View::Stored(b)) => {
            (std::mem::discriminant(a) == std::mem::discriminant(b)).then(|| a == b)
        }
        _ => None,
    }
}

fn compares(value: View<'_>, comparison: Comparison, operand: &Operand) -> bool {
    let ordering = match (value, operand) {
        (View::Int(a), Operand::Int(b)) => Some(a.cmp(b)),
        (View::Int(a), Operand::Float(b)) => compare_int_float(a, *b),
        (View::Float(a), Operand::Int(b)) => compare_int_float(*b, a).map(Ordering::reverse),
        (View::Float(a), Operand::Float(b)) => a.partial_cmp(b),
        (View::Text(a), Operand::String(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        _ => None,
    };
    ordering.is_some_and(|ordering| comparison.holds(ordering))
}

fn compare_int_float(int: i64, float: f64) -> Option<Ordering> {
    (int as f64).partial_cmp(&float)
}

fn is_member(value: View<'_>, members: &Members) -> bool {
    match (value, members) {
        (View::Text(value), Members::Strings(members)) => members.contains(value),
        (View::Int(value), Members::Ints(members)) => members.contains(&value),
        (View::Float(value), Members::Floats(members)) => members
            .binary_search_by(|member| member.partial_cmp(&value).unwrap_or(Ordering::Less))
            .is_ok(),
        _ => false,
    }
}

fn holds(value: View<'_>, wanted: &Value) -> bool {
    match (value, wanted) {
        (View::Stored(Value::Strings(items)), Value::String(wanted)) => items.contains(wanted),
        (View::Stored(Value::Ints(items)), Value::Int(wanted)) => items.contains(wanted),
        (View::Stored(Value::Floats(items)), Value::Float(wanted)) => items.contains(wanted),
        _ => false,
    }
}

fn any_text(value: View<'_>, holds: impl Fn(&str) -> bool) -> bool {
    match value {
        View::Text(text) => holds(text),
        View::Stored(Value::Strings(texts)) => texts.iter().any(|text| holds(text)),
        _ => false,
    }
}

fn is_empty(value: View<'_>) -> bool {
    match value {
        View::Text(text) => text.is_empty(),
        View::Stored(Value::Null) => true,
        View::Stored(Value::Strings(items)) => items.is_empty(),
        View::Stored(Value::Ints(items)) => items.is_empty(),
        View::Stored(Value::Floats(items)) => items.is_empty(),
        View::Stored(Value::Json(JsonValue::Array(items))) => items.is_empty(),
        View::Stored(Value::Json(JsonValue::Object(items))) => items.is_empty(),
        _ => false,
    }
}

fn instant_of(value: View<'_>) -> Option<i64> {
    match value {
        View::Int(ms) => Some(ms),
        View::Text(text) => time::parse_instant(text).ok(),
        _ => None,
    }
}
