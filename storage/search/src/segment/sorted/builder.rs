//! Gathering the values of rows, and cutting them into blocks once they are sorted.
//!
//! A record's own fields are always kept; of the names that users gave, only the most
//! frequent are, so that the root stays small whatever is stored. It must not decide
//! where the blocks go.

use std::collections::BTreeMap;

use super::entries::{self, GROUP};
use super::key::{self, Kind};
use super::{Covered, Name, Series, Sorted, SortedBlock};
use crate::filter::{Field, Ordered};
use crate::record::Record;
use crate::segment::checksum;

/// What a block comes to, in bytes.
const BLOCK_BYTES: usize = 16 << 10;
/// The names that users gave of which a segment has series.
const MOST_NAMES: usize = 64;

/// Own fields that have an order other than that of texts.
const OWN: [Field; 5] = [
    Field::CreatedAt,
    Field::UpdatedAt,
    Field::ExpiresAt,
    Field::Version,
    Field::Confidence,
];

/// Gathers the values of rows.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    names: BTreeMap<Name, Vec<(Kind, u64, u32)>>,
}

impl Builder {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: u32, record: &Record) {
        for field in OWN {
            self.push(Name::Field(field.clone()), row, Ordered::of(record, &field));
        }
        for key in record.metadata.keys() {
            let field = Field::Metadata(key.clone());
            let value = Ordered::of(record, &field);
            self.push(Name::Field(field), row, value);
        }
        for (name, instant) in &record.timestamps {
            let name = Name::Timestamp(name.clone());
            self.push(name, row, Some(Ordered::Int(*instant)));
        }
    }

    fn push(&mut self, name: Name, row: u32, value: Option<Ordered>) {
        if let Some((kind, key)) = value.and_then(key::key) {
            self.names.entry(name).or_default().push((kind, key, row));
        }
    }

    /// Appends the blocks; their places are those in `blob`.
    pub(crate) fn finish(mut self, blob: &mut Vec<u8>) -> Sorted {
        let mut given: Vec<(usize, Name)> = self
            .names
            .iter()
            .filter(|(name, _)| !name.is_own())
            .map(|(name, values)| (values.len(), name.clone()))
            .collect();
        given.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
        let left_out = given.split_off(MOST_NAMES.min(given.len()));
        for (_, name) in &left_out {
            self.names.remove(name);
        }
        let mut series = Vec::new();
        for (name, mut values) in self.names {
            values.sort_unstable();
            let of_kinds = values.chunk_by(|(a, ..), (b, ..)| a == b);
            for of_kind in of_kinds {
                let Some((kind, last, _)) = of_kind.last().copied() else {
                    continue;
                };
                let entries: Vec<(u64, u32)> =
                    of_kind.iter().map(|(_, key, row)| (*key, *row)).collect();
                series.push(Series {
                    name: name.clone(),
                    kind,
                    last,
                    blocks: cut(&entries, blob),
                });
            }
        }
        let covered = if left_out.is_empty() {
            Covered::All
        } else {
            Covered::Frequent
        };
        Sorted { covered, series }
    }
}

/// Appends entries in blocks.
fn cut(entries: &[(u64, u32)], blob: &mut Vec<u8>) -> Vec<SortedBlock> {
    let mut blocks = Vec::new();
    let mut groups = entries.chunks(GROUP).peekable();
    while let Some((first, _)) = groups.peek().and_then(|group| group.first()).copied() {
        let (mut bytes, mut count, mut before) = (Vec::new(), 0, first);
        while bytes.len() < BLOCK_BYTES
            && let Some(group) = groups.next()
        {
            entries::encode(group, before, &mut bytes);
            before = group.last().map_or(before, |(key, _)| *key);
            count += group.len();
        }
        blocks.push(SortedBlock {
            first,
            offset: blob.len() as u64,
            // A block ends with the group that fills it.
            len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            entries: u32::try_from(count).unwrap_or(u32::MAX),
            crc: checksum(&bytes),
        });
        blob.extend_from_slice(&bytes);
    }
    blocks
}
