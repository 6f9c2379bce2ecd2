//! Probing a segment's vectors: which lists to read for a query, and the rows whose
//! codes promise most.
//!
//! How much is read follows from the effort, the number of vectors and the share of rows
//! that are eligible. What it finds is a guess that the records themselves correct.

use super::doc::{Doc, Scored};
use super::reach::{Reach, selectivity};
use super::semantic::QueryVector;
use super::shelf::{Shelf, unreadable};
use crate::ivf::{
    Candidate, Candidates, Contenders, Effort, Estimate, Place, RankedList, Run, effort_for, plan,
    scan,
};
use crate::query::{self, Query};
use crate::segment::{SegmentError, Vectors};
use crate::snapshot::SegmentRef;
use crate::step::SearchError;

/// Bytes that cost so little that fewer are not worth their recall: all the codes of some
/// five thousand vectors of 384 components.
const LEAST_BYTES: u64 = 1_200_000;
/// How much further out the nearest of few rows lie: a power of their share.
const NARROWNESS: f64 = 0.4;
/// The most ranges, however large the effort.
const MOST_RANGES: f64 = 256.0;

/// The lists that a query reads of a segment.
#[derive(Debug)]
pub(super) struct Probe<'a> {
    segment: SegmentRef<'a>,
    vectors: &'a Vectors,
    ranked: Vec<RankedList>,
    runs: Vec<Run>,
}

impl<'a> Probe<'a> {
    /// The lists to read; nothing if the segment has no vectors to compare with.
    pub(super) fn of(
        segment: SegmentRef<'a>,
        query: &Query,
        vector: &QueryVector,
        round: u32,
    ) -> Option<Self> {
        let vectors = segment.root.vectors.as_ref()?;
        if vectors.profile != vector.profile()
            || vectors.layout.dimension != vector.prepared().dimension()
        {
            return None;
        }
        let ranked = vectors.centroids.rank(vector.prepared());
        let sizes = vectors.sizes();
        let effort = effort(segment, query, round);
        Some(Self {
            segment,
            vectors,
            runs: plan(&ranked, &sizes, effort),
            ranked,
        })
    }

    /// Whether it reads all there is.
    pub(super) fn is_exhaustive(&self) -> bool {
        let read: usize = self.runs.iter().map(|run| run.end - run.start).sum();
        read == self.ranked.len() || {
            let sizes = self.vectors.sizes();
            let bytes = |run: &Run| -> u64 {
                sizes
                    .get(run.start..run.end)
                    .unwrap_or_default()
                    .iter()
                    .sum()
            };
            self.runs.iter().map(bytes).sum::<u64>() == sizes.iter().sum::<u64>()
        }
    }

    /// Asks for its lists, so that they are fetched beside whatever else is missing.
    pub(super) fn request(&self, shelf: &mut Shelf<'_>) -> Result<(), SearchError> {
        for run in &self.runs {
            shelf.entries(self.segment, self.vectors, run.start..run.end)?;
        }
        Ok(())
    }

    /// The `limit` eligible rows whose codes promise most.
    pub(super) fn most_promising(
        &self,
        reach: &Reach<'_>,
        vector: &QueryVector,
        limit: usize,
        shelf: &mut Shelf<'_>,
    ) -> Result<Found, SearchError> {
        let mut candidates = Candidates::new(limit);
        self.scan(reach, vector, shelf, |place, estimate| {
            candidates.offer(place, estimate.score);
        })?;
        let best = candidates.into_sorted();
        let last = best.last().filter(|_| best.len() >= limit);
        let rest = last.map(|last| last.score);
        Ok(Found::of(reach, best, rest))
    }

    /// Every eligible row that may be among the `limit` best.
    pub(super) fn contenders(
        &self,
        reach: &Reach<'_>,
        vector: &QueryVector,
        limit: usize,
        least: Option<f64>,
        shelf: &mut Shelf<'_>,
    ) -> Result<Found, SearchError> {
        let mut contenders = Contenders::default();
        self.scan(reach, vector, shelf, |place, estimate| {
            contenders.offer(place, estimate);
        })?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "estimates are not as precise as f32"
        )]
        let least = least.map(|least| least as f32);
        let (best, rest) = contenders.of_the_best(limit, least);
        Ok(Found::of(reach, best, rest))
    }

    /// Gives the estimates of eligible rows; some are missing if lists are.
    fn scan(
        &self,
        reach: &Reach<'_>,
        vector: &QueryVector,
        shelf: &mut Shelf<'_>,
        mut sink: impl FnMut(Place, Estimate),
    ) -> Result<(), SearchError> {
        let mut scores = vec![0.0_f32; self.ranked.len()];
        for list in &self.ranked {
            if let Some(score) = scores.get_mut(list.list) {
                *score = list.score;
            }
        }
        let eligible = reach.eligible();
        for run in &self.runs {
            let lists = shelf.entries(self.segment, self.vectors, run.start..run.end)?;
            for (list, entries) in lists.into_iter().flatten() {
                let base = scores.get(list).copied().unwrap_or_default();
                scan(
                    self.vectors.layout,
                    vector.prepared(),
                    base,
                    &entries,
                    |row| eligible.contains(row),
                    &mut sink,
                )
                .map_err(|error| unreadable(self.segment, SegmentError::Codes(error)))?;
            }
        }
        Ok(())
    }
}

/// What the codes of a segment say.
#[derive(Debug)]
pub(super) struct Found {
    /// Rows with estimates of their cosines, the best first.
    pub(super) rows: Vec<Scored>,
    /// If there are others, what they are thought to stay below.
    pub(super) rest: Option<f64>,
}

impl Found {
    fn of(reach: &Reach<'_>, best: Vec<Candidate>, rest: Option<f32>) -> Self {
        let rows = best.into_iter().map(|candidate| Scored {
            doc: Doc::Row(reach.index(), candidate.place.doc),
            score: f64::from(candidate.score),
        });
        Self {
            rows: rows.collect(),
            rest: rest.map(f64::from),
        }
    }
}

/// What may be read of a segment.
fn effort(segment: SegmentRef<'_>, query: &Query, round: u32) -> Effort {
    let factor = match query.effort {
        query::Effort::Fast => 0.5,
        query::Effort::Balanced => 1.0,
        query::Effort::Thorough => 4.0,
        query::Effort::Exact => {
            // Everything is one range.
            return Effort {
                bytes: u64::MAX,
                ranges: 1,
            };
        }
    };
    let vectors = usize::try_from(segment.root.statistics.embedded).unwrap_or(usize::MAX);
    let usual = effort_for(vectors);
    // Of a filter's rows the nearest lie further out than the nearest of all.
    let share = selectivity(segment.root, query).max(1e-4);
    let wider = factor * share.powf(-NARROWNESS) * 4.0_f64.powi(i32::try_from(round).unwrap_or(16));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and casts from floats saturate"
    )]
    Effort {
        bytes: (usual.bytes.max(LEAST_BYTES) as f64 * wider) as u64,
        ranges: (usual.ranges as f64 * wider).clamp(1.0, MOST_RANGES) as usize,
    }
}
