//! The inverted index of a segment: for each term, the rows that have it.
//!
//! One blob of posting lists serves the words of the texts, the names that records are
//! looked up by, and the values that filters ask for; a term is the hash of any of them,
//! and the directory says which bytes its list lies in. Nothing here fetches, knows what
//! a row is, or counts: statistics come from outside.

mod blob;
mod bucket;
mod builder;
mod directory;
mod error;
mod hash;
mod impact;
pub mod keys;
mod list;
mod merge;
mod score;
mod seek;
mod varint;

pub use bucket::Bucket;
pub use builder::{Builder, Built};
pub use directory::{Directory, Frequency};
pub use error::PostingsError;
pub use hash::TermHash;
pub use list::{DocSet, List, Posting};
pub use merge::{Merge, Progress, Source, merge};
pub use score::{Scored, Scoring, Wanted, Weighted, exhaustive, score_docs, top_k};
pub use seek::{intersection, union};

/// How postings are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// What a [`Builder`] gathers before it is full, in bytes. Its runs, and one row, come
    /// on top.
    pub memory_bytes: usize,
    /// What a bucket comes to, in bytes: what is read for a rare term. Larger lists
    /// have buckets of their own.
    pub bucket_bytes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            memory_bytes: 64 << 20,
            bucket_bytes: 16 << 10,
        }
    }
}

#[cfg(test)]
mod tests;
