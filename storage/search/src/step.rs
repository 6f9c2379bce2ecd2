//! The query as steps: what to fetch next, or the answer.
//!
//! A query is a function of what has been fetched so far: what it misses is what it needs
//! next, all of it at once. So the number of dependent round trips is a property a test
//! can assert. It must not perform a read itself.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;

use crate::answer::Answer;
use crate::query::Query;
use crate::rank;
use crate::segment::SegmentError;
use crate::snapshot::Snapshot;

/// Bytes that a query needs of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Read {
    /// The segment.
    pub segment: u128,
    /// Which of its objects.
    pub part: Part,
    /// The bytes.
    pub range: Range<u64>,
}

/// The objects of a segment that are read in ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Codes of vectors.
    Codes,
    /// Posting lists.
    Postings,
    /// Records.
    Rows,
}

/// Why a query could not be embedded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct VectorUnavailable {
    /// What the embedder said, fit to be shown.
    pub reason: String,
}

/// What a step gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Fetch these, all in parallel, and feed them.
    Need(Vec<Read>),
    /// The answer.
    Done(Answer),
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query's vector has another dimension than the profile's.
    #[error("query vector of profile `{profile}`: expected {expected} got {got}")]
    Dimension {
        /// The embedding profile.
        profile: String,
        /// The dimension of the collection's vectors.
        expected: usize,
        /// The dimension of the query's.
        got: usize,
    },
    /// The query's vector is not a vector.
    #[error("query vector")]
    Vector(#[source] crate::vector::VectorError),
    /// There is nothing to rank by, and too much to list.
    #[error("a query over segments needs words or a vector")]
    NothingToRankBy,
    /// A segment cannot be read.
    #[error("segment {segment:032x} cannot be read")]
    Segment {
        /// The segment.
        segment: u128,
        /// What is wrong with it.
        #[source]
        source: SegmentError,
    },
}

/// A query under way.
#[derive(Debug)]
pub struct Search {
    query: Query,
    vector: Option<Result<Vec<f32>, VectorUnavailable>>,
    fetched: Ranges,
    /// How often the search had to look further than it first meant to.
    round: u32,
}

impl Search {
    /// A query; `vector` is what embedding it came to, where it was to be embedded.
    pub fn new(query: Query, vector: Option<Result<Vec<f32>, VectorUnavailable>>) -> Self {
        Self {
            query,
            vector,
            fetched: Ranges::default(),
            round: 0,
        }
    }

    /// Goes on as far as what has been fetched allows.
    ///
    /// The snapshot may change from one step to the next: a step on one that is merely
    /// likely says what to fetch beside finding out.
    pub fn step(&mut self, snapshot: &Snapshot<'_>) -> Result<Step, SearchError> {
        loop {
            let outcome = rank::answer(
                snapshot,
                &self.query,
                self.vector.as_ref(),
                &self.fetched,
                self.round,
            )?;
            match outcome {
                rank::Outcome::Done(answer) => return Ok(Step::Done(answer)),
                rank::Outcome::Need(reads) => return Ok(Step::Need(reads)),
                rank::Outcome::Further => self.round += 1,
            }
        }
    }

    /// Takes what was fetched.
    pub fn feed(&mut self, read: Read, bytes: Bytes) {
        self.fetched.insert(read, bytes);
    }
}

/// What has been fetched.
#[derive(Debug, Default)]
pub(crate) struct Ranges(BTreeMap<(u128, Part, u64, u64), Bytes>);

impl Ranges {
    fn insert(&mut self, read: Read, bytes: Bytes) {
        let Read {
            segment,
            part,
            range,
        } = read;
        self.0
            .insert((segment, part, range.start, range.end), bytes);
    }

    pub(crate) fn get(&self, read: &Read) -> Option<&Bytes> {
        let Range { start, end } = read.range;
        self.0.get(&(read.segment, read.part, start, end))
    }
}

#[cfg(test)]
mod tests;
