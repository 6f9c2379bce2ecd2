//! Why a segment could not be written or read. Whatever the bytes, it is one of these
//! and never a panic.

use arrow_schema::ArrowError;

use crate::ivf::{CentroidsError, ScanError};
use crate::postings::PostingsError;
use crate::record::RecordError;

/// Why a segment could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The bytes are not those that were written.
    #[error("{part} is damaged: its checksum is {expected:08x}, its content has {found:08x}")]
    Checksum {
        /// Which part.
        part: &'static str,
        /// What was written.
        expected: u32,
        /// What was read.
        found: u32,
    },
    /// Fewer or more bytes than a part has.
    #[error("{part} has {found} bytes, expected {expected}")]
    Length {
        /// Which part.
        part: &'static str,
        /// What was written.
        expected: u64,
        /// What was read.
        found: u64,
    },
    /// A format of a later release.
    #[error("format `{found}` is unknown: read it with a newer release")]
    Format {
        /// What it says it is.
        found: String,
    },
    /// A part that must be there is not, or is of another type.
    #[error("{part} is missing or of another type")]
    Missing {
        /// Which part.
        part: &'static str,
    },
    /// A part is larger than its format can say.
    #[error("{part} is too large for its format: write smaller segments")]
    TooLarge {
        /// Which part.
        part: &'static str,
    },
    /// The statistics are not what they should be.
    #[error("the statistics cannot be read")]
    Statistics(#[source] serde_json::Error),
    /// Posting lists could not be written or read.
    #[error("posting lists")]
    Postings(#[source] PostingsError),
    /// The centroids cannot be read.
    #[error("centroids")]
    Centroids(#[source] CentroidsError),
    /// The entries of a list of vectors cannot be read.
    #[error("codes of vectors")]
    Codes(#[source] ScanError),
    /// The records of a block cannot be read.
    #[error("records")]
    Records(#[source] RecordError),
    /// Arrow refused.
    #[error("{part} does not follow Arrow's format")]
    Arrow {
        /// Which part.
        part: &'static str,
        /// What it said.
        #[source]
        source: ArrowError,
    },
}
