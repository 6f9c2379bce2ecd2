//! The best candidates of a scan, each document once.
//!
//! A document has an entry in two lists and one for each chunk; its best estimate
//! counts.

use std::collections::BTreeMap;

use super::code::Place;

/// The `limit` documents with the highest estimates.
#[derive(Debug, Clone)]
pub struct Candidates {
    limit: usize,
    best: BTreeMap<u32, (f32, u16)>,
    /// The lowest estimate kept, once there are `limit`.
    floor: Option<(f32, u32)>,
}

/// A document and its best estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The chunk with that estimate.
    pub place: Place,
    /// The estimated cosine.
    pub score: f32,
}

impl Candidates {
    /// No candidates yet, and at most `limit` ever.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            best: BTreeMap::new(),
            floor: None,
        }
    }

    /// Takes an estimate from a scan.
    pub fn offer(&mut self, place: Place, score: f32) {
        if self.limit == 0 {
            return;
        }
        if let Some((floor, doc)) = self.floor
            && score.total_cmp(&floor).then(doc.cmp(&place.doc)).is_lt()
        {
            return;
        }
        if let Some((known, chunk)) = self.best.get_mut(&place.doc) {
            if score
                .total_cmp(known)
                .then((*chunk).cmp(&place.chunk))
                .is_gt()
            {
                (*known, *chunk) = (score, place.chunk);
                self.find_floor();
            }
            return;
        }
        self.best.insert(place.doc, (score, place.chunk));
        if self.best.len() > self.limit
            && let Some((_, doc)) = self.lowest()
        {
            self.best.remove(&doc);
        }
        self.find_floor();
    }

    fn find_floor(&mut self) {
        self.floor = (self.best.len() >= self.limit)
            .then(|| self.lowest())
            .flatten();
    }

    /// The lowest estimate; of equals, the highest document.
    fn lowest(&self) -> Option<(f32, u32)> {
        self.best
            .iter()
            .map(|(doc, (score, _))| (*score, *doc))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    }

    /// Documents so far, at most the limit.
    pub fn len(&self) -> usize {
        self.best.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.best.is_empty()
    }

    /// The best first; equals by document.
    pub fn into_sorted(self) -> Vec<Candidate> {
        let mut sorted: Vec<Candidate> = self
            .best
            .into_iter()
            .map(|(doc, (score, chunk))| Candidate {
                place: Place { doc, chunk },
                score,
            })
            .collect();
        sorted.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        sorted
    }
}
