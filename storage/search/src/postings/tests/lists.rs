use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::blob::{BlobWriter, Layout};
use super::*;
use crate::bm25::{Bm25, Totals};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_list_comes_back(seed in any::<u64>(), count in 0_u64..700, words in 1_u64..400, gaps in 1_u64..50) {
        let rows = rows(&mut Random(seed), count, words, gaps);
        let built = build(&rows);
        let lists = inverted(&rows);
        for (term, postings) in &lists {
            let list = fetch(&built, *term).unwrap();
            prop_assert_eq!(list.document_frequency() as usize, postings.len());
            prop_assert_eq!(&list.postings().unwrap(), postings);
            match built.directory.frequency(*term) {
                Frequency::None => prop_assert!(false, "the directory knows the term"),
                Frequency::Below(end) => prop_assert!(postings.len() < end as usize),
                Frequency::Exactly(found) => prop_assert_eq!(found as usize, postings.len()),
            }
        }
        for absent in ["", "x", "w9999"] {
            prop_assert!(fetch(&built, TermHash::text(absent)).is_none());
        }
        let decoded = Directory::decode(&built.directory.encode()).unwrap();
        prop_assert_eq!(decoded.blob_len(), built.blob.len() as u64);
        prop_assert_eq!(decoded, built.directory);
    }

    #[test]
    fn sets_are_those_of_the_rows(seed in any::<u64>(), count in 1_u64..900, words in 2_u64..60) {
        let mut random = Random(seed);
        let rows = rows(&mut random, count, words, 4);
        let built = build(&rows);
        let picked: Vec<String> = (0..=random.below(4)).map(|_| word(random.zipf(words))).collect();
        let has = |row: &Row, word: &String| row.terms.counts.contains_key(word);
        let lists: Vec<List> = picked.iter().filter_map(|word| fetch(&built, TermHash::text(word))).collect();
        let any: BTreeSet<u32> = rows.iter().filter(|row| picked.iter().any(|w| has(row, w))).map(|row| row.doc).collect();
        prop_assert!(union(&lists).unwrap().iter().eq(any.iter().copied()));
        if lists.len() == picked.len() {
            let all: Vec<u32> = rows.iter().filter(|row| picked.iter().all(|w| has(row, w))).map(|row| row.doc).collect();
            prop_assert!(intersection(&lists).unwrap().iter().eq(all.iter().copied()));
        }
        for list in lists.iter().take(1) {
            let docs: BTreeSet<u32> = list.postings().unwrap().iter().map(|p| p.doc).collect();
            let end = u64::from(rows.last().unwrap().doc) + 2;
            for _ in 0..100 {
                let doc = u32::try_from(random.below(end)).unwrap();
                prop_assert_eq!(list.contains(doc).unwrap(), docs.contains(&doc));
            }
            let some: DocSet = rows.iter().map(|row| row.doc).filter(|_| random.below(9) == 0).collect();
            let among = list.among(&some).unwrap();
            prop_assert!(among.iter().eq(docs.iter().copied().filter(|doc| some.contains(*doc))));
        }
    }
}

#[test]
fn the_extremes_of_numbers_come_back() {
    let mut terms = DocumentTerms::default();
    terms.counts.insert("w".to_owned(), u32::MAX);
    terms.length = u32::MAX;
    let mut builder = Builder::new(small());
    let docs = [0, 1, u32::MAX - 1, u32::MAX];
    for doc in docs {
        builder.add(doc, &terms, [keys::id("r")]);
    }
    let built = builder.finish().unwrap();
    let scored = fetch(&built, TermHash::text("w")).unwrap();
    let expected = docs.map(|doc| Posting {
        doc,
        tf: u32::MAX,
        length: u32::MAX,
    });
    assert_eq!(scored.postings().unwrap(), expected);
    let plain = fetch(&built, keys::id("r")).unwrap();
    assert!(plain.docs().unwrap().iter().eq(docs));
    assert!(plain.contains(u32::MAX).unwrap());
}

