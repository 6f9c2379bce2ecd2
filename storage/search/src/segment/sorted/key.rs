//! Keys: whole numbers without sign in the order of the values they stand for.
//!
//! What a test selects is found by asking the test itself about the values that keys stand
//! for, so that a range cannot differ from what filters say of a record: of `NaN`, of the
//! two zeros, and of whole numbers that no float has.

use std::ops::RangeInclusive;

use crate::filter::{Comparison, Operand, Ordered, Test};

/// Keys from one to another, both included.
pub type Keys = RangeInclusive<u64>;

const SIGN: u64 = 1 << 63;

/// How keys stand for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A whole number: its bits, the sign bit turned over.
    Int,
    /// A float that is a number: its bits, turned over if it is negative, else the sign bit
    /// alone. -0 stands as 0.
    Float,
    /// A text that names an instant: its Unix milliseconds, as whole numbers are.
    Time,
}

/// The key of a value and its kind; `None` for `NaN`, which has no place in any order.
pub(super) fn key(value: Ordered) -> Option<(Kind, u64)> {
    match value {
        Ordered::Int(value) => Some((Kind::Int, of_int(value))),
        Ordered::Time(value) => Some((Kind::Time, of_int(value))),
        Ordered::Float(value) if value.is_nan() => None,
        Ordered::Float(value) => Some((Kind::Float, of_float(value))),
    }
}

pub(super) fn of_int(value: i64) -> u64 {
    value.cast_unsigned() ^ SIGN
}

fn of_float(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits & SIGN == 0 { bits ^ SIGN } else { !bits }
}

impl Kind {
    fn value(self, key: u64) -> Ordered {
        let int = || (key ^ SIGN).cast_signed();
        match self {
            Self::Int => Ordered::Int(int()),
            Self::Time => Ordered::Time(int()),
            Self::Float if key & SIGN == 0 => Ordered::Float(f64::from_bits(!key)),
            Self::Float => Ordered::Float(f64::from_bits(key ^ SIGN)),
        }
    }

    fn domain(self) -> Keys {
        match self {
            Self::Int | Self::Time => 0..=u64::MAX,
            Self::Float => of_float(f64::NEG_INFINITY)..=of_float(f64::INFINITY),
        }
    }

    /// The keys whose values satisfy an order; nothing if none does.
    fn ordered(self, comparison: Comparison, test: &Test) -> Option<Keys> {
        let domain = self.domain();
        let holds = |key: u64| self.value(key).satisfies(test);
        match comparison {
            Comparison::Gt | Comparison::Gte => {
                let first = first_failing(&domain, |key| !holds(key))?;
                Some(first..=*domain.end())
            }
            Comparison::Lt | Comparison::Lte => match first_failing(&domain, holds) {
                None => Some(domain),
                Some(after) if after > *domain.start() => Some(*domain.start()..=after - 1),
                Some(_) => None,
            },
        }
    }

    /// The keys whose values satisfy a test, in parts; `None` if the order of values does not
    /// say.
    pub(super) fn satisfying(self, test: &Test) -> Option<Vec<Keys>> {
        match (test, self) {
            (Test::Compare(_, Operand::String(_)), _) => None,
            (Test::Compare(comparison, _) | Test::Time(comparison, _), kind) => {
                Some(kind.ordered(*comparison, test).into_iter().collect())
            }
            (Test::Eq(_) | Test::In(_), kind) => {
                let keys = equal(test)?.into_iter().filter(|(found, _)| *found == kind);
                Some(keys.map(|(_, key)| key..=key).collect())
            }
            _ => None,
        }
    }
}

/// Members of an `in` test up to which each is looked up.
const MOST_MEMBERS: usize = 16;

/// The keys that a test of equality allows, if they are few numbers.
fn equal(test: &Test) -> Option<Vec<(Kind, u64)>> {
    let values = Ordered::equal_in(test)?;
    (values.len() <= MOST_MEMBERS).then(|| values.into_iter().filter_map(key).collect())
}

/// The first key that does not satisfy what all keys below it do.
fn first_failing(domain: &Keys, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (*domain.start(), *domain.end());
    if holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Some(low)
}
