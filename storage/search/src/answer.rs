//! The answer: ranked hits, each with its explanation, and what the ranking
//! covered.
//!
//! It is separate from the steps so that a surface depends on what it shows
//! and not on how it was found. It must be able to say that an answer is weaker
//! than asked for; it never looks whole when it is not.

use std::sync::Arc;

use crate::query::Mode;
use crate::record::Record;

/// What a query found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How many visible records some lane ranked at or above the minimum
    /// score, before `limit` (for a listing: how many are visible).
    pub matched: u64,
    /// The mode that was used: it differs from the query's when a semantic query
    /// fell back to keywords.
    pub mode: Mode,
    /// What the ranking covered.
    pub coverage: Coverage,
    /// In what the answer is weaker than asked for; empty when in nothing.
    pub degraded: Vec<Degraded>,
    /// Whether the query text was over-long, so that only its end was used.
    pub query_clamped: bool,
}

/// One hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The record.
    pub record: Arc<Record>,
    /// What the hits are ordered by: the cosine in semantic mode, the BM25 score in
    /// keyword mode, in hybrid mode both fused on a scale on which first
    /// place in every lane is 1 ([`crate::fusion::fuse`]), 0 in a listing. `min_score` compares with it.
    pub score: f64,
    /// Its place in the keyword lane.
    pub keyword: Option<Lane>,
    /// Its place in the semantic lane.
    pub semantic: Option<Lane>,
    /// The byte range of the content whose vector was closest.
    pub chunk: Option<(u32, u32)>,
    /// The words of the query that the record contains in some form, as they were
    /// written.
    pub terms: Vec<String>,
}

/// A place in one lane, among the lane's best as deep as the query asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lane {
    /// The rank, from 1.
    pub rank: usize,
    /// The lane's own score: BM25 or cosine.
    pub score: f64,
}

/// How much of what is visible the ranking could cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Visible records that pass the filter.
    pub records: u64,
    /// Those with vectors that could be compared with the query's (without a
    /// query vector: with vectors).
    pub embedded: u64,
    /// Those that a vector is due for: not embedded yet, or only by another
    /// profile than the query's.
    pub pending: u64,
}

/// A way in which an answer is weaker than asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Degraded {
    /// No embedding is configured, so keywords alone ranked.
    #[error("no embedding is configured: ranked by keywords alone")]
    NoEmbedding,
    /// The query could not be embedded, so keywords alone ranked.
    #[error("the query could not be embedded ({reason}): ranked by keywords alone")]
    QueryVector {
        /// What the embedder said.
        reason: String,
    },
}
