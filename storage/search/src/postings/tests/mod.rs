//! What the tests share: rows at random with words by Zipf's law, and the answers as a
//! few lines say them.

mod damage;
mod filed;
mod lists;
mod merging;
mod searching;

use std::collections::BTreeMap;

use bytes::Bytes;

use super::*;
use crate::text::DocumentTerms;

/// Numbers at random from a seed (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A rank below `end` whose frequency falls with it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn zipf(&mut self, end: u64) -> u64 {
        ((end as f64).powf(self.unit()) as u64).min(end) - 1
    }
}

pub(super) fn word(rank: u64) -> String {
    format!("w{rank}")
}

/// A row as the model keeps it.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) doc: u32,
    pub(super) terms: DocumentTerms,
    pub(super) keys: Vec<TermHash>,
}

pub(super) fn rows(random: &mut Random, count: u64, words: u64, gaps: u64) -> Vec<Row> {
    let mut doc = 0;
    (0..count)
        .map(|index| {
            let mut terms = DocumentTerms::default();
            for _ in 0..random.below(40) {
                let term = word(random.zipf(words));
                *terms.counts.entry(term).or_default() += 1;
                // Other forms of a word do not count.
                terms.length += u32::from(random.below(8) > 0);
            }
            doc += u32::try_from(random.below(gaps)).unwrap() + u32::from(index > 0);
            let mut keys = vec![
                keys::id(&format!("r{index}")),
                keys::realm(&format!("realm{}", random.below(3))),
            ];
            keys.sort_unstable();
            Row { doc, terms, keys }
        })
        .collect()
}

pub(super) fn small() -> Settings {
    Settings {
        bucket_bytes: 600,
        ..Settings::default()
    }
}

pub(super) fn build(rows: &[Row]) -> Built {
    let mut builder = Builder::new(small());
    for row in rows {
        builder.add(row.doc, &row.terms, row.keys.iter().copied());
    }
    builder.finish().unwrap()
}

/// Fetches a list as a reader does.
pub(super) fn fetch(built: &Built, term: TermHash) -> Option<List> {
    let range = built.directory.locate(term)?;
    let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
    let bytes = Bytes::copy_from_slice(&built.blob[range]);
    Bucket::open(&bytes).unwrap().find(term).unwrap()
}

/// Every term of the rows and its postings.
pub(super) fn inverted(rows: &[Row]) -> BTreeMap<TermHash, Vec<Posting>> {
    let mut lists: BTreeMap<TermHash, Vec<Posting>> = BTreeMap::new();
    for row in rows {
        for (term, tf) in &row.terms.counts {
            lists
                .entry(TermHash::text(term))
                .or_default()
                .push(Posting {
                    doc: row.doc,
                    tf: *tf,
                    length: row.terms.length,
                });
        }
        for key in &row.keys {
            lists.entry(*key).or_default().push(Posting {
                doc: row.doc,
                ..Posting::default()
            });
        }
    }
    lists
}
