//! A lane: scored records in a total order.
//!
//! The order is by score, then the more recently updated, then the id, so that it
//! never depends on how the index was built. It knows no score's meaning.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::answer::Lane;
use crate::query::Query;
use crate::tail::Tail;

/// A record, by number, and a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) doc: u32,
    pub(super) score: f64,
}

/// Which records a query may see, by number.
#[derive(Debug)]
pub(super) struct Visible {
    is_visible: Vec<bool>,
}

impl Visible {
    pub(super) fn of(tail: &Tail, query: &Query) -> Self {
        let mut is_visible = vec![false; tail.numbers_end()];
        for (number, doc) in tail.docs() {
            if let Some(flag) = is_visible.get_mut(number as usize) {
                *flag = query.admits(&doc.record);
            }
        }
        Self { is_visible }
    }

    pub(super) fn contains(&self, doc: u32) -> bool {
        self.is_visible.get(doc as usize).copied().unwrap_or(false)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        (0_u32..)
            .zip(&self.is_visible)
            .filter_map(|(number, visible)| visible.then_some(number))
    }
}

/// Scored records, best first.
#[derive(Debug)]
pub(super) struct Ranked {
    scored: Vec<Scored>,
    /// Places in `scored` by record.
    places: BTreeMap<u32, usize>,
}

impl Ranked {
    pub(super) fn of(tail: &Tail, scored: impl Iterator<Item = Scored>) -> Self {
        let mut scored: Vec<Scored> = scored.collect();
        scored.sort_unstable_by(|a, b| better(tail, *a, *b));
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

    pub(super) fn place(&self, doc: u32) -> Option<Lane> {
        let place = *self.places.get(&doc)?;
        let score = self.scored.get(place)?.score;
        Some(Lane {
            rank: place + 1,
            score,
        })
    }
}

/// How many records are in at least one lane.
pub(super) fn union(lanes: &[&Ranked]) -> usize {
    match lanes {
        [] => 0,
        [first, rest @ ..] => {
            let others: usize = rest
                .iter()
                .map(|lane| {
                    lane.places
                        .keys()
                        .filter(|doc| !first.places.contains_key(doc))
                        .count()
                })
                .sum();
            first.places.len() + others
        }
    }
}

fn better(tail: &Tail, a: Scored, b: Scored) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| match (tail.doc(a.doc), tail.doc(b.doc)) {
            (Some(a), Some(b)) => b
                .record
                .updated
                .cmp(&a.record.updated)
                .then_with(|| a.record.id.cmp(&b.record.id)),
            _ => a.doc.cmp(&b.doc),
        })
}
