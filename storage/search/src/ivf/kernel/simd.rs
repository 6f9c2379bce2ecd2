//! The inner loops with the vector types of the `wide` crate: SSE2, AVX2, NEON or
//! wasm's simd128, whichever the build's target has.

use wide::{f32x8, i16x8, i32x4, u8x16};

/// Codes that one step takes.
const LANES: usize = 16;

/// The dot product of two vectors; the longer one is cut to the shorter.
pub(in crate::ivf) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sum = f32x8::ZERO;
    for (a, b) in a.iter().zip(b) {
        sum = f32x8::from(*a).mul_add(f32x8::from(*b), sum);
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sum.reduce_add() + rest
}

/// A byte holds one level for each plane; a plane shorter than the codes ends its sum.
pub(super) fn shifted<const PLANES: usize>(planes: [&[i16]; PLANES], codes: &[u8]) -> i32 {
    let bits = 8 / PLANES;
    let mask = u8::MAX >> (8 - bits);
    let lanes_mask = i16x8::splat(i16::from(mask));
    let mut total = 0_i32;
    for (plane, shift) in planes.iter().zip((0..8_u32).step_by(bits)) {
        let (plane_chunks, _) = plane.as_chunks::<LANES>();
        let (chunks, _) = codes.as_chunks::<LANES>();
        let mut sum = i32x4::ZERO;
        for (codes, plane) in chunks.iter().zip(plane_chunks) {
            let codes = u8x16::from(*codes);
            let (first, second) = (i16x8::from_u8x16_low(codes), i16x8::from_u8x16_high(codes));
            let (low, high) = plane.split_at(LANES / 2);
            let first: i16x8 = (first >> shift) & lanes_mask;
            let second: i16x8 = (second >> shift) & lanes_mask;
            sum += first.dot(i16x8::from_slice_unaligned(low));
            sum += second.dot(i16x8::from_slice_unaligned(high));
        }
        total = total.wrapping_add(sum.reduce_add());
        let done = chunks.len().min(plane_chunks.len()) * LANES;
        for (code, value) in codes.iter().zip(plane.iter()).skip(done) {
            total = total.wrapping_add(i32::from((code >> shift) & mask) * i32::from(*value));
        }
    }
    total
}
