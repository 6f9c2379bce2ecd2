//! Numbers of a block, each in as many bits as the largest needs.
//!
//! The first number lies in the lowest bits of the first byte. Posting lists and sorted
//! indexes are kept so, in blocks of a few hundred numbers at most: plain loops are fast
//! enough on every target. It must not know what the numbers mean.

/// The bits that the largest number needs, 0 to 64.
pub(crate) fn width_of<N: Copy + Into<u64>>(values: &[N]) -> u8 {
    let all = values.iter().fold(0, |all, value| all | (*value).into());
    64 - all.leading_zeros().to_le_bytes()[0]
}

/// The bytes that so many numbers of this width take.
pub(crate) fn packed_len(count: usize, width: u8) -> usize {
    (count * usize::from(width)).div_ceil(8)
}

/// Appends numbers that need no more bits than `width`, at most 64.
pub(crate) fn pack<N: Copy + Into<u64>>(values: &[N], width: u8, out: &mut Vec<u8>) {
    let width = u32::from(width);
    let (mut bits, mut have) = (0_u64, 0_u32);
    for value in values {
        let value: u64 = (*value).into();
        bits |= value << have;
        have += width;
        if have >= u64::BITS {
            out.extend_from_slice(&bits.to_le_bytes());
            have -= u64::BITS;
            // What of the number did not fit.
            bits = value.checked_shr(width - have).unwrap_or(0);
        }
    }
    let rest = have.div_ceil(8) as usize;
    out.extend(bits.to_le_bytes().into_iter().take(rest));
}

/// Fills `out` with numbers of this width, at most 32; where the bytes end, with zeros.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the mask leaves at most 32 bits"
)]
pub(crate) fn unpack(bytes: &[u8], width: u8, out: &mut [u32]) {
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

/// So many numbers of this width, and the bytes after them; `None` if the bytes end before,
/// or no number has such a width.
pub(crate) fn split(bytes: &[u8], width: u8, count: usize) -> Option<(Vec<u64>, &[u8])> {
    if width > 64 {
        return None;
    }
    let (packed, rest) = bytes.split_at_checked(packed_len(count, width))?;
    let mask = (1_u128 << width) - 1;
    let mut packed = packed.iter();
    let (mut bits, mut have) = (0_u128, 0_u32);
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        while have < u32::from(width) {
            bits |= u128::from(*packed.next()?) << have;
            have += 8;
        }
        values.push(u64::try_from(bits & mask).ok()?);
        bits >>= width;
        have -= u32::from(width);
    }
    Some((values, rest))
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

        #[test]
        fn what_is_packed_is_split_from_what_follows(
            width in 0_u32..=64,
            raw in prop::collection::vec(any::<u64>(), 0..129),
            after in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let values: Vec<u64> = raw.iter().map(|v| v.checked_shr(64 - width).unwrap_or(0)).collect();
            let width = width_of(&values);
            let mut bytes = Vec::new();
            pack(&values, width, &mut bytes);
            let len = bytes.len();
            prop_assert_eq!(len, packed_len(values.len(), width));
            bytes.extend_from_slice(&after);
            prop_assert_eq!(split(&bytes, width, values.len()), Some((values.clone(), after.as_slice())));
            if len > 0 {
                prop_assert_eq!(split(&bytes[..len - 1], width, values.len()), None);
            }
            prop_assert_eq!(split(&bytes, 65, values.len()), None);
        }
    }
}
