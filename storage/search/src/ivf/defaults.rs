//! The settings that the measurements chose, in one place.
//!
//! They come from 100,000 sentences embedded by `MiniLM` (384 components) and 300 queries
//! that are not among them (`examples/ivf_recall.rs`). At equal bytes 2-bit codes beat
//! 4-bit ones by two to three points of recall@10: twice the entries are seen, and the
//! best 30, ranked again by exact vectors, keep all but a tenth of a point. A second list
//! per vector is worth three to five points. Ranges cost more recall than bytes do: with
//! a list for 33 vectors and 1.5 MB, recall@10 is 0.930, 0.949, 0.958 and 0.964 in 4, 6, 8
//! and 12 ranges, and 0.986 without a limit.

use super::probe::Effort;
use super::quantise::Bits;

/// Width of the entries' codes.
pub const CODE_BITS: Bits = Bits::Two;
/// Width of the centroids' codes. Four bits gain less than a point and halve the number
/// of lists that a root of the same size can hold.
pub const CENTROID_BITS: Bits = Bits::Two;
/// Candidates to rank again by their exact vectors for the best ten: with 20 a point of
/// recall@10 is lost, with 30 a tenth of one.
pub const RERANK: usize = 30;

/// Vectors per list while the table of centroids is small.
const VECTORS_PER_LIST: usize = 35;
/// Lists per square root of the number of vectors once it is not.
const LISTS_PER_ROOT: usize = 9;

/// Lists for so many vectors: one for 35, and from about 100,000 vectors on 9 √N, which
/// is 0.9 MB of centroids of 384 components for a million.
pub fn lists_for(vectors: usize) -> usize {
    (vectors / VECTORS_PER_LIST)
        .min(vectors.isqrt().saturating_mul(LISTS_PER_ROOT))
        .max(1)
}

/// What a query reads of an index of so many vectors if nothing else is said: 1.5 MB for
/// 100,000 vectors and by the square root for more, in at most 8 ranges.
pub fn effort_for(vectors: usize) -> Effort {
    /// Bytes for each unit of √N.
    const BYTES_PER_ROOT: u64 = 4_744;
    Effort {
        bytes: BYTES_PER_ROOT.saturating_mul(vectors.isqrt() as u64),
        ranges: 8,
    }
}
