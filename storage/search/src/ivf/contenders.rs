//! Every document that may be among the best of a scan, as far as the estimates tell.
//!
//! `Candidates` keeps a number of documents, for a search that may miss some; this keeps
//! as many as the errors of the estimates ask for, for one that may not. It must not
//! decide what is fetched.

use std::collections::BTreeMap;

use super::candidates::Candidate;
use super::code::{Estimate, Place};

/// What is known of the cosine of one vector.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: f32,
    high: f32,
    /// The highest estimate.
    score: f32,
}

/// The documents of a scan, of which the best are then told.
#[derive(Debug, Default)]
pub struct Contenders {
    bounds: BTreeMap<Place, Bounds>,
}

impl Contenders {
    /// Takes an estimate from a scan. A vector has entries in two lists: both bound it.
    pub fn offer(&mut self, place: Place, Estimate { score, error }: Estimate) {
        let (low, high) = (score - error, score + error);
        self.bounds
            .entry(place)
            .and_modify(|known| {
                *known = Bounds {
                    low: known.low.max(low),
                    high: known.high.min(high),
                    score: known.score.max(score),
                };
            })
            .or_insert(Bounds { low, high, score });
    }

    /// The documents that may be among the `count` best and have a cosine of `least`, the
    /// best estimate first; and, if others were left out, the cosine that these do not reach
    /// and `count` of the documents do.
    pub fn of_the_best(self, count: usize, least: Option<f32>) -> (Vec<Candidate>, Option<f32>) {
        let mut docs: BTreeMap<u32, (Bounds, u16)> = BTreeMap::new();
        for (place, bounds) in self.bounds {
            docs.entry(place.doc)
                .and_modify(|(known, chunk)| {
                    if bounds.score > known.score {
                        *chunk = place.chunk;
                    }
                    // A document is as close as its closest chunk.
                    *known = Bounds {
                        low: known.low.max(bounds.low),
                        high: known.high.max(bounds.high),
                        score: known.score.max(bounds.score),
                    };
                })
                .or_insert((bounds, place.chunk));
        }
        docs.retain(|_, (bounds, _)| least.is_none_or(|least| bounds.high >= least));
        let mut lows: Vec<f32> = docs.values().map(|(bounds, _)| bounds.low).collect();
        let reached = count
            .checked_sub(1)
            .filter(|last| *last < lows.len())
            .map(|last| *lows.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1);
        let all = docs.len();
        let mut best: Vec<Candidate> = docs
            .into_iter()
            .filter(|(_, (bounds, _))| reached.is_none_or(|reached| bounds.high >= reached))
            .map(|(doc, (bounds, chunk))| Candidate {
                place: Place { doc, chunk },
                score: bounds.score,
            })
            .collect();
        best.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        let reached = reached.filter(|_| best.len() < all);
        (best, reached)
    }
}
