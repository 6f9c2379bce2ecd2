//! The terms of a stored text, counted.
//!
//! It is what an index keeps of a text. It must not depend on any other text,
//! so that one record can be taken out of an index by analysing it again.

use std::collections::BTreeMap;

use super::tokens::{Role, Side, each_token};

/// The terms of a record and how often each occurs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentTerms {
    /// Occurrences by term.
    pub counts: BTreeMap<String, u32>,
    /// Length in words: other forms of a word and stop words do not count.
    pub length: u32,
}

impl DocumentTerms {
    /// Analyses the texts of one record.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut terms = Self::default();
        for text in texts {
            each_token(text, Side::Document, |token| {
                if token.role == Role::Word {
                    terms.length = terms.length.saturating_add(1);
                }
                let count = terms.counts.entry(token.term).or_default();
                *count = count.saturating_add(1);
            });
        }
        terms
    }
}