#[test]
fn a_row_that_comes_twice_counts_once() {
    let mut terms = DocumentTerms::default();
    terms.counts.insert("w".to_owned(), 2);
    terms.length = 7;
    let mut builder = Builder::new(small());
    builder.add(3, &terms, []);
    builder.add(3, &terms, []);
    let list = fetch(&builder.finish().unwrap(), TermHash::text("w")).unwrap();
    let expected = Posting {
        doc: 3,
        tf: 4,
        length: 7,
    };
    assert_eq!(list.postings().unwrap(), [expected]);
}

#[test]
fn nothing_gives_nothing() {
    let built = build(&[]);
    assert!(built.blob.is_empty());
    assert_eq!(built.directory.buckets(), 0);
    assert_eq!(built.directory.locate(TermHash::text("w")), None);
    let frequency = built.directory.frequency(TermHash::text("w"));
    assert_eq!(frequency, Frequency::None);
    assert!(intersection([]).unwrap().is_empty());
    assert!(Directory::decode(&built.directory.encode()).is_ok());
}

/// The list of one term whose postings come in order.
fn list_of(term: TermHash, postings: impl Iterator<Item = Posting>) -> Built {
    let mut writer = BlobWriter::new(Layout::Segment, 16 << 10);
    for posting in postings {
        writer.push(term, posting).unwrap();
    }
    let (blob, directory) = writer.finish().unwrap();
    Built { blob, directory }
}

#[test]
fn a_million_rows_that_lie_together_take_nearly_nothing() {
    let term = keys::realm("memory");
    let built = list_of(
        term,
        (0..1_000_000).map(|doc| Posting {
            doc,
            ..Posting::default()
        }),
    );
    assert!(built.blob.len() < 25_000, "{}", built.blob.len());
    assert_eq!(
        built.directory.frequency(term),
        Frequency::Exactly(1_000_000)
    );
    let docs = fetch(&built, term).unwrap().docs().unwrap();
    assert_eq!(docs.len(), 1_000_000);
    assert_eq!(docs.max(), Some(999_999));
}

#[test]
fn a_million_scored_rows_are_searched() {
    let mut random = Random(3);
    let postings: Vec<Posting> = (0..1_000_000)
        .map(|doc| Posting {
            doc,
            tf: 1 + u32::try_from(random.below(9).saturating_sub(5)).unwrap(),
            length: 20 + u32::try_from(random.below(200)).unwrap(),
        })
        .collect();
    let term = TermHash::text("w");
    let built = list_of(term, postings.iter().copied());
    let list = fetch(&built, term).unwrap();
    assert_eq!(list.find(777_777).unwrap(), Some(postings[777_777]));
    let scoring = Scoring {
        bm25: Bm25::default(),
        totals: Totals {
            records: 1_000_000,
            length: 120_000_000,
        },
    };
    let lists = [Weighted {
        list: &list,
        weight: 0.5,
    }];
    let wanted = Wanted { k: 10, least: None };
    let found = top_k(&lists, scoring, wanted, |doc| doc % 2 == 1).unwrap();
    let score = |posting: &Posting| scoring.score(0.5, posting.tf, posting.length);
    let mut scores: Vec<f64> = postings
        .iter()
        .filter(|posting| posting.doc % 2 == 1)
        .map(score)
        .collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let ties = scores.iter().filter(|score| **score >= scores[9]).count();
    assert_eq!(found.len(), ties);
    assert!(
        found
            .iter()
            .zip(&scores)
            .all(|(row, score)| row.score.to_bits() == score.to_bits())
    );
}

/// A change of the bytes is a change of the format: it needs a new version of the
/// directory, and readers of both.
#[test]
fn the_bytes_never_change() {
    let mut builder = Builder::new(Settings {
        bucket_bytes: 64,
        ..Settings::default()
    });
    for doc in 0..200 {
        let mut terms = DocumentTerms::default();
        terms.counts.insert("everywhere".to_owned(), 1 + doc % 3);
        if doc % 50 == 0 {
            terms.counts.insert("sometimes".to_owned(), 2);
        }
        terms.length = 10 + doc % 7;
        builder.add(doc * 2, &terms, [keys::realm("memory")]);
    }
    let built = builder.finish().unwrap();
    let directory = built.directory.encode();
    let found = [&built.blob, &directory].map(|bytes| (bytes.len(), crc32fast::hash(bytes)));
    assert_eq!(found, [(268, 0xc628_671b), (39, 0xb018_9209)]);
}
