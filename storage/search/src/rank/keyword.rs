//! The keyword lane: BM25 over the posting lists of the query's terms.
//!
//! Terms are added up in the order of their text, so that the sum is the same
//! to the last bit whatever the index went through. Statistics are the whole
//! collection's; only places are restricted to what is visible.

use super::lane::{Cut, Ranked, Scored, Visible};
use crate::bm25::Bm25;
use crate::tail::Tail;
use crate::text::{QueryTerm, QueryTerms};

pub(super) fn rank(
    tail: &Tail,
    visible: &Visible,
    terms: &QueryTerms,
    bm25: Bm25,
    cut: Cut,
) -> Ranked {
    let totals = tail.totals();
    let mut scores = vec![0.0_f64; tail.numbers_end()];
    for (term, QueryTerm { count, .. }) in &terms.terms {
        let Some(posting) = tail.posting(term) else {
            continue;
        };
        let weight = Bm25::idf(totals, posting.document_frequency()) * f64::from(*count);
        for (doc, tf) in posting.entries() {
            if !visible.contains(*doc) {
                continue;
            }
            let length = tail.doc(*doc).map_or(0, |doc| doc.length);
            if let Some(score) = scores.get_mut(*doc as usize) {
                *score += bm25.score(totals, weight, *tf, length);
            }
        }
    }
    let scored = (0_u32..)
        .zip(scores)
        .filter(|(_, score)| *score > 0.0)
        .map(|(doc, score)| Scored { doc, score });
    Ranked::of(tail, scored, cut)
}

/// The words of the query that a record contains, as they were written, in the
/// query's order and each once.
pub(super) fn matched(tail: &Tail, doc: u32, terms: &QueryTerms) -> Vec<String> {
    let mut found: Vec<&QueryTerm> = terms
        .terms
        .iter()
        .filter(|(term, _)| {
            tail.posting(term)
                .is_some_and(|posting| posting.contains(doc))
        })
        .map(|(_, term)| term)
        .collect();
    found.sort_by(|a, b| (a.position, &a.written).cmp(&(b.position, &b.written)));
    let mut words: Vec<String> = found.iter().map(|term| term.written.clone()).collect();
    words.dedup();
    words
}
