//! The best rows so far, and what the next one has to reach.
//!
//! Rows that tie with the last of the best are all kept: who asked knows how to order
//! them, and this must not.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{Scored, Wanted};

/// Room for the roundings of a sum of bounds against those of the sum of scores: both
/// add at most some thousands of numbers, each within 2⁻⁵² of its exact value.
const SLACK: f64 = 1.0 + 1e-9;

/// The best rows so far.
#[derive(Debug)]
pub(super) struct Best {
    wanted: Wanted,
    /// The scores of the best, at most `k`.
    heap: BinaryHeap<Reverse<Score>>,
    kept: Vec<Scored>,
    /// When to drop what is no longer among the best.
    prune_at: usize,
}

impl Best {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            heap: BinaryHeap::new(),
            kept: Vec::new(),
            prune_at: 1024,
        }
    }

    /// The least score that still counts.
    fn least(&self) -> f64 {
        if self.wanted.k == 0 {
            return f64::INFINITY;
        }
        let asked = self.wanted.least.unwrap_or(0.0);
        if self.heap.len() < self.wanted.k {
            return asked;
        }
        self.heap
            .peek()
            .map_or(asked, |Reverse(Score(score))| score.max(asked))
    }

    /// Whether a row that scores no more than this may be among the best.
    pub(super) fn may_take(&self, bound: f64) -> bool {
        bound * SLACK + f64::MIN_POSITIVE >= self.least()
    }

    /// Takes a row in if it is among the best.
    pub(super) fn offer(&mut self, row: Scored) {
        if self.wanted.k == 0 || row.score <= 0.0 || row.score.is_nan() || row.score < self.least()
        {
            return;
        }
        self.kept.push(row);
        self.heap.push(Reverse(Score(row.score)));
        if self.heap.len() > self.wanted.k {
            self.heap.pop();
        }
        if self.kept.len() >= self.prune_at {
            self.prune();
            self.prune_at = (self.kept.len() * 2).max(1024);
        }
    }

    /// The best, by score and then by number.
    pub(super) fn finish(mut self) -> Vec<Scored> {
        self.prune();
        self.kept
            .sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        self.kept
    }

    fn prune(&mut self) {
        let least = self.least();
        self.kept.retain(|row| row.score >= least);
    }
}

/// A score in the order of numbers.
#[derive(Debug, Clone, Copy)]
struct Score(f64);

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
