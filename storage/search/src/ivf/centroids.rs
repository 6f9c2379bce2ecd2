//! The table of centroids: what the root of an index holds so that a query can tell
//! which lists to read.
//!
//! Centroids are unit vectors in scalar codes of their own. Everything else works
//! with what the codes stand for, so rounding them costs nothing in accuracy later.
//! The bytes carry no version; the file that holds them does.

use super::quantise::{Bits, Line, PreparedQuery, Quantiser, pack, unpack};
use super::rows::Rows;
use crate::vector;

/// Bytes before the groups: dimension, bits, groups, lists, four bytes each.
pub(super) const HEADER: usize = 16;
/// Bytes of a row before its codes: scale and offset.
const ROW_HEADER: usize = 8;

/// Why bytes are not a table of centroids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CentroidsError {
    /// The header or the rows are cut off, or something follows them.
    #[error("the centroid table should take {expected} bytes and takes {got}")]
    Length {
        /// By the header.
        expected: usize,
        /// What was given.
        got: usize,
    },
    /// A width of codes that this version does not know.
    #[error("the centroid table has codes of {bits} bits; 2, 4 and 8 are known")]
    Bits {
        /// As read.
        bits: u32,
    },
    /// A dimension of 0, no list, or groups that do not add up to the lists.
    #[error("the centroid table's groups hold {grouped} lists and its rows {lists}")]
    Groups {
        /// Lists in the groups.
        grouped: usize,
        /// Lists by the header.
        lists: usize,
    },
}

/// A list and how well it suits a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedList {
    /// The list's number in file order, from 0.
    pub list: usize,
    /// The cosine of the query and the centroid, up to rounding.
    pub score: f32,
}

/// The centroids of all lists, in file order, in groups of neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Centroids {
    dimension: usize,
    bits: Bits,
    /// Lists in each group, in file order.
    groups: Vec<u32>,
    /// Per list: scale f32, offset f32, codes.
    table: Vec<u8>,
}

impl Centroids {
    /// Takes unit rows, group after group.
    pub(super) fn of_groups(groups: &[Rows], dimension: usize, bits: Bits) -> Self {
        let mut quantiser = Quantiser::default();
        let mut table = Vec::new();
        let mut decoded = vec![0.0; dimension];
        for row in groups.iter().flat_map(Rows::iter) {
            let (levels, line) = quantiser.fit(row, bits);
            let start = table.len() + ROW_HEADER;
            let mut codes = Vec::new();
            pack(levels, bits, &mut codes);
            unpack(&codes, bits, line, &mut decoded);
            #[expect(clippy::cast_possible_truncation, reason = "close to 1, or 0")]
            let unit = vector::inverse_norm(&decoded) as f32;
            table.extend((line.scale * unit).to_le_bytes());
            table.extend((line.offset * unit).to_le_bytes());
            table.extend(codes);
            debug_assert_eq!(table.len(), start + bits.width(dimension));
        }
        Self {
            dimension,
            bits,
            groups: groups
                .iter()
                .map(|rows| u32::try_from(rows.len()).unwrap_or(u32::MAX))
                .collect(),
            table,
        }
    }

    /// Components of a centroid.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Lists, at least one.
    pub fn lists(&self) -> usize {
        self.table.len() / self.row_width()
    }

    /// First list and end of each group of neighbouring lists, in file order.
    pub fn groups(&self) -> impl Iterator<Item = (usize, usize)> {
        self.groups.iter().scan(0, |end, lists| {
            let start = *end;
            *end += *lists as usize;
            Some((start, *end))
        })
    }

    fn row_width(&self) -> usize {
        ROW_HEADER + self.bits.width(self.dimension)
    }

    fn coded(&self) -> impl Iterator<Item = (Line, &[u8])> {
        self.table.chunks_exact(self.row_width()).filter_map(|row| {
            let (scale, row) = row.split_first_chunk()?;
            let (offset, codes) = row.split_first_chunk()?;
            let line = Line {
                scale: f32::from_le_bytes(*scale),
                offset: f32::from_le_bytes(*offset),
            };
            Some((line, codes))
        })
    }

    /// The vectors that the codes stand for.
    pub fn rows(&self) -> Rows {
        let mut rows = Rows::zeros(self.dimension, self.lists());
        for (number, (line, codes)) in self.coded().enumerate() {
            unpack(codes, self.bits, line, rows.at_mut(number));
        }
        rows
    }

    /// All lists, the most promising first; equals in file order.
    pub fn rank(&self, query: &PreparedQuery) -> Vec<RankedList> {
        let mut ranked: Vec<RankedList> = self
            .coded()
            .enumerate()
            .map(|(list, (line, codes))| RankedList {
                list,
                score: query.dot(codes, self.bits, line),
            })
            .collect();
        ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.list.cmp(&b.list)));
        ranked
    }

    /// The bytes: dimension u32, bits u32, groups u32, lists u32; lists of each group
    /// u32; per list scale f32, offset f32 and the codes. All little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.groups.len() * 4 + self.table.len());
        let bits = match self.bits {
            Bits::Two => 2_usize,
            Bits::Four => 4,
            Bits::Eight => 8,
        };
        for number in [self.dimension, bits, self.groups.len(), self.lists()] {
            bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        for lists in &self.groups {
            bytes.extend(lists.to_le_bytes());
        }
        bytes.extend(&self.table);
        bytes
    }

    /// Reads what [`Centroids::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, CentroidsError> {
        let short = CentroidsError::Length {
            expected: HEADER,
            got: bytes.len(),
        };
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or(short)?;
        let (words, _) = header.as_chunks::<4>();
        let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
        let mut next = || words.next().unwrap_or(0);
        let (dimension, bits, groups, lists) = (next(), next(), next(), next());
        let bits = match bits {
            2 => Bits::Two,
            4 => Bits::Four,
            8 => Bits::Eight,
            bits => return Err(CentroidsError::Bits { bits }),
        };
        let (dimension, groups, lists) = (dimension as usize, groups as usize, lists as usize);
        let row_width = ROW_HEADER + bits.width(dimension);
        let expected = groups
            .saturating_mul(4)
            .saturating_add(lists.saturating_mul(row_width));
        let wrong = CentroidsError::Length {
            expected: expected.saturating_add(HEADER),
            got: bytes.len(),
        };
        if rest.len() != expected {
            return Err(wrong);
        }
        let (sizes, table) = rest.split_at_checked(groups * 4).ok_or(wrong)?;
        let (sizes, _) = sizes.as_chunks::<4>();
        let groups: Vec<u32> = sizes.iter().map(|size| u32::from_le_bytes(*size)).collect();
        let grouped = groups
            .iter()
            .fold(0_usize, |sum, size| sum.saturating_add(*size as usize));
        if grouped != lists || lists == 0 || dimension == 0 {
            return Err(CentroidsError::Groups { grouped, lists });
        }
        Ok(Self {
            dimension,
            bits,
            groups,
            table: table.to_vec(),
        })
    }
}
