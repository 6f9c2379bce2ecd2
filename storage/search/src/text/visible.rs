//! Text without the characters that have no appearance, and the way back.
//!
//! It is separate so that cutting sees words whole, whatever was slipped into them,
//! while ranges still point into the text as the user gave it.

use std::borrow::Cow;
use std::ops::Range;

use super::class::is_ignorable;

/// A text without the characters that have no appearance.
pub(super) struct Visible<'a> {
    pub(super) text: Cow<'a, str>,
    /// Where characters were taken out, as (offset here, bytes taken out up to it).
    removed: Vec<(usize, usize)>,
}

impl<'a> Visible<'a> {
    pub(super) fn of(original: &'a str) -> Self {
        if original.is_ascii() || !original.contains(is_ignorable) {
            return Self {
                text: Cow::Borrowed(original),
                removed: Vec::new(),
            };
        }
        let (mut text, mut removed, mut bytes) = (String::new(), Vec::new(), 0);
        for c in original.chars() {
            if is_ignorable(c) {
                bytes += c.len_utf8();
                removed.push((text.len(), bytes));
            } else {
                text.push(c);
            }
        }
        Self {
            text: Cow::Owned(text),
            removed,
        }
    }

    /// The range of the original text that a range of this one comes from.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let shift = |count: usize| {
            count
                .checked_sub(1)
                .and_then(|last| self.removed.get(last))
                .map_or(0, |(_, bytes)| *bytes)
        };
        let before = self
            .removed
            .partition_point(|(offset, _)| *offset <= range.start);
        let within = self
            .removed
            .partition_point(|(offset, _)| *offset < range.end);
        range.start + shift(before)..range.end + shift(within)
    }
}
