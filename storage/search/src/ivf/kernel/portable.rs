//! The inner loops as plain loops over fixed chunks, which the compiler vectorises
//! on every target.

/// The dot product of two vectors; the longer one is cut to the shorter.
pub(in crate::ivf) fn dot(a: &[f32], b: &[f32]) -> f32 {
    crate::vector::dot(a, b)
}

/// A byte holds one level for each plane; a plane shorter than the codes ends its sum.
pub(super) fn shifted<const PLANES: usize>(planes: [&[i16]; PLANES], codes: &[u8]) -> i32 {
    let bits = 8 / PLANES;
    let mask = u8::MAX >> (8 - bits);
    let mut sum = 0_i32;
    for (plane, shift) in planes.iter().zip((0..8_u32).step_by(bits)) {
        for (code, value) in codes.iter().zip(plane.iter()) {
            sum = sum.wrapping_add(i32::from((code >> shift) & mask) * i32::from(*value));
        }
    }
    sum
}
