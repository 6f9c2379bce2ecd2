//! I-FOLD in the engine: a query over segments and a tail has the answer that a tail of
//! the same records has, wherever the line runs, scores included; exact vectors too.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed test may panic"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use ostraca_search::filter::Field;
use ostraca_search::segment::{
    BlockWriter, Replaced, Replacement, Root, Statistics, checksum, index,
};
use ostraca_search::{
    Answer, Chunk, Effort, Embedding, Few, Filter, Mode, Part, Query, Record, ScopeFilter,
    ScopePath, Search, SegmentRef, Snapshot, Step, Tail, Value, VectorSource, record,
};
use proptest::prelude::*;

const PROFILE: &str = "words/16";
const WORDS: [&str; 10] = [
    "amber", "basalt", "cobalt", "dune", "ember", "fjord", "granite", "harbour", "inlet", "jetty",
];

/// A segment as its objects.
struct Built {
    id: u128,
    root: Root,
    rows: Bytes,
    codes: Bytes,
    postings: Bytes,
    order: Vec<Arc<Record>>,
}

fn build(id: u128, records: &[Arc<Record>], replaced: Replaced) -> Built {
    let borrowed: Vec<&Record> = records.iter().map(AsRef::as_ref).collect();
    let arranged = index::arrange(&borrowed, Some(PROFILE));
    let order: Vec<Arc<Record>> = arranged
        .order
        .iter()
        .map(|index| Arc::clone(&records[*index]))
        .collect();
    let mut writer = BlockWriter::new("rows", &record::schema()).unwrap();
    for block in order.chunks(4) {
        writer.push(&record::encode(block).unwrap()).unwrap();
    }
    let (rows, blocks) = writer.finish().unwrap();
    let built = index::build(&borrowed, &arranged, []).unwrap();
    let statistics = Statistics {
        rows: order.len() as u64,
        live: built.totals.records,
        length: built.totals.length,
        embedded: built.embedded,
        pending: built.pending,
        inactive: built.inactive,
        ..Statistics::default()
    };
    let mut root = Root::new(statistics, record::schema(), blocks);
    root.postings = built.lists;
    root.vectors = built.vectors;
    root.runs = built.runs;
    root.expiring = built.expiring;
    root.replaced = replaced;
    let file = root.encode().unwrap();
    let decoded = Root::decode(&file, file.len() as u64, checksum(&file)).unwrap();
    assert_eq!(decoded, root);
    Built {
        id,
        root: decoded,
        rows,
        codes: built.codes.unwrap_or_default(),
        postings: built.postings,
        order,
    }
}

/// A collection with its history: batches of records, each replacing what has its ids.
struct Collection {
    segments: Vec<Built>,
    tail: Tail,
    replaced: Replaced,
    whole: Tail,
}

impl Collection {
    /// All batches but the last become segments.
    fn of(batches: &[Vec<Arc<Record>>]) -> Self {
        let mut collection = Self {
            segments: Vec::new(),
            tail: Tail::new(),
            replaced: Replaced::default(),
            whole: Tail::new(),
        };
        let (last, folded) = batches.split_last().unwrap();
        for (id, batch) in (1..).zip(folded) {
            let mut newest = BTreeMap::new();
            for record in batch {
                newest.insert(record.id.clone(), Arc::clone(record));
                collection.whole.upsert(Arc::clone(record));
            }
            let replaced = collection.replaces(newest.keys());
            let records: Vec<Arc<Record>> = newest.into_values().collect();
            collection.segments.push(build(id, &records, replaced));
        }
        for record in last {
            collection.whole.upsert(Arc::clone(record));
            collection.tail.upsert(Arc::clone(record));
        }
        let ids: BTreeSet<String> = last.iter().map(|record| record.id.clone()).collect();
        collection.replaced = collection.replaces(ids.iter());
        collection
    }

    /// The rows that new versions of these ids replace.
    fn replaces<'a>(&self, ids: impl Iterator<Item = &'a String>) -> Replaced {
        let mut replaced = Replaced::default();
        for id in ids {
            for segment in self.segments.iter().rev() {
                if let Some(row) = segment.order.iter().position(|record| record.id == *id) {
                    let row = u32::try_from(row).unwrap();
                    let old = &segment.order[row as usize];
                    let replacement = Replacement::of(segment.id, row, old);
                    assert_eq!(
                        Replacement::decode(&replacement.encode()).unwrap(),
                        replacement
                    );
                    replaced.add(&replacement);
                    break;
                }
            }
        }
        replaced
    }

    fn ask(&self, query: &Query) -> (Answer, Vec<usize>) {
        let segments = self.segments.iter().map(|segment| SegmentRef {
            id: segment.id,
            root: &segment.root,
        });
        let snapshot = Snapshot {
            tail: &self.tail,
            segments: segments.collect(),
            replaced: &self.replaced,
        };
        let mut search = Search::new(query.clone(), None);
        let mut steps = Vec::new();
        loop {
            match search.step(&snapshot).unwrap() {
                Step::Done(answer) => return (answer, steps),
                Step::Need(reads) => {
                    steps.push(reads.len());
                    assert!(steps.len() < 20);
                    for read in reads {
                        let segment = self.segments.iter().find(|s| s.id == read.segment);
                        let segment = segment.unwrap();
                        let file = match read.part {
                            Part::Codes => &segment.codes,
                            Part::Postings => &segment.postings,
                            Part::Rows => &segment.rows,
                        };
                        let place = |at: u64| usize::try_from(at).unwrap();
                        let bytes = file.slice(place(read.range.start)..place(read.range.end));
                        search.feed(read, bytes);
                    }
                }
            }
        }
    }

    fn ask_whole(&self, query: &Query) -> Answer {
        let nothing = Replaced::default();
        let snapshot = Snapshot::of_tail(&self.whole, &nothing);
        match Search::new(query.clone(), None).step(&snapshot).unwrap() {
            Step::Done(answer) => answer,
            Step::Need(reads) => panic!("needs {reads:?}"),
        }
    }
}

