//! Filters: exact, kind-strict conditions on records.
//!
//! They are parsed once into a tree that cannot hold an unknown operator, so a
//! filter is applied as written or refused; it is never partly ignored. Nothing
//! here ranks.

use std::cmp::Ordering;
use std::collections::BTreeSet;

mod error;
mod evaluate;
mod field;
mod geo;
mod leaf;
mod normalise;
mod operand;
mod parse;
mod pattern;
mod time;
mod tokens;

pub use error::{FilterError, FilterReason};
pub(crate) use evaluate::Ordered;
pub use field::{Field, FieldKind};
pub use geo::Shape;
pub use parse::{MAX_DEPTH, MAX_NODES, ValueSyntax};
pub use pattern::{MAX_PATTERN_BYTES, Pattern, PatternError};
pub use time::{TimeError, parse_instant};

use crate::record::Value;

/// A condition on a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All of them; true of every record when there are none.
    And(Vec<Self>),
    /// One of them; true of no record when there are none.
    Or(Vec<Self>),
    /// Not this.
    Not(Box<Self>),
    /// A test of one field.
    Leaf {
        /// The field.
        field: Field,
        /// The test.
        test: Test,
    },
}

impl Filter {
    /// A filter that every record satisfies.
    pub fn everything() -> Self {
        Self::And(Vec::new())
    }

    /// This and another.
    pub fn and(self, other: Self) -> Self {
        Self::And(vec![self, other])
    }

    /// The condition that a field equals a value of the same kind.
    pub fn equals(field: Field, value: Value) -> Self {
        Self::Leaf {
            field,
            test: Test::Eq(value),
        }
    }
}

/// A test of one field. A record without the field satisfies none but
/// [`Test::IsEmpty`].
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The same kind and value.
    Eq(Value),
    /// The same kind and another value.
    Ne(Value),
    /// An order: numbers by value, strings bytewise.
    Compare(Comparison, Operand),
    /// One of these, of the same kind.
    In(Members),
    /// The field is an array that holds this scalar.
    Contains(Value),
    /// Every word occurs in the string, or all in one element of the strings.
    Match(Vec<String>),
    /// The pattern occurs in the string or in an element.
    Regex(Pattern),
    /// Absent, null, or an empty string, array or object.
    IsEmpty,
    /// Present and null.
    IsNull,
    /// An order of instants, in Unix milliseconds.
    Time(Comparison, i64),
    /// The place lies within the shape.
    Geo(Shape),
}

/// An order relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Greater than.
    Gt,
    /// Greater than or equal to.
    Gte,
    /// Less than.
    Lt,
    /// Less than or equal to.
    Lte,
}

impl Comparison {
    /// Whether an ordering satisfies the relation.
    pub fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Gt => ordering.is_gt(),
            Self::Gte => ordering.is_ge(),
            Self::Lt => ordering.is_lt(),
            Self::Lte => ordering.is_le(),
        }
    }
}

/// What an order relation compares with.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A whole number.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    String(String),
}

/// The members of an `in` test, sorted so that thousands cost little.
#[derive(Debug, Clone, PartialEq)]
pub enum Members {
    /// Strings.
    Strings(BTreeSet<String>),
    /// Whole numbers.
    Ints(BTreeSet<i64>),
    /// Floats, in ascending order, without NaN.
    Floats(Vec<f64>),
}

#[cfg(test)]
mod tests;
