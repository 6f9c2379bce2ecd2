//! The inverted index: for each term, the records that contain it.
//!
//! Records are numbers here, ascending in every list, so that a list is only ever
//! appended to. A record that leaves is taken off the counts at once and out of the
//! lists later, when the tail compacts.

#[expect(
    clippy::disallowed_types,
    reason = "terms are only looked up, and the hasher has no seed"
)]
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use crate::text::DocumentTerms;

#[expect(
    clippy::disallowed_types,
    reason = "terms are only looked up, and the hasher has no seed"
)]
type Terms = HashMap<Box<str>, Posting, BuildHasherDefault<DefaultHasher>>;

/// The terms and their posting lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Postings {
    terms: Terms,
}

/// One term's posting list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Posting {
    /// Live records that contain the term.
    live: u32,
    /// `(record, occurrences)`, ascending by record, dead ones included.
    list: Vec<(u32, u32)>,
}

impl Posting {
    /// Live records that contain the term.
    pub(crate) fn document_frequency(&self) -> u64 {
        u64::from(self.live)
    }

    /// `(record, occurrences)` in ascending order; the record may be dead.
    pub(crate) fn entries(&self) -> &[(u32, u32)] {
        &self.list
    }

    /// Whether the list has the record.
    pub(crate) fn contains(&self, doc: u32) -> bool {
        self.list
            .binary_search_by_key(&doc, |(doc, _)| *doc)
            .is_ok()
    }
}

impl Postings {
    /// Adds a record, whose number is higher than any before.
    pub(crate) fn add(&mut self, doc: u32, terms: DocumentTerms) {
        for (term, count) in terms.counts {
            let posting = self.terms.entry(term.into_boxed_str()).or_default();
            posting.live += 1;
            posting.list.push((doc, count));
        }
    }

    /// Takes a record's terms off the counts.
    pub(crate) fn forget(&mut self, terms: &DocumentTerms) {
        for term in terms.counts.keys() {
            if let Some(posting) = self.terms.get_mut(term.as_str()) {
                posting.live = posting.live.saturating_sub(1);
            }
        }
    }

    /// The list of a term that some live record contains.
    pub(crate) fn get(&self, term: &str) -> Option<&Posting> {
        self.terms.get(term).filter(|posting| posting.live > 0)
    }

    /// Gives records new numbers in the same order and drops those without one.
    pub(crate) fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        self.terms.retain(|_, posting| {
            posting.list = posting
                .list
                .iter()
                .filter_map(|(doc, count)| Some((number(*doc)?, *count)))
                .collect();
            !posting.list.is_empty()
        });
    }
}
