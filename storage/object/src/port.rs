//! The ports through which time and chance enter. They are separate so that a
//! seed replays a whole run; nothing in this workspace below the edges may
//! take either from anywhere else.

#[cfg(feature = "native")]
pub mod native;
#[cfg(any(test, feature = "simulated"))]
pub mod simulated;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds from `earlier` to `self`; zero if `earlier` is later.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// This moment plus `millis`.
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)),
        )
    }
}

/// Wall time and waiting.
#[async_trait]
pub trait Clock: Send + Sync + fmt::Debug {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Waits for `duration`.
    async fn sleep(&self, duration: Duration);
}

/// Randomness for identifiers and jitter.
pub trait Ids: Send + Sync + fmt::Debug {
    /// 128 fresh random bits.
    fn random(&self) -> u128;
}

/// Names one commit for good: a retry of the same request carries the same id,
/// and takes effect once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub u128);

/// Names one writing process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriterId(pub u128);

macro_rules! hex_id {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:032x})"), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                u128::from_str_radix(&text, 16)
                    .map(Self)
                    .map_err(serde::de::Error::custom)
            }
        }
    };
}

hex_id!(CommitId);
hex_id!(WriterId);
