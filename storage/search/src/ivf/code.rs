//! Entries of a list: a document's number and its residual in scalar codes, and the
//! scan that estimates cosines from them.
//!
//! Entries of one index have one width, so a list is an array without an index of
//! its own. Scale and offset carry the factor that makes the estimate of
//! ⟨query, residual⟩ unbiased (the idea of `RaBitQ`, Gao and Long, 2024).

use super::centroids::Centroids;
use super::kernel;
use super::quantise::{Bits, Line, PreparedQuery, Quantiser, pack};
use super::rows::Rows;

/// Bytes of an entry before its codes: document u32, chunk u16, scale bf16, offset bf16.
const HEADER: usize = 10;

/// Whose vector an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The document's number in the segment.
    pub doc: u32,
    /// The chunk of the document, from 0.
    pub chunk: u16,
}

/// What an entry says of its vector's cosine with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The likeliest, −1 to 1.
    pub score: f32,
    /// How far off that is at most, except for one entry in ten thousand; 0 to 2.
    pub error: f32,
}

/// The error of an estimate in steps of its codes. Of four million estimates of real
/// vectors (384 components, codes of two bits) half are off by 0.22 steps, one in a
/// hundred by 0.84, one in ten thousand by 1.26.
const ERROR_STEPS: f32 = 1.25;

/// The shape of the entries of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryLayout {
    /// Components of a vector, at least 1.
    pub dimension: usize,
    /// Width of the codes.
    pub bits: Bits,
}

impl EntryLayout {
    /// Bytes of one entry.
    pub const fn width(self) -> usize {
        HEADER + self.bits.width(self.dimension)
    }
}

/// Why bytes are not the entries of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// Not a whole number of entries.
    #[error("{bytes} bytes of codes are not a whole number of entries of {width} bytes")]
    Length {
        /// Bytes given.
        bytes: usize,
        /// Bytes of an entry.
        width: usize,
    },
    /// The query has another dimension than the entries.
    #[error("expected a query of dimension {expected} got {got}")]
    Dimension {
        /// The entries'.
        expected: usize,
        /// The query's.
        got: usize,
    },
}

/// Writes entries; keeps its buffers from one vector to the next.
#[derive(Debug, Clone)]
pub struct Encoder {
    layout: EntryLayout,
    rows: Rows,
    quantiser: Quantiser,
    residual: Vec<f32>,
}

impl Encoder {
    /// Takes 4 bytes a component of every centroid.
    pub fn new(centroids: &Centroids, bits: Bits) -> Self {
        Self {
            layout: EntryLayout {
                dimension: centroids.dimension(),
                bits,
            },
            rows: centroids.rows(),
            quantiser: Quantiser::default(),
            residual: Vec::new(),
        }
    }

    /// The shape of what is written.
    pub fn layout(&self) -> EntryLayout {
        self.layout
    }

    /// Appends the entry of a vector, of unit length or zero, in one of its lists.
    pub fn encode(&mut self, vector: &[f32], list: usize, place: Place, out: &mut Vec<u8>) {
        let zeros = std::iter::repeat(&0.0);
        self.residual.clear();
        self.residual.extend(
            self.rows
                .at(list)
                .iter()
                .zip(vector.iter().chain(zeros))
                .map(|(centroid, value)| value - centroid),
        );
        let (levels, line) = self.quantiser.fit(&self.residual, self.layout.bits);
        let line = unbiased(line, levels, &self.residual);
        out.extend(place.doc.to_le_bytes());
        out.extend(place.chunk.to_le_bytes());
        out.extend(to_bf16(line.scale));
        out.extend(to_bf16(line.offset));
        pack(levels, self.layout.bits, out);
    }
}

/// The line stretched so that the decoded residual's part along the true residual is
/// as long as that one.
fn unbiased(line: Line, levels: &[u8], residual: &[f32]) -> Line {
    let length = kernel::dot(residual, residual);
    let along: f32 = residual
        .iter()
        .zip(levels)
        .map(|(value, level)| value * line.value(*level))
        .sum();
    let factor = length / along;
    if factor.is_normal() && (0.5..2.0).contains(&factor) {
        Line {
            scale: line.scale * factor,
            offset: line.offset * factor,
        }
    } else {
        line
    }
}

/// The upper half of an f32, rounded: a relative error of at most 2⁻⁸, far below what
/// the codes themselves lose.
fn to_bf16(value: f32) -> [u8; 2] {
    let [_, _, low, high] = f32::from_bits(value.to_bits().saturating_add(0x8000)).to_le_bytes();
    [low, high]
}

fn from_bf16(bytes: [u8; 2]) -> f32 {
    let [low, high] = bytes;
    f32::from_le_bytes([0, 0, low, high])
}

/// Estimates the cosine of the query with every entry that is accepted.
///
/// `base` is the score of the entries' list, as [`Centroids::rank`] gave it;
/// `accept` is asked by document before anything is computed; `sink` takes each
/// entry's place and estimate, whose parts are always numbers.
pub fn scan(
    layout: EntryLayout,
    query: &PreparedQuery,
    base: f32,
    entries: &[u8],
    mut accept: impl FnMut(u32) -> bool,
    mut sink: impl FnMut(Place, Estimate),
) -> Result<(), ScanError> {
    let width = layout.width();
    if query.dimension() != layout.dimension {
        return Err(ScanError::Dimension {
            expected: layout.dimension,
            got: query.dimension(),
        });
    }
    let entries_exact = entries.chunks_exact(width);
    if !entries_exact.remainder().is_empty() {
        return Err(ScanError::Length {
            bytes: entries.len(),
            width,
        });
    }
    for entry in entries_exact {
        let Some((header, codes)) = entry.split_first_chunk::<HEADER>() else {
            continue;
        };
        let [d0, d1, d2, d3, c0, c1, s0, s1, o0, o1] = *header;
        let place = Place {
            doc: u32::from_le_bytes([d0, d1, d2, d3]),
            chunk: u16::from_le_bytes([c0, c1]),
        };
        if !accept(place.doc) {
            continue;
        }
        let line = Line {
            scale: from_bf16([s0, s1]),
            offset: from_bf16([o0, o1]),
        };
        let estimate = base + query.dot(codes, layout.bits, line);
        // Damaged bytes may say anything; a score is still a cosine.
        let estimate = if estimate.is_nan() { -1.0 } else { estimate };
        let estimate = Estimate {
            score: estimate.clamp(-1.0, 1.0),
            // The smaller of the two is the one that is a number.
            error: (line.scale.abs() * ERROR_STEPS).min(2.0),
        };
        sink(place, estimate);
    }
    Ok(())
}
