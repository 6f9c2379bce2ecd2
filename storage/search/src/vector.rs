//! Vectors: checking them, and the cosine of two.
//!
//! The dot product is written so that the compiler vectorises it on every
//! target without `unsafe`. What is not a number is refused at the boundary, so
//! that no score is ever NaN.

use crate::record::Embedding;

/// Why a vector was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// No component at all.
    #[error("the vector is empty")]
    Empty,
    /// NaN or infinite.
    #[error("component {position} of the vector is not a finite number")]
    NotFinite {
        /// Position, from 0.
        position: usize,
    },
    /// Another dimension than the profile's.
    #[error("expected {expected} got {got}")]
    Dimension {
        /// The profile's.
        expected: usize,
        /// The vector's.
        got: usize,
    },
}

/// Components that are summed side by side.
const LANES: usize = 16;

/// Checks that a vector has components, all finite, and as many as expected.
pub fn check(vector: &[f32], expected: Option<usize>) -> Result<(), VectorError> {
    if vector.is_empty() {
        return Err(VectorError::Empty);
    }
    if let Some(expected) = expected.filter(|expected| *expected != vector.len()) {
        return Err(VectorError::Dimension {
            expected,
            got: vector.len(),
        });
    }
    match vector.iter().position(|component| !component.is_finite()) {
        Some(position) => Err(VectorError::NotFinite { position }),
        None => Ok(()),
    }
}

/// The dot product of two vectors of the same length.
///
/// Vectors of different lengths have none; callers compare lengths first.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// The factor that makes a vector of unit length; 0 for the zero vector.
pub fn inverse_norm(vector: &[f32]) -> f64 {
    let norm = vector
        .iter()
        .map(|x| f64::from(*x) * f64::from(*x))
        .sum::<f64>()
        .sqrt();
    if norm > 0.0 { norm.recip() } else { 0.0 }
}

/// The inverse norm of each chunk's vector; none at all if the vectors are none or not
/// to be compared, because they are not finite or not of one length.
pub(crate) fn inverse_norms(embedding: &Embedding) -> Vec<f64> {
    let Embedding::Ready { chunks, .. } = embedding else {
        return Vec::new();
    };
    let dimension = chunks.first().map(|chunk| chunk.vector.len());
    let is_sound = chunks
        .iter()
        .all(|chunk| check(&chunk.vector, dimension).is_ok());
    if !is_sound {
        return Vec::new();
    }
    chunks
        .iter()
        .map(|chunk| inverse_norm(&chunk.vector))
        .collect()
}

/// The vector at unit length; the zero vector stays zero.
pub fn normalised(vector: &[f32]) -> Vec<f32> {
    let factor = inverse_norm(vector);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "components of a unit vector fit"
    )]
    vector
        .iter()
        .map(|x| (f64::from(*x) * factor) as f32)
        .collect()
}

/// The cosine of a unit vector with another of the same length, whose inverse norm
/// is given. It is never NaN: with the zero vector it is 0.
pub fn cosine(unit: &[f32], other: &[f32], inverse_norm: f64) -> f64 {
    let product = f64::from(dot(unit, other));
    // Components near the limit of f32 overflow the fast sum.
    let product = if product.is_finite() {
        product
    } else {
        wide_dot(unit, other)
    };
    // Adding zero makes -0 a plain 0, which the order of hits would tell apart.
    (product * inverse_norm).clamp(-1.0, 1.0) + 0.0
}

fn wide_dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| f64::from(*a) * f64::from(*b))
        .sum()
}

#[cfg(test)]
mod tests;
