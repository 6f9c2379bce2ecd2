//! The keyword lane: BM25 over the posting lists of the query's terms.
//!
//! Terms are added up in the order of their text, so that the sum is the same
//! to the last bit whatever the index went through. Statistics are the whole
//! collection's; only places are restricted to what is visible.

use super::doc::{Doc, Scored};
use super::reach::Reach;
use super::visible::Visible;
use crate::bm25::{Bm25, Totals};
use crate::postings::{DocSet, PostingsError, Scoring, Wanted, Weighted, score_docs, top_k};
use crate::snapshot::Snapshot;
use crate::tail::Tail;
use crate::text::{QueryTerm, QueryTerms};

/// The query's terms with their weights in the whole collection, in the order of their
/// text.
#[derive(Debug)]
pub(super) struct Weights<'q> {
    terms: Vec<(&'q str, f64)>,
    /// Of all terms, those that no record has included.
    sum: f64,
    totals: Totals,
    bm25: Bm25,
}

impl<'q> Weights<'q> {
    pub(super) fn of(
        snapshot: &Snapshot<'_>,
        reaches: &[Reach<'_>],
        terms: &'q QueryTerms,
        bm25: Bm25,
    ) -> Self {
        let totals = snapshot.totals();
        let mut sum = 0.0;
        let weighted = terms.terms.iter().map(|(term, QueryTerm { count, .. })| {
            let lists = reaches.iter().filter_map(|reach| reach.list(term));
            let frequency = snapshot.document_frequency(term, lists);
            let weight = Bm25::idf(totals, frequency) * f64::from(*count);
            sum += weight;
            (term.as_str(), weight)
        });
        Self {
            terms: weighted.collect(),
            sum,
            totals,
            bm25,
        }
    }

    /// What the query's terms weigh together.
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// The tail's records that are visible and have a term.
    pub(super) fn rank_tail(&self, tail: &Tail, visible: &Visible) -> Vec<Scored> {
        let mut scores = vec![0.0_f64; tail.numbers_end()];
        for (term, weight) in &self.terms {
            let Some(posting) = tail.posting(term) else {
                continue;
            };
            for (doc, tf) in posting.entries() {
                if !visible.contains(*doc) {
                    continue;
                }
                let length = tail.doc(*doc).map_or(0, |doc| doc.length);
                if let Some(score) = scores.get_mut(*doc as usize) {
                    *score += self.bm25.score(self.totals, *weight, *tf, length);
                }
            }
        }
        (0_u32..)
            .zip(scores)
            .filter(|(_, score)| *score > 0.0)
            .map(|(number, score)| Scored {
                doc: Doc::Tail(number),
                score,
            })
            .collect()
    }

    /// The best rows of a segment that are eligible, with those that tie with the last.
    pub(super) fn rank_rows(
        &self,
        reach: &Reach<'_>,
        wanted: Wanted,
    ) -> Result<Vec<Scored>, PostingsError> {
        let lists = self.lists(reach);
        let eligible = reach.eligible();
        let rows = top_k(&lists, self.scoring(), wanted, |row| eligible.contains(row))?;
        Ok(placed(reach, rows))
    }

    /// The scores of those rows of a segment that have a term.
    pub(super) fn score_rows(
        &self,
        reach: &Reach<'_>,
        rows: &DocSet,
    ) -> Result<Vec<Scored>, PostingsError> {
        let rows = score_docs(&self.lists(reach), self.scoring(), rows)?;
        Ok(placed(reach, rows))
    }

    fn lists<'r>(&self, reach: &'r Reach<'_>) -> Vec<Weighted<'r>> {
        self.terms
            .iter()
            .filter_map(|(term, weight)| {
                Some(Weighted {
                    list: reach.list(term)?,
                    weight: *weight,
                })
            })
            .collect()
    }

    fn scoring(&self) -> Scoring {
        Scoring {
            bm25: self.bm25,
            totals: self.totals,
        }
    }
}

fn placed(reach: &Reach<'_>, rows: Vec<crate::postings::Scored>) -> Vec<Scored> {
    rows.into_iter()
        .map(|row| Scored {
            doc: Doc::Row(reach.index(), row.doc),
            score: row.score,
        })
        .collect()
}

/// The words of the query that a record contains, as they were written, in the
/// query's order and each once.
pub(super) fn matched(
    tail: &Tail,
    reaches: &[Reach<'_>],
    doc: Doc,
    terms: &QueryTerms,
) -> Vec<String> {
    let contains = |term: &str| match doc {
        Doc::Tail(number) => tail
            .posting(term)
            .is_some_and(|posting| posting.contains(number)),
        Doc::Row(segment, row) => reaches
            .get(segment)
            .and_then(|reach| reach.list(term))
            .is_some_and(|list| list.contains(row).unwrap_or(false)),
    };
    let mut found: Vec<&QueryTerm> = terms
        .terms
        .iter()
        .filter(|(term, _)| contains(term))
        .map(|(_, term)| term)
        .collect();
    found.sort_by(|a, b| (a.position, &a.written).cmp(&(b.position, &b.written)));
    let mut words: Vec<String> = found.iter().map(|term| term.written.clone()).collect();
    words.dedup();
    words
}
