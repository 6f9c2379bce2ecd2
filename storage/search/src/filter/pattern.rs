//! Regular expressions of filters: linear time and bounded size.
//!
//! They are wrapped so that a filter can be compared, and so that no pattern
//! is compiled without the limits.

use regex::{Regex, RegexBuilder};

/// Longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 4096;
/// What a compiled pattern may occupy, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// A compiled pattern. Two are equal if their sources are.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
}

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// Past [`MAX_PATTERN_BYTES`].
    #[error("the pattern has {bytes} bytes: at most {MAX_PATTERN_BYTES} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not a pattern, or one that compiles to too much.
    #[error("the pattern is not accepted: {0}")]
    Refused(regex::Error),
}

impl Pattern {
    /// Compiles a pattern, unanchored.
    pub fn parse(source: &str) -> Result<Self, PatternError> {
        if source.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong {
                bytes: source.len(),
            });
        }
        RegexBuilder::new(source)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
            .map(|regex| Self { regex })
            .map_err(PatternError::Refused)
    }

    /// Whether the pattern occurs in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The pattern as written.
    pub fn source(&self) -> &str {
        self.regex.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}
