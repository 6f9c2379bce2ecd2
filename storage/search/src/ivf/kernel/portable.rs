//! The inner loops as plain loops over fixed chunks, which the compiler vectorises
//! on every target.

/// The dot product of two vectors; the longer one is cut to the shorter.
pub(in crate::ivf) fn dot(a: &[f32], b: &[f32]) -> f32 {
    crate::vector::dot(a, b)
}

/// The dot product of a query in two planes with codes of 4 bits: the low half of
/// byte *j* meets component *j* of the first plane, the high half that of the second.
pub(in crate::ivf) fn nibbles(planes: [&[i16]; 2], codes: &[u8]) -> i32 {
    shifted(planes, codes)
}

/// The dot product of a query in four planes with codes of 2 bits, the lowest first.
pub(in crate::ivf) fn crumbs(planes: [&[i16]; 4], codes: &[u8]) -> i32 {
    shifted(planes, codes)
}

/// The dot product of a query with codes of 8 bits.
pub(in crate::ivf) fn bytes(query: &[i16], codes: &[u8]) -> i32 {
    shifted([query], codes)
}

/// A byte holds one level for each plane; a plane shorter than the codes ends its sum.
fn shifted<const PLANES: usize>(planes: [&[i16]; PLANES], codes: &[u8]) -> i32 {
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
