//! Scope paths: where a record belongs, as segments joined by `/`.
//!
//! They are a parsed type so that no path that could mean "everything" or
//! "somewhere above" gets past the boundary. Nothing here knows which scopes
//! exist.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// Longest segment, in bytes.
pub const MAX_SEGMENT_BYTES: usize = 128;
/// Longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 1024;

/// A path of segments joined by `/`; the root is the empty path.
///
/// Paths compare by segment text, case and normalisation form included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct ScopePath(String);

/// Why a text is not a scope path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Two slashes in a row, or one at an end.
    #[error(
        "scope has an empty segment: write it as `a/b`, without a leading, trailing or double slash"
    )]
    EmptySegment,
    /// A segment that would mean another place.
    #[error("scope segment `{segment}` is reserved: use a name")]
    Reserved {
        /// The segment as given: `.`, `..` or `*`.
        segment: &'static str,
    },
    /// A control character.
    #[error("scope contains the control character U+{code:04X}: remove it")]
    Control {
        /// The code point.
        code: u32,
    },
    /// A segment past [`MAX_SEGMENT_BYTES`].
    #[error("scope segment {position} has {bytes} bytes: at most {MAX_SEGMENT_BYTES} are allowed")]
    SegmentTooLong {
        /// Which segment, from 1.
        position: usize,
        /// Its length.
        bytes: usize,
    },
    /// A path past [`MAX_PATH_BYTES`].
    #[error("scope has {bytes} bytes: at most {MAX_PATH_BYTES} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

impl ScopePath {
    /// The root, the ancestor of every scope.
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses a path; the empty text is the root.
    pub fn parse(text: &str) -> Result<Self, ScopeError> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(ScopeError::TooLong { bytes: text.len() });
        }
        for (index, segment) in text.split('/').enumerate() {
            check_segment(index + 1, segment)?;
        }
        Ok(Self(text.to_owned()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The segments from the root down; none for the root.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The number of segments.
    pub fn depth(&self) -> usize {
        self.segments().count()
    }

    /// The path one segment shorter; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let parent = self.0.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self(parent.to_owned()))
    }

    /// The path one segment longer.
    pub fn child(&self, segment: &str) -> Result<Self, ScopeError> {
        if segment.contains('/') {
            return Err(ScopeError::EmptySegment);
        }
        if self.is_root() && segment.is_empty() {
            return Err(ScopeError::EmptySegment);
        }
        if self.is_root() {
            Self::parse(segment)
        } else {
            Self::parse(&format!("{}/{segment}", self.0))
        }
    }

    /// The ancestors from the root down, without the path itself.
    pub fn ancestors(&self) -> Vec<Self> {
        let mut ancestors: Vec<Self> = std::iter::successors(self.parent(), Self::parent).collect();
        ancestors.reverse();
        ancestors
    }

    /// Whether this path lies strictly above `other`.
    pub fn is_ancestor_of(&self, other: &Self) -> bool {
        self != other && self.contains(other)
    }

    /// Whether `other` is this path or lies below it.
    pub fn contains(&self, other: &Self) -> bool {
        self.is_root()
            || other
                .0
                .strip_prefix(self.0.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

fn check_segment(position: usize, segment: &str) -> Result<(), ScopeError> {
    if segment.is_empty() {
        return Err(ScopeError::EmptySegment);
    }
    if let Some(reserved) = [".", "..", "*"].into_iter().find(|name| *name == segment) {
        return Err(ScopeError::Reserved { segment: reserved });
    }
    if let Some(control) = segment.chars().find(|c| c.is_control()) {
        return Err(ScopeError::Control {
            code: u32::from(control),
        });
    }
    if segment.len() > MAX_SEGMENT_BYTES {
        return Err(ScopeError::SegmentTooLong {
            position,
            bytes: segment.len(),
        });
    }
    Ok(())
}

impl fmt::Display for ScopePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ScopePath {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl<'de> Deserialize<'de> for ScopePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}