fn embedding(content: &str) -> Embedding {
    let mut vector = vec![0.0_f32; 16];
    for word in content.split(' ') {
        for (place, byte) in word.bytes().enumerate() {
            vector[(usize::from(byte) * 7 + place) % 16] += 1.0;
        }
    }
    Embedding::Ready {
        profile: PROFILE.to_owned(),
        chunks: vec![Chunk {
            start: 0,
            end: u32::try_from(content.len()).unwrap(),
            vector,
        }],
    }
}

prop_compose! {
    fn a_record()(
        id in 0..300_u32,
        words in prop::collection::vec(0..WORDS.len(), 1..8),
        scope in 0..3_usize,
        kind in 0..3_u8,
        updated in 0..1_000_000_i64,
        rest in 0..12_u8,
    ) -> Arc<Record> {
        let content: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        let content = content.join(" ");
        let path = ScopePath::parse(["", "a", "a/b"][scope]).unwrap();
        let mut record = Record::new(format!("id {id:03}"), path, content.clone(), 0);
        // Equal scores are then told apart by what is not equal.
        record.updated = updated * 100 + i64::from(id);
        record.kind = Some(format!("kind {kind}"));
        record.embedding = match rest {
            0 => Embedding::None,
            1 => Embedding::Pending { profile: PROFILE.to_owned() },
            _ => embedding(&content),
        };
        record.expires = (rest == 2).then_some(10).or((rest == 3).then_some(10_000));
        Arc::new(record)
    }
}

fn queries(text: &str, few: Few) -> Vec<Query> {
    let scopes = [
        ScopeFilter::All,
        ScopeFilter::Exact(ScopePath::parse("a").unwrap()),
        ScopeFilter::Inherited(ScopePath::parse("a/b").unwrap()),
        ScopeFilter::Below(ScopePath::parse("a").unwrap()),
    ];
    let filters = [
        None,
        Some(Filter::equals(
            Field::Kind,
            Value::String("kind 1".to_owned()),
        )),
        // No list tells this one: the records have to be asked.
        Some(Filter::Not(Box::new(Filter::equals(
            Field::Kind,
            Value::String("kind 1".to_owned()),
        )))),
    ];
    let Embedding::Ready { chunks, .. } = embedding(text) else {
        panic!("no vector");
    };
    let mut all = Vec::new();
    for mode in [Mode::Keyword, Mode::Semantic] {
        for scope in &scopes {
            for filter in &filters {
                for limit in [3, 100] {
                    all.push(Query {
                        text: Some(text.to_owned()),
                        mode,
                        vector: VectorSource::Given {
                            profile: PROFILE.to_owned(),
                            values: chunks[0].vector.clone(),
                        },
                        scope: scope.clone(),
                        filter: filter.clone(),
                        limit,
                        effort: Effort::Exact,
                        few,
                        ..Query::new(1_000)
                    });
                }
            }
        }
    }
    all
}

fn shown(answer: &Answer) -> Vec<String> {
    answer
        .hits
        .iter()
        .map(|hit| {
            format!(
                "{} v{} {:?} {:?} {:?} {:?}",
                hit.record.id, hit.record.updated, hit.score, hit.terms, hit.keyword, hit.semantic
            )
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn i_fold_segments_and_tail_answer_as_one_tail(
        batches in prop::collection::vec(prop::collection::vec(a_record(), 0..200), 1..5),
        words in prop::collection::vec(0..WORDS.len(), 1..4),
        few in prop::sample::select(vec![Few { rows: 0, bytes: 0 }, Few::default()]),
    ) {
        let collection = Collection::of(&batches);
        let text: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        for query in queries(&text.join(" "), few) {
            let (found, steps) = collection.ask(&query);
            let expected = collection.ask_whole(&query);
            prop_assert_eq!(shown(&found), shown(&expected), "{:?}", query);
            prop_assert_eq!(found.coverage.records >= found.hits.len() as u64, true);
            prop_assert!(steps.len() <= 2 || query.filter.is_some(), "{:?}", steps);
        }
    }
}
