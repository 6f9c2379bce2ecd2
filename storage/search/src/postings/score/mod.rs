//! Scores of rows by the posting lists of a query's terms.
//!
//! Scores are those of [`Bm25::score`] added up in the order in which the lists are
//! given, to the last bit, whichever way they are found; give the lists in the order of
//! the terms' text, as the keyword lane adds them. Statistics and weights come from
//! outside, because they are the whole collection's.

mod best;
mod cursor;
mod top;

use super::PostingsError;
use super::list::{DocSet, List};
use super::seek::Seeker;
use crate::bm25::{Bm25, Totals};

pub use top::{Wanted, exhaustive, top_k};

/// How postings are scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scoring {
    /// The parameters.
    pub bm25: Bm25,
    /// The statistics of the whole collection.
    pub totals: Totals,
}

impl Scoring {
    pub(super) fn score(self, weight: f64, tf: u32, length: u32) -> f64 {
        self.bm25.score(self.totals, weight, tf, length)
    }

    /// Whether scores grow with the frequency and fall with the length.
    fn is_monotone(self) -> bool {
        let Bm25 { k1, b } = self.bm25;
        (0.0..f64::MAX).contains(&k1) && (0.0..=1.0).contains(&b)
    }
}

/// The list of a term of the query, and the term's weight.
#[derive(Debug, Clone, Copy)]
pub struct Weighted<'a> {
    /// The list.
    pub list: &'a List,
    /// [`Bm25::idf`] of the term times its occurrences in the query.
    pub weight: f64,
}

/// A row and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The row, by number.
    pub doc: u32,
    /// Its score, greater than 0.
    pub score: f64,
}

/// The scores of the rows of a set that are greater than 0, ascending by row.
///
/// It decodes only the blocks that these rows lie in, which pays for the few rows that
/// a selective filter leaves.
pub fn score_docs(
    lists: &[Weighted<'_>],
    scoring: Scoring,
    docs: &DocSet,
) -> Result<Vec<Scored>, PostingsError> {
    let mut scored: Vec<Scored> = docs.iter().map(|doc| Scored { doc, score: 0.0 }).collect();
    for Weighted { list, weight } in lists {
        let mut seeker = Seeker::new(list);
        for row in &mut scored {
            if let Some(posting) = seeker.find(row.doc)? {
                row.score += scoring.score(*weight, posting.tf, posting.length);
            }
        }
    }
    scored.retain(|row| row.score > 0.0);
    Ok(scored)
}
