//! The best rows so far, and what the next one has to reach.
//!
//! Rows that tie with the last of the best are all kept: who asked knows how to order
//! them, and this must not.

use super::{Scored, Wanted};

/// Room for the roundings of a sum of bounds against those of the sum of scores: both
/// add at most some thousands of numbers, each within 2⁻⁵² of its exact value.
const SLACK: f64 = 1.0 + 1e-9;

/// Rows that are gathered before the first selection.
const FIRST: usize = 64;

/// The best rows so far.
#[derive(Debug)]
pub(super) struct Best {
    k: usize,
    /// The least score that still counts.
    least: f64,
    kept: Vec<Scored>,
    /// When to drop what is no longer among the best: rows are selected in bulk, which
    /// costs less than a heap, for a least score that rises a little later.
    select_at: usize,
}

impl Best {
    pub(super) fn new(wanted: Wanted) -> Self {
        let Wanted { k, least } = wanted;
        Self {
            k,
            least: if k == 0 {
                f64::INFINITY
            } else {
                least.unwrap_or(0.0)
            },
            kept: Vec::new(),
            select_at: k.saturating_mul(2).max(FIRST),
        }
    }

    /// Whether a row that scores no more than this may be among the best.
    pub(super) fn may_take(&self, bound: f64) -> bool {
        bound * SLACK + f64::MIN_POSITIVE >= self.least
    }

    /// Takes a row in if it is among the best.
    pub(super) fn offer(&mut self, row: Scored) {
        if row.score > 0.0 && row.score >= self.least {
            self.kept.push(row);
            if self.kept.len() >= self.select_at {
                self.select();
                self.select_at = self.select_at.max(self.kept.len().saturating_mul(2));
            }
        }
    }

    /// The best, by score and then by number.
    pub(super) fn finish(mut self) -> Vec<Scored> {
        self.select();
        self.kept
            .sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        self.kept
    }

    fn select(&mut self) {
        let Some(last) = self.k.checked_sub(1).filter(|last| *last < self.kept.len()) else {
            return;
        };
        let (_, worst, _) = self
            .kept
            .select_nth_unstable_by(last, |a, b| b.score.total_cmp(&a.score));
        let least = worst.score;
        self.least = self.least.max(least);
        self.kept.retain(|row| row.score >= least);
    }
}
