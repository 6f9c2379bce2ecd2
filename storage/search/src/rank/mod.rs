//! Ranking: what a query's visible records are ordered by, and the answer made
//! of it.
//!
//! Visibility and filters come first, so that what may not be seen never takes a
//! place. Lanes score; fusion orders; neither fetches.

mod keyword;
mod lane;
mod semantic;

use std::sync::Arc;

use crate::answer::{Answer, Coverage, Degraded, Hit};
use crate::fusion;
use crate::query::{Mode, Query, VectorSource};
use crate::record::Embedding;
use crate::step::{SearchError, VectorUnavailable};
use crate::tail::Tail;
use crate::text::QueryTerms;
use lane::{Cut, Ranked, Scored, Visible};
use semantic::QueryVector;

/// Answers a query from a tail alone.
pub(crate) fn answer(
    tail: &Tail,
    query: &Query,
    fetched: Option<Result<Vec<f32>, VectorUnavailable>>,
) -> Result<Answer, SearchError> {
    let mut degraded = Vec::new();
    let vector = query_vector(tail, query, fetched, &mut degraded)?;
    let terms = query
        .text
        .as_deref()
        .filter(|_| query.mode != Mode::Semantic || vector.is_none())
        .map(QueryTerms::of);
    let mode = match (query.mode, &vector, &terms) {
        (Mode::Semantic, None, Some(_)) => Mode::Keyword,
        (mode, _, _) => mode,
    };
    let visible = Visible::of(tail, query);
    let cut = Cut::of(query, mode);
    let keyword = terms
        .as_ref()
        .map(|terms| keyword::rank(tail, &visible, terms, query.bm25, cut));
    let semantic = vector
        .as_ref()
        .map(|vector| semantic::rank(tail, &visible, vector, cut));
    let coverage = coverage(tail, &visible, vector.as_ref());

    let (order, matched) = match (mode, &keyword, &semantic) {
        (_, None, None) => {
            // A listing: nothing is scored, so the newest come first.
            let all = visible.numbers().map(|doc| Scored { doc, score: 0.0 });
            let lane = Ranked::of(tail, all, Cut { least: None, ..cut });
            (lane.scored().to_vec(), lane.len())
        }
        (Mode::Hybrid, _, _) => {
            let has_terms = terms.as_ref().is_some_and(|terms| !terms.terms.is_empty());
            let keyword = keyword.as_ref().filter(|_| has_terms);
            fuse(tail, query, keyword, semantic.as_ref())
        }
        (Mode::Keyword, Some(lane), _) | (Mode::Semantic, _, Some(lane)) => {
            (lane.scored().to_vec(), lane.len())
        }
        (Mode::Keyword, None, _) | (Mode::Semantic, _, None) => (Vec::new(), 0),
    };

    let hits = order
        .into_iter()
        .take(query.limit)
        .filter_map(|Scored { doc, score }| {
            let record = &tail.doc(doc)?.record;
            Some(Hit {
                record: Arc::clone(record),
                score,
                keyword: keyword.as_ref().and_then(|lane| lane.place(doc)),
                semantic: semantic.as_ref().and_then(|lane| lane.place(doc)),
                chunk: vector
                    .as_ref()
                    .and_then(|vector| semantic::best_chunk(tail, doc, vector)),
                terms: terms
                    .as_ref()
                    .map(|terms| keyword::matched(tail, doc, terms))
                    .unwrap_or_default(),
            })
        })
        .collect();
    Ok(Answer {
        hits,
        matched: matched as u64,
        mode,
        coverage,
        degraded,
        query_clamped: terms.is_some_and(|terms| terms.clamped),
    })
}

/// The query's vector, ready to be compared; says why if it had to do without.
fn query_vector(
    tail: &Tail,
    query: &Query,
    fetched: Option<Result<Vec<f32>, VectorUnavailable>>,
    degraded: &mut Vec<Degraded>,
) -> Result<Option<QueryVector>, SearchError> {
    if query.mode == Mode::Keyword {
        return Ok(None);
    }
    let (profile, values) = match (&query.vector, fetched) {
        (VectorSource::Given { profile, values }, _) => (profile, values.clone()),
        (VectorSource::Awaited { profile }, Some(Ok(values))) => (profile, values),
        (VectorSource::Awaited { .. }, Some(Err(unavailable))) => {
            degraded.push(Degraded::QueryVector {
                reason: unavailable.reason,
            });
            return Ok(None);
        }
        (VectorSource::Awaited { .. } | VectorSource::None, _) => {
            if query.text.is_some() {
                degraded.push(Degraded::NoEmbedding);
            }
            return Ok(None);
        }
    };
    QueryVector::of(tail, profile, &values).map(Some)
}

fn coverage(tail: &Tail, visible: &Visible, vector: Option<&QueryVector>) -> Coverage {
    let mut coverage = Coverage::default();
    for doc in visible.numbers().filter_map(|number| tail.doc(number)) {
        coverage.records += 1;
        match &doc.record.embedding {
            Embedding::None => {}
            Embedding::Pending { .. } => coverage.pending += 1,
            Embedding::Ready { chunks, .. } => {
                let compares = match vector {
                    Some(vector) => vector.compares_with(doc),
                    None => !doc.inverse_norms.is_empty(),
                };
                if compares {
                    coverage.embedded += 1;
                } else if !chunks.is_empty() {
                    coverage.pending += 1;
                }
            }
        }
    }
    coverage
}

/// Fuses the lanes there are; says how many records they have together.
fn fuse(
    tail: &Tail,
    query: &Query,
    keyword: Option<&Ranked>,
    semantic: Option<&Ranked>,
) -> (Vec<Scored>, usize) {
    let lanes: Vec<&Ranked> = [keyword, semantic].into_iter().flatten().collect();
    let fused = fusion::fuse(
        lanes
            .iter()
            .map(|lane| lane.scored().iter().map(|scored| scored.doc)),
    );
    let scored = fused
        .into_iter()
        .map(|(doc, score)| Scored {
            doc,
            score: fusion::normalised(score, lanes.len()),
        })
        .filter(|scored| query.min_score.is_none_or(|least| scored.score >= least));
    let whole = Cut {
        depth: usize::MAX,
        least: None,
    };
    let order = Ranked::of(tail, scored, whole);
    let matched = if query.min_score.is_some() {
        order.len()
    } else {
        lane::union(tail, &lanes)
    };
    (order.scored().to_vec(), matched)
}
