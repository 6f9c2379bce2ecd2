//! The query as steps: what to fetch next, or the answer.
//!
//! It is a machine that is fed rather than a function that fetches, so that
//! the number of dependent round trips is a property a test can assert. It must not
//! perform a read itself.

use std::sync::Arc;

use bytes::Bytes;

use crate::answer::Answer;
use crate::query::Query;
use crate::rank;
use crate::tail::Tail;

/// What the caller has to fetch, all of it in parallel, before the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// The newest checkpoint.
    Checkpoint,
    /// The tail: what the log holds beyond the checkpoint.
    Tail,
    /// The query's vector.
    QueryVector,
    /// Bytes of a segment's object.
    Range {
        /// Name of the object.
        object: String,
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
}

/// What was fetched, in the order of the reads.
#[derive(Debug, Clone)]
pub enum Fetched<'a> {
    /// The newest checkpoint; the default one where there is none yet.
    Checkpoint(Arc<Checkpoint>),
    /// The tail, lent for the one call.
    Tail(&'a Tail),
    /// The query's vector, or why there is none.
    QueryVector(Result<Vec<f32>, VectorUnavailable>),
    /// Bytes of a segment's object.
    Range(Bytes),
}

/// Why a query could not be embedded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct VectorUnavailable {
    /// What the embedder said, fit to be shown.
    pub reason: String,
}

/// Which segments stand for the log up to a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint {
    /// The segments; none before the first compaction.
    pub segments: Vec<Segment>,
}

/// One segment: an immutable index over a range of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its name.
    pub id: String,
    /// Records it holds.
    pub records: u64,
    /// Records of these that later ones replaced or deleted.
    pub dead: u64,
    /// Vectors it holds.
    pub vectors: u64,
    /// Bytes of its root object.
    pub root_bytes: u64,
    /// Bytes of all its objects.
    pub total_bytes: u64,
}

/// What a step gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Fetch these, all in parallel, and feed them in this order.
    Need(Vec<Read>),
    /// The answer.
    Done(Answer),
}

/// Why a query has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// What was fed is not what the last step asked for.
    #[error("fed {fed} where {needed} was needed")]
    Unexpected {
        /// What the step asked for.
        needed: &'static str,
        /// What was fed.
        fed: &'static str,
    },
    /// The checkpoint has segments, which this release cannot read.
    #[error(
        "the collection has {count} compacted segments, which this release cannot search: use a newer one"
    )]
    UnsupportedSegments {
        /// How many.
        count: usize,
    },
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
}

/// A query under way.
#[derive(Debug)]
pub struct Search {
    query: Query,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Checkpoint,
    Tail,
    Answered,
}

impl Search {
    /// Starts a query and says what to fetch first.
    pub fn begin(query: Query) -> (Self, Step) {
        let search = Self {
            query,
            state: State::Checkpoint,
        };
        (search, Step::Need(vec![Read::Checkpoint]))
    }

    /// Takes what the last step asked for, in its order, and goes on.
    pub fn feed(&mut self, fetched: Vec<Fetched<'_>>) -> Result<Step, SearchError> {
        match self.state {
            State::Checkpoint => self.feed_checkpoint(&fetched),
            State::Tail => self.feed_tail(fetched),
            State::Answered => Err(unexpected("nothing", fetched.first())),
        }
    }

    fn feed_checkpoint(&mut self, fetched: &[Fetched<'_>]) -> Result<Step, SearchError> {
        let [Fetched::Checkpoint(checkpoint)] = fetched else {
            return Err(unexpected("a checkpoint", fetched.first()));
        };
        if !checkpoint.segments.is_empty() {
            return Err(SearchError::UnsupportedSegments {
                count: checkpoint.segments.len(),
            });
        }
        self.state = State::Tail;
        let mut reads = vec![Read::Tail];
        if self.query.awaits_vector() {
            reads.push(Read::QueryVector);
        }
        Ok(Step::Need(reads))
    }

    fn feed_tail(&mut self, fetched: Vec<Fetched<'_>>) -> Result<Step, SearchError> {
        let awaited = self.query.awaits_vector();
        let mut fetched = fetched.into_iter();
        let tail = match fetched.next() {
            Some(Fetched::Tail(tail)) => tail,
            other => return Err(unexpected("the tail", other.as_ref())),
        };
        let vector = match (awaited, fetched.next()) {
            (true, Some(Fetched::QueryVector(vector))) => Some(vector),
            (true, other) => return Err(unexpected("the query vector", other.as_ref())),
            (false, None) => None,
            (false, other) => return Err(unexpected("nothing more", other.as_ref())),
        };
        if let Some(more) = fetched.next() {
            return Err(unexpected("nothing more", Some(&more)));
        }
        self.state = State::Answered;
        rank::answer(tail, &self.query, vector).map(Step::Done)
    }
}

fn unexpected(needed: &'static str, fed: Option<&Fetched<'_>>) -> SearchError {
    let fed = match fed {
        None => "nothing",
        Some(Fetched::Checkpoint(_)) => "a checkpoint",
        Some(Fetched::Tail(_)) => "the tail",
        Some(Fetched::QueryVector(_)) => "a query vector",
        Some(Fetched::Range(_)) => "a range",
    };
    SearchError::Unexpected { needed, fed }
}

#[cfg(test)]
mod tests;
