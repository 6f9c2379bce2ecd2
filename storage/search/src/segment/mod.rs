//! Segments: immutable indexes over a range of the log, as bytes.
//!
//! Each of a segment's objects is an Arrow file that is read in ranges; the root says
//! where everything lies and what its checksum is. Nothing here knows objects or the
//! log: callers fetch ranges and say what rows mean beyond their record columns.

mod blocks;
mod columns;
mod error;
mod flat;
pub mod index;
mod replaced;
mod root;
mod sorted;
mod vectors;

pub(crate) use blocks::check as check_part;
pub use blocks::{Block, BlockWriter, checksum, read_block};
pub use error::SegmentError;
pub use replaced::{Replaced, ReplacedIn, Replacement, VectorState};
pub use root::{Postings, Root, ScopeRun, Statistics};
pub(crate) use sorted::Ranges;
pub use sorted::{Covered, Keys, Kind, Name, Series, Sorted, SortedBlock};
pub use vectors::Vectors;

#[cfg(test)]
mod tests;
