use proptest::prelude::*;

use super::*;

/// Merges sources that come in pieces of this many bytes.
fn merge_in_pieces(sources: Vec<(Source, Vec<u8>)>, piece: usize) -> Built {
    let (sources, bytes): (Vec<Source>, Vec<Vec<u8>>) = sources.into_iter().unzip();
    let mut rests: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let mut merge = Merge::new(small(), sources);
    let mut blob = Vec::new();
    loop {
        match merge.step().unwrap() {
            Progress::Need(source) if rests[source].is_empty() => merge.end(source),
            Progress::Need(source) => {
                let (now, later) = rests[source].split_at(piece.min(rests[source].len()));
                merge.feed(source, now);
                rests[source] = later;
            }
            Progress::Write(bytes) => blob.extend(bytes),
            Progress::Done(last) => {
                blob.extend(last.blob);
                return Built {
                    blob,
                    directory: last.directory,
                };
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn spilling_changes_no_byte(seed in any::<u64>(), count in 0_u64..400, words in 1_u64..200, room in 1_usize..4000, piece in 1_usize..900) {
        let rows = rows(&mut Random(seed), count, words, 3);
        let settings = Settings { memory_bytes: room * 20, ..small() };
        let mut builder = Builder::new(settings);
        let mut runs = Vec::new();
        for row in &rows {
            if builder.is_full() {
                runs.push((Source::numbered(), builder.drain().unwrap()));
            }
            builder.add(row.doc, &row.terms, row.keys.iter().copied());
        }
        runs.push((Source::numbered(), builder.drain().unwrap()));
        prop_assert_eq!(merge_in_pieces(runs, piece), build(&rows));
    }

    #[test]
    fn merging_segments_is_building_from_the_rows(seed in any::<u64>(), counts in prop::collection::vec(0_u64..300, 1..5), words in 1_u64..200, piece in 1_usize..900) {
        let mut random = Random(seed);
        let segments: Vec<Vec<Row>> = counts.iter().map(|count| rows(&mut random, *count, words, 3)).collect();
        // Every row gets a number of its own at random, or none.
        let mut numbers: Vec<u32> = (0..5000).collect();
        for at in (1..numbers.len()).rev() {
            numbers.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap());
        }
        let mut rebuilt = Vec::new();
        let mut sources = Vec::new();
        for segment in &segments {
            let mut map = BTreeMap::new();
            for row in segment {
                if random.below(5) > 0 {
                    let doc = numbers.pop().unwrap();
                    map.insert(row.doc, doc);
                    rebuilt.push(Row { doc, ..row.clone() });
                }
            }
            let source = Source::renumbered(move |doc| map.get(&doc).copied());
            sources.push((source, build(segment).blob));
        }
        rebuilt.sort_by_key(|row| row.doc);
        prop_assert_eq!(merge_in_pieces(sources, piece), build(&rebuilt));
    }
}

#[test]
fn long_lists_are_cut_in_runs_and_whole_in_segments() {
    let terms = DocumentTerms::default();
    let term = keys::realm("memory");
    let mut whole = Builder::new(small());
    let mut runs = Vec::new();
    for start in 0..3 {
        let mut builder = Builder::new(small());
        for doc in (start..60_000).step_by(3) {
            builder.add(doc, &terms, [term]);
        }
        let run = Bytes::from(builder.drain().unwrap());
        runs.push((Source::numbered(), run));
    }
    for doc in 0..60_000 {
        whole.add(doc, &terms, [term]);
    }
    assert_eq!(merge(small(), runs).unwrap(), whole.finish().unwrap());
}

#[test]
fn merging_nothing_gives_nothing() {
    let built = merge(small(), []).unwrap();
    assert!(built.blob.is_empty());
    let empty = build(&[]).blob.into();
    let built = merge(small(), [(Source::numbered(), empty)]).unwrap();
    assert_eq!(built.directory.buckets(), 0);
}

#[test]
fn a_source_that_ends_within_a_bucket_is_refused() {
    let built = build(&rows(&mut Random(1), 50, 50, 3));
    let cut = built.blob.len() - 1;
    let bytes = Bytes::from(built.blob).slice(..cut);
    let merged = merge(small(), [(Source::numbered(), bytes)]);
    assert!(matches!(merged, Err(PostingsError::Truncated { .. })));
}
