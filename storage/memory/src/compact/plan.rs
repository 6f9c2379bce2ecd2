//! Which segments a compaction merges with what is new: a suffix of them, so that each
//! segment stands for one range of the log, and so much that their number stays
//! logarithmic and every row is rewritten a logarithmic number of times.

use ostraca_search::{Embedding, Record};

use crate::catalogue::SegmentInfo;
use crate::row::Row;

/// How much a compaction may take on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// What a process with little memory can do: fold what is new, and merge segments of
    /// at most so many bytes together.
    Minor {
        /// Bytes of segments that may be merged.
        bytes: u64,
    },
    /// Everything, into one segment.
    Major,
}

impl Effort {
    /// The minor compaction that suits a Worker's 128 MB.
    pub const SMALL: Self = Self::Minor { bytes: 8 << 20 };
}

/// A segment is merged if it has at most so many times the rows of what it is merged with.
const RATIO: u64 = 3;

/// The segments to merge, newest last: a suffix of `segments`.
pub(super) fn joined<'a>(
    segments: &'a [SegmentInfo],
    recent: &[Row],
    effort: Effort,
) -> &'a [SegmentInfo] {
    let limit = match effort {
        // One segment with nothing new in it stays as it is.
        Effort::Major if recent.is_empty() && segments.len() == 1 => return &[],
        Effort::Major => return segments,
        Effort::Minor { bytes } => bytes,
    };
    let (mut from, mut rows, mut bytes) = (segments.len(), recent.len() as u64, 0);
    for (index, segment) in segments.iter().enumerate().rev() {
        bytes += segment.bytes();
        if segment.rows > rows.saturating_mul(RATIO) || bytes > limit {
            break;
        }
        rows += segment.rows;
        from = index;
    }
    segments.get(from..).unwrap_or_default()
}

/// About the bytes of rows that there will be.
pub(super) fn bytes(segments: &[SegmentInfo], recent: &[Row]) -> u64 {
    let folded: u64 = segments.iter().map(|segment| segment.row_bytes).sum();
    let new: usize = recent.iter().map(|row| size(&row.change.record)).sum();
    folded + new as u64
}

/// About the bytes of a row.
fn size(record: &Record) -> usize {
    /// Of the columns that have about the same size in each row.
    const REST: usize = 300;
    let vectors = match &record.embedding {
        Embedding::Ready { chunks, .. } => {
            let components = chunks.iter().map(|chunk| chunk.vector.len());
            components.sum::<usize>() * size_of::<f32>()
        }
        Embedding::None | Embedding::Pending { .. } => 0,
    };
    REST + record.texts().map(str::len).sum::<usize>() + vectors
}

/// Whether there is something to do though nothing is new.
pub(super) fn is_due(segments: &[SegmentInfo], effort: Effort) -> bool {
    match effort {
        Effort::Minor { .. } => false,
        Effort::Major => segments.len() > 1,
    }
}

#[cfg(test)]
mod tests {
    use ostraca_object::key::Seq;

    use super::*;

    fn segments(rows: &[u64]) -> Vec<SegmentInfo> {
        rows.iter()
            .enumerate()
            .map(|(index, rows)| SegmentInfo {
                id: format!("s{index}").parse().unwrap(),
                rows: *rows,
                live: *rows,
                first: Seq(index as u64),
                last: Seq(index as u64),
                root_bytes: 0,
                root_crc: 0,
                row_bytes: rows * 1_000,
                code_bytes: 0,
                posting_bytes: 0,
            })
            .collect()
    }

    /// The sizes of segments after so many folds of so many rows each.
    fn after(folds: u64, rows: u64, effort: Effort) -> (Vec<u64>, u64) {
        let (mut sizes, mut written) = (Vec::new(), 0);
        for _ in 0..folds {
            let all = segments(&sizes);
            let recent = vec![crate::row::tests::row(1, "a"); usize::try_from(rows).unwrap()];
            let joined = joined(&all, &recent, effort);
            let merged = rows + joined.iter().map(|segment| segment.rows).sum::<u64>();
            sizes.truncate(sizes.len() - joined.len());
            sizes.push(merged);
            written += merged;
        }
        (sizes, written)
    }

    #[test]
    fn the_number_of_segments_and_of_rewrites_is_logarithmic() {
        let (sizes, written) = after(1_000, 64, Effort::Minor { bytes: u64::MAX });
        assert!(sizes.len() <= 6, "{sizes:?}");
        assert_eq!(sizes.iter().sum::<u64>(), 64_000);
        assert!(written <= 64_000 * 12, "{written}");
    }

    #[test]
    fn a_minor_compaction_stays_within_its_bytes() {
        let all = segments(&[10_000, 5_000, 3_000, 1_000]);
        let recent = vec![crate::row::tests::row(1, "a"); 1_000];
        let joined = joined(&all, &recent, Effort::Minor { bytes: 4_500_000 });
        assert_eq!(joined.len(), 2, "{joined:?}");
    }
}
