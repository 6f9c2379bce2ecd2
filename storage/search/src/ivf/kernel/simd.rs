//! The inner loops with the vector types of the `wide` crate: SSE2, AVX2, NEON or
//! wasm's simd128, whichever the build's target has.

use wide::{f32x8, i16x8, i32x4, u8x16};

/// Codes that one step takes.
const LANES: usize = 16;

/// The dot product of two vectors; the longer one is cut to the shorter.
pub(in crate::ivf) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let (mut even, mut odd) = (f32x8::ZERO, f32x8::ZERO);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (halves(a), halves(b));
        even = a.0.mul_add(b.0, even);
        odd = a.1.mul_add(b.1, odd);
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (even + odd).reduce_add() + rest
}

fn halves(values: &[f32; 16]) -> (f32x8, f32x8) {
    let (first, second) = values.split_at(8);
    (f32x8::from(first), f32x8::from(second))
}

/// The dot product of a query in two planes with codes of 4 bits: the low half of
/// byte *j* meets `low[j]`, the high half meets `high[j]`.
pub(in crate::ivf) fn nibbles(low: &[i16], high: &[i16], codes: &[u8]) -> i32 {
    let (codes, codes_rest) = codes.as_chunks::<LANES>();
    let (low, low_rest) = low.as_chunks::<LANES>();
    let (high, high_rest) = high.as_chunks::<LANES>();
    let mask = i16x8::splat(15);
    let mut sum = i32x4::ZERO;
    for ((codes, low), high) in codes.iter().zip(low).zip(high) {
        let (first, second) = widen(*codes);
        let (low, high) = (i16_halves(low), i16_halves(high));
        sum += (first & mask).dot(low.0) + (second & mask).dot(low.1);
        sum += (first >> 4).dot(high.0) + (second >> 4).dot(high.1);
    }
    let mut sum = sum.reduce_add();
    for ((code, low), high) in codes_rest.iter().zip(low_rest).zip(high_rest) {
        sum = sum
            .wrapping_add(i32::from(code & 15) * i32::from(*low))
            .wrapping_add(i32::from(code >> 4) * i32::from(*high));
    }
    sum
}

/// The dot product of a query with codes of 8 bits.
pub(in crate::ivf) fn bytes(query: &[i16], codes: &[u8]) -> i32 {
    let (codes, codes_rest) = codes.as_chunks::<LANES>();
    let (query, query_rest) = query.as_chunks::<LANES>();
    let mut sum = i32x4::ZERO;
    for (codes, query) in codes.iter().zip(query) {
        let (first, second) = widen(*codes);
        let query = i16_halves(query);
        sum += first.dot(query.0) + second.dot(query.1);
    }
    let mut sum = sum.reduce_add();
    for (code, query) in codes_rest.iter().zip(query_rest) {
        sum = sum.wrapping_add(i32::from(*code) * i32::from(*query));
    }
    sum
}

/// Sixteen bytes as two vectors of eight.
fn widen(codes: [u8; LANES]) -> (i16x8, i16x8) {
    let codes = u8x16::from(codes);
    (i16x8::from_u8x16_low(codes), i16x8::from_u8x16_high(codes))
}

fn i16_halves(values: &[i16; LANES]) -> (i16x8, i16x8) {
    let (first, second) = values.split_at(8);
    (
        i16x8::from_slice_unaligned(first),
        i16x8::from_slice_unaligned(second),
    )
}
