//! Reciprocal rank fusion: one order from two lanes that share no scale.
//!
//! Cormack, Clarke and Büttcher, SIGIR 2009: a record scores the sum of
//! 1 / (k + rank) over the lanes it is in, with equal weights and ranks from 1. So a
//! record never gains by being absent from a lane.

use std::collections::BTreeMap;

/// The constant of the formula.
pub const K: f64 = 60.0;

/// What a rank, from 1, adds to the fused score.
pub fn contribution(rank: usize) -> f64 {
    1.0 / (K + rank as f64)
}

/// A fused score on a scale on which first place in every one of `lanes` lanes is 1.
pub fn normalised(score: f64, lanes: usize) -> f64 {
    if lanes == 0 {
        return 0.0;
    }
    score / (contribution(1) * lanes as f64)
}

/// Fuses lanes, each an order of items from best to worst without repeats, into
/// scores by item.
pub fn fuse<T: Ord>(
    lanes: impl IntoIterator<Item = impl IntoIterator<Item = T>>,
) -> BTreeMap<T, f64> {
    let mut scores = BTreeMap::new();
    for lane in lanes {
        for (place, item) in lane.into_iter().enumerate() {
            *scores.entry(item).or_default() += contribution(place + 1);
        }
    }
    scores
}

#[cfg(test)]
mod tests;
