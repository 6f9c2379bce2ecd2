//! The entries of a block as bytes: keys as differences and rows, each in as many bits as
//! the largest of a group needs.
//!
//! A group is at most 128 entries: the bits of a difference (u8), the bits of a row (u8), a
//! first row (u32, little-endian), the differences and the rows, each padded to whole bytes.
//! Rows are what they are above the first row; where all differences are zero they ascend,
//! and are kept as differences too. It must not know where blocks lie.

use crate::bits;

/// Entries of a group.
pub(super) const GROUP: usize = 128;
const HEADER_BYTES: usize = 6;

/// Appends a group of entries, ascending by key and row, the first after this key.
pub(super) fn encode(entries: &[(u64, u32)], mut before: u64, out: &mut Vec<u8>) {
    let mut keys = Vec::with_capacity(entries.len());
    for (key, _) in entries {
        keys.push(key.saturating_sub(before));
        before = *key;
    }
    let least = entries.iter().map(|(_, row)| *row).min();
    let base = least.unwrap_or_default();
    let is_one_key = keys.iter().all(|difference| *difference == 0);
    let mut last = base;
    let rows: Vec<u64> = entries
        .iter()
        .map(|(_, row)| {
            let value = row.saturating_sub(last);
            if is_one_key {
                last = *row;
            }
            u64::from(value)
        })
        .collect();
    let (key_width, row_width) = (bits::width_of(&keys), bits::width_of(&rows));
    out.extend_from_slice(&[key_width, row_width]);
    out.extend_from_slice(&base.to_le_bytes());
    bits::pack(&keys, key_width, out);
    bits::pack(&rows, row_width, out);
}

/// Gives each entry of a block; `None` if its bytes are not such entries.
pub(super) fn decode(
    mut bytes: &[u8],
    first: u64,
    entries: u32,
    mut each: impl FnMut(u64, u32),
) -> Option<()> {
    let mut left = entries as usize;
    let mut key = first;
    while left > 0 {
        let count = left.min(GROUP);
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [key_width, row_width, base @ ..] = *header;
        let (keys, rest) = bits::split(rest, key_width, count)?;
        let (rows, rest) = bits::split(rest, row_width, count)?;
        let mut base = u32::from_le_bytes(base);
        for (difference, row) in keys.iter().zip(rows) {
            key = key.checked_add(*difference)?;
            let row = base.checked_add(u32::try_from(row).ok()?)?;
            if key_width == 0 {
                base = row;
            }
            each(key, row);
        }
        bytes = rest;
        left -= count;
    }
    bytes.is_empty().then_some(())
}
