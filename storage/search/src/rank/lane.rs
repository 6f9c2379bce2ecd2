//! A lane: scored records in a total order.
//!
//! The order is by score, then the more recently updated, then the id, so that it
//! never depends on how the index was built; records that are not at hand come after
//! those with the same score that are. It knows no score's meaning.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::doc::{Doc, Records, Scored};
use crate::answer::Lane;
use crate::query::{Mode, Query};

/// How much of a lane is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// How many of the best.
    pub(super) depth: usize,
    /// The least score, where the lane's own scores are what counts.
    pub(super) least: Option<f64>,
}

impl Cut {
    /// What a query wants of each lane, given the mode it is answered in.
    pub(super) fn of(query: &Query, mode: Mode) -> Self {
        match mode {
            Mode::Hybrid => Self {
                depth: query.lane_depth.max(query.limit),
                least: None,
            },
            // A minimum meant for cosines says nothing about BM25 scores.
            Mode::Keyword | Mode::Semantic => Self {
                depth: query.limit,
                least: query.min_score.filter(|_| mode == query.mode),
            },
        }
    }
}

/// The best of a lane's records, in order.
#[derive(Debug)]
pub(super) struct Ranked {
    /// The best, as many as the lane's depth.
    scored: Vec<Scored>,
    /// Places in `scored` by record.
    places: BTreeMap<Doc, usize>,
}

impl Ranked {
    /// Orders a lane and keeps what is wanted of it.
    pub(super) fn of(
        records: &Records<'_>,
        scored: impl Iterator<Item = Scored>,
        cut: Cut,
    ) -> Self {
        let Cut { depth, least } = cut;
        let mut scored: Vec<Scored> = scored
            .filter(|scored| least.is_none_or(|least| scored.score >= least))
            .collect();
        if depth < scored.len() {
            if let Some(last) = depth.checked_sub(1) {
                scored.select_nth_unstable_by(last, |a, b| better(records, *a, *b));
            }
            scored.truncate(depth);
        }
        scored.sort_unstable_by(|a, b| better(records, *a, *b));
        let places = scored
            .iter()
            .enumerate()
            .map(|(place, scored)| (scored.doc, place))
            .collect();
        Self { scored, places }
    }

    pub(super) fn scored(&self) -> &[Scored] {
        &self.scored
    }

    /// The place of a record among the best.
    pub(super) fn place(&self, doc: Doc) -> Option<Lane> {
        let place = *self.places.get(&doc)?;
        let score = self.scored.get(place)?.score;
        Some(Lane {
            rank: place + 1,
            score,
        })
    }
}

fn better(records: &Records<'_>, a: Scored, b: Scored) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| match (records.get(a.doc), records.get(b.doc)) {
            (Some(x), Some(y)) => y.updated.cmp(&x.updated).then_with(|| x.id.cmp(&y.id)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => a.doc.cmp(&b.doc),
        })
}
