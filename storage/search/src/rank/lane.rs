//! A lane: scored records in a total order.
//!
//! The order is by score, then the more recently updated, then the id, so that it
//! never depends on how the index was built. It knows no score's meaning.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::answer::Lane;
use crate::query::{Mode, Query};
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

/// The best of a lane's records, in order, and which there were.
#[derive(Debug)]
pub(super) struct Ranked {
    /// The best, as many as the lane's depth.
    scored: Vec<Scored>,
    /// Places in `scored` by record.
    places: BTreeMap<u32, usize>,
    /// Every record of the lane.
    members: Vec<u32>,
}

impl Ranked {
    /// Orders a lane and keeps what is wanted of it.
    pub(super) fn of(tail: &Tail, scored: impl Iterator<Item = Scored>, cut: Cut) -> Self {
        let Cut { depth, least } = cut;
        let mut scored: Vec<Scored> = scored
            .filter(|scored| least.is_none_or(|least| scored.score >= least))
            .collect();
        let members = scored.iter().map(|scored| scored.doc).collect();
        if depth < scored.len() {
            if let Some(last) = depth.checked_sub(1) {
                scored.select_nth_unstable_by(last, |a, b| better(tail, *a, *b));
            }
            scored.truncate(depth);
        }
        scored.sort_unstable_by(|a, b| better(tail, *a, *b));
        let places = scored
            .iter()
            .enumerate()
            .map(|(place, scored)| (scored.doc, place))
            .collect();
        Self {
            scored,
            places,
            members,
        }
    }

    pub(super) fn scored(&self) -> &[Scored] {
        &self.scored
    }

    /// The place of a record among the best.
    pub(super) fn place(&self, doc: u32) -> Option<Lane> {
        let place = *self.places.get(&doc)?;
        let score = self.scored.get(place)?.score;
        Some(Lane {
            rank: place + 1,
            score,
        })
    }

    /// How many records the lane has, beyond its depth too.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }
}

/// How many records are in at least one lane.
pub(super) fn union(tail: &Tail, lanes: &[&Ranked]) -> usize {
    let mut is_member = vec![false; tail.numbers_end()];
    for doc in lanes.iter().flat_map(|lane| &lane.members) {
        if let Some(flag) = is_member.get_mut(*doc as usize) {
            *flag = true;
        }
    }
    is_member.into_iter().filter(|is_member| *is_member).count()
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
