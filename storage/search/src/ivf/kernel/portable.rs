//! The inner loops as plain loops over fixed chunks, which the compiler vectorises
//! on every target.

/// Components that are summed side by side.
const LANES: usize = 16;

/// The dot product of two vectors; the longer one is cut to the shorter.
pub(in crate::ivf) fn dot(a: &[f32], b: &[f32]) -> f32 {
    crate::vector::dot(a, b)
}

/// The dot product of a query in two planes with codes of 4 bits: the low half of
/// byte *j* meets `low[j]`, the high half meets `high[j]`.
pub(in crate::ivf) fn nibbles(low: &[i16], high: &[i16], codes: &[u8]) -> i32 {
    let (codes, codes_rest) = codes.as_chunks::<LANES>();
    let (low, low_rest) = low.as_chunks::<LANES>();
    let (high, high_rest) = high.as_chunks::<LANES>();
    let mut sum = 0_i32;
    for ((codes, low), high) in codes.iter().zip(low).zip(high) {
        for ((code, low), high) in codes.iter().zip(low).zip(high) {
            sum = sum.wrapping_add(pair(*code, *low, *high));
        }
    }
    for ((code, low), high) in codes_rest.iter().zip(low_rest).zip(high_rest) {
        sum = sum.wrapping_add(pair(*code, *low, *high));
    }
    sum
}

fn pair(code: u8, low: i16, high: i16) -> i32 {
    i32::from(code & 15) * i32::from(low) + i32::from(code >> 4) * i32::from(high)
}

/// The dot product of a query with codes of 8 bits.
pub(in crate::ivf) fn bytes(query: &[i16], codes: &[u8]) -> i32 {
    let (codes, codes_rest) = codes.as_chunks::<LANES>();
    let (query, query_rest) = query.as_chunks::<LANES>();
    let mut sum = 0_i32;
    for (codes, query) in codes.iter().zip(query) {
        for (code, query) in codes.iter().zip(query) {
            sum = sum.wrapping_add(i32::from(*code) * i32::from(*query));
        }
    }
    for (code, query) in codes_rest.iter().zip(query_rest) {
        sum = sum.wrapping_add(i32::from(*code) * i32::from(*query));
    }
    sum
}
