//! Numbers of one block, each in as many bits as the largest needs.
//!
//! The first number lies in the lowest bits of the first byte. Blocks are at most
//! [`super::list::BLOCK`] numbers, so that plain loops are fast enough on every target.

/// The bits that the largest number needs, 0 to 32.
pub(super) fn width_of(values: &[u32]) -> u8 {
    let all = values.iter().fold(0, |all, value| all | value);
    let zeros = all.leading_zeros().to_le_bytes()[0];
    32 - zeros
}

/// The bytes that so many numbers of this width take.
pub(super) fn packed_len(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(8)
}

/// Appends numbers that need no more bits than `width`.
pub(super) fn pack(values: &[u32], width: u8, out: &mut Vec<u8>) {
    let (mut bits, mut have) = (0_u64, 0_u32);
    for value in values {
        bits |= u64::from(*value) << have;
        have += u32::from(width);
        while have >= 8 {
            out.push(bits.to_le_bytes()[0]);
            bits >>= 8;
            have -= 8;
        }
    }
    if have > 0 {
        out.push(bits.to_le_bytes()[0]);
    }
}

/// Fills `out` with numbers of this width; where the bytes end, with zeros.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the mask leaves at most 32 bits"
)]
pub(super) fn unpack(bytes: &[u8], width: u8, out: &mut [u32]) {
    let width = u32::from(width.min(32));
    let mask = (1_u64 << width) - 1;
    let (words, rest) = bytes.as_chunks::<4>();
    let mut last = [0_u8; 4];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let mut words = words.iter().chain(std::iter::once(&last));
    let (mut bits, mut have) = (0_u64, 0_u32);
    for slot in out {
        if have < width {
            let word = words.next().copied().unwrap_or_default();
            bits |= u64::from(u32::from_le_bytes(word)) << have;
            have += 32;
        }
        *slot = (bits & mask) as u32;
        bits >>= width;
        have -= width;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_back(width in 0_u32..=32, raw in prop::collection::vec(any::<u32>(), 0..129)) {
            let values: Vec<u32> = raw.iter().map(|v| u32::try_from(u64::from(*v) & ((1_u64 << width) - 1)).unwrap()).collect();
            let width = width_of(&values);
            let mut bytes = Vec::new();
            pack(&values, width, &mut bytes);
            prop_assert_eq!(bytes.len(), packed_len(values.len(), width));
            let mut found = vec![7; values.len()];
            unpack(&bytes, width, &mut found);
            prop_assert_eq!(found, values);
        }
    }
}
