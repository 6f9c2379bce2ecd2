use proptest::prelude::*;

use super::super::bucket::{FRAME, frame};
use super::*;
use crate::bm25::{Bm25, Totals};

/// Reads everything that can be read from a bucket; what counts is that it returns.
fn read_all(bytes: &Bytes) -> Result<usize, PostingsError> {
    let bucket = Bucket::open(bytes)?;
    let mut entries = bucket.entries()?;
    let mut lists = Vec::new();
    while let Some(term) = entries.next_hash()? {
        let list = entries.list()?;
        bucket.find(term)?;
        lists.push(list);
    }
    let scoring = Scoring {
        bm25: Bm25::default(),
        totals: Totals {
            records: 10,
            length: 100,
        },
    };
    let mut read = 0;
    for list in &lists {
        let lists = [Weighted { list, weight: 1.0 }];
        let wanted = Wanted { k: 3, least: None };
        let found = top_k(&lists, scoring, wanted, |_| true);
        let postings = list.postings();
        if let (Ok(_), Ok(postings)) = (found, postings) {
            assert!(postings.is_sorted_by(|a, b| a.doc < b.doc));
            read += postings.len();
        }
        let _ = list.docs().map(|docs| docs.len());
        let _ = list.contains(77);
    }
    Ok(read)
}

/// The buckets of a blob, one by one.
fn buckets(built: &Built) -> Vec<Vec<u8>> {
    let range = |bucket| {
        let range = built.directory.range(bucket).unwrap();
        usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()
    };
    (0..built.directory.buckets())
        .map(|bucket| built.blob[range(bucket)].to_vec())
        .collect()
}

fn with_right_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let (len, _) = frame(&bytes).unwrap();
    let crc = crc32fast::hash(&bytes[FRAME..FRAME + len]);
    bytes[4..FRAME].copy_from_slice(&crc.to_le_bytes());
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn changed_bytes_are_noticed(seed in any::<u64>(), count in 1_u64..400) {
        let mut random = Random(seed);
        let built = build(&rows(&mut random, count, 40, 3));
        for mut bytes in buckets(&built) {
            prop_assert!(read_all(&bytes.clone().into()).is_ok());
            let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
            bytes[at] ^= 1 << random.below(8);
            prop_assert!(Bucket::open(&bytes.clone().into()).is_err());
            let cut = usize::try_from(random.below(bytes.len() as u64)).unwrap();
            bytes.truncate(cut);
            prop_assert!(Bucket::open(&bytes.into()).is_err());
        }
    }

    #[test]
    fn changed_bytes_with_the_right_checksum_never_panic(seed in any::<u64>(), count in 1_u64..400) {
        let mut random = Random(seed);
        let built = build(&rows(&mut random, count, 40, 3));
        for bucket in buckets(&built) {
            for _ in 0..6 {
                let mut bytes = bucket.clone();
                for _ in 0..=random.below(3) {
                    let at = FRAME + usize::try_from(random.below((bytes.len() - FRAME) as u64)).unwrap();
                    bytes[at] = random.next().to_le_bytes()[0];
                }
                let bytes = Bytes::from(with_right_checksum(bytes));
                let _ = read_all(&bytes);
                let _ = merge(small(), [(Source::numbered(), bytes.clone()), (Source::renumbered(Some), bytes)]);
            }
        }
    }

    #[test]
    fn any_bytes_are_no_bucket(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend([0; 4]);
        bytes.extend(&body);
        let bytes = Bytes::from(with_right_checksum(bytes));
        let _ = read_all(&bytes);
        let _ = merge(small(), [(Source::numbered(), bytes)]);
        let _ = merge(small(), [(Source::numbered(), body.clone().into())]);
        let _ = Directory::decode(&body);
    }

    #[test]
    fn a_damaged_directory_is_refused_or_read(seed in any::<u64>()) {
        let mut random = Random(seed);
        let bytes = build(&rows(&mut random, 100, 40, 3)).directory.encode();
        for cut in 0..bytes.len() {
            prop_assert!(Directory::decode(&bytes[..cut]).is_err());
        }
        for _ in 0..50 {
            let mut bytes = bytes.clone();
            let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
            bytes[at] = random.next().to_le_bytes()[0];
            if let Ok(directory) = Directory::decode(&bytes) {
                let _ = directory.locate(TermHash::text("w1"));
            }
        }
    }
}

#[test]
fn a_later_directory_says_so() {
    let decoded = Directory::decode(&[9, 0, 0]);
    assert_eq!(decoded, Err(PostingsError::Version { found: 9 }));
}
