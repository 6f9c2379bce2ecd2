//! What of a memory's content goes into a reply. Replies are bounded, as agents
//! and their clients are; what is left out is said, with the place to go on from.

use ostraca_search::snippet;

/// A part of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The part.
    pub text: String,
    /// The byte of the content at which it starts.
    pub start: u64,
    /// The size of the whole content in bytes.
    pub content_bytes: u64,
}

impl Excerpt {
    /// The whole content, or the most of it from a byte on.
    pub fn from(content: &str, offset: u64, most: usize) -> Self {
        let start = boundary(content, usize::try_from(offset).unwrap_or(usize::MAX));
        let mut end = boundary(content, start.saturating_add(most));
        if end == start && start < content.len() {
            // Less room than one character: give that one, so that paging always ends.
            end = content
                .get(start..)
                .and_then(|rest| rest.chars().next())
                .map_or(start, |first| start + first.len_utf8());
        }
        Self::cut(content, start, end)
    }

    /// The part of the content that shows best why it was found.
    pub fn around(content: &str, terms: &[String], chunk: Option<(u32, u32)>, most: usize) -> Self {
        let found = snippet::snippet(content, terms, chunk, most);
        Self::cut(content, found.range.start, found.range.end)
    }

    fn cut(content: &str, start: usize, end: usize) -> Self {
        Self {
            text: content.get(start..end).unwrap_or_default().to_owned(),
            start: start as u64,
            content_bytes: content.len() as u64,
        }
    }

    /// Whether it is the whole content.
    pub fn is_whole(&self) -> bool {
        self.text.len() as u64 == self.content_bytes
    }

    /// The byte to go on from, if more follows.
    pub fn next_offset(&self) -> Option<u64> {
        let end = self.start + self.text.len() as u64;
        (end < self.content_bytes).then_some(end)
    }
}

/// The last character boundary at or before a byte.
fn boundary(content: &str, at: usize) -> usize {
    let mut at = at.min(content.len());
    while !content.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// How much content a reply has left to give.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes: usize,
    tokens: Option<u64>,
    given: bool,
}

impl Budget {
    pub(crate) fn new(bytes: usize, tokens: Option<u32>) -> Self {
        Self {
            bytes,
            tokens: tokens.map(u64::from),
            given: false,
        }
    }

    /// Takes room for a text and the fields around it. The first always gets room,
    /// so that no reply is empty for want of it.
    pub(crate) fn take(&mut self, text: &str, around: usize) -> bool {
        let (bytes, tokens) = (
            text.len() + around,
            estimated_tokens(text) + around as u64 / 4,
        );
        let fits = bytes <= self.bytes && self.tokens.is_none_or(|left| tokens <= left);
        if !fits && self.given {
            return false;
        }
        self.given = true;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.tokens = self.tokens.map(|left| left.saturating_sub(tokens));
        true
    }
}

/// A model-free estimate: four characters of ASCII a token, one character of others.
fn estimated_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii.div_ceil(4) + other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a39_paging_gives_every_byte_once() {
        for content in ["x".repeat(10), "é🟡a".repeat(7), String::new()] {
            for most in 1..9 {
                let (mut offset, mut whole) = (Some(0), String::new());
                while let Some(at) = offset {
                    let part = Excerpt::from(&content, at, most);
                    whole.push_str(&part.text);
                    offset = part.next_offset();
                }
                assert_eq!(whole, content);
            }
        }
    }

    #[test]
    fn an_offset_past_the_end_gives_nothing() {
        let part = Excerpt::from("abc", 99, 10);
        assert_eq!((part.text.as_str(), part.next_offset()), ("", None));
    }

    #[test]
    fn a_budget_gives_the_first_and_stops_in_time() {
        let mut budget = Budget::new(100, Some(20));
        assert!(budget.take(&"a".repeat(70), 0));
        assert!(!budget.take(&"a".repeat(70), 0));
        assert!(Budget::new(1, Some(1)).take("longer than that", 0));
    }
}
