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
use ostraca_search::filter::{Comparison, Field, Members, Operand, Pattern, Test};
use ostraca_search::segment::{
    BlockWriter, Replaced, Replacement, Root, Statistics, checksum, index,
};
use ostraca_search::{
    Answer, Chunk, Effort, Embedding, Few, Filter, Mode, Part, Query, Read, Record, ScopeFilter,
    ScopePath, Search, SegmentRef, Snapshot, Step, Tail, TimeField, Value, VectorSource, Window,
    record,
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

    /// The answer, and what was read in each step.
    fn ask(&self, query: &Query) -> (Answer, Vec<Vec<Read>>) {
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
                    steps.push(reads.clone());
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

const MINUTE: i64 = 60_000;
const BEYOND_FLOATS: i64 = (1 << 53) + 1;

/// Numbers of which some are equal by value and not by kind, or differ by less than floats
/// tell.
fn a_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..20_i64).prop_map(Value::Int),
        (0..40_i64).prop_map(|half| Value::Float(half as f64 / 2.0)),
        prop::sample::select(vec![
            Value::Int(BEYOND_FLOATS),
            Value::Int(BEYOND_FLOATS - 1),
            Value::Int(i64::MAX),
            Value::Float(BEYOND_FLOATS as f64),
            Value::Float(-0.0),
            Value::Float(f64::NAN),
            Value::Float(f64::NEG_INFINITY),
            Value::Null,
            Value::Strings(Vec::new()),
        ]),
    ]
}

fn a_comparison() -> impl Strategy<Value = Comparison> {
    prop::sample::select(vec![
        Comparison::Gt,
        Comparison::Gte,
        Comparison::Lt,
        Comparison::Lte,
    ])
}

fn a_test() -> impl Strategy<Value = Test> {
    let operand = a_number().prop_filter_map("no number", |number| match number {
        Value::Int(int) => Some(Operand::Int(int)),
        Value::Float(float) => Some(Operand::Float(float)),
        _ => None,
    });
    prop_oneof![
        4 => (a_comparison(), operand).prop_map(|(c, operand)| Test::Compare(c, operand)),
        2 => (a_comparison(), 0..100_i64).prop_map(|(c, at)| Test::Time(c, at * MINUTE)),
        1 => a_number().prop_map(Test::Eq),
        1 => a_number().prop_map(Test::Ne),
        1 => prop::collection::btree_set(0..20_i64, 0..4)
            .prop_map(|ints| Test::In(Members::Ints(ints))),
        1 => prop::collection::btree_set(0..20_u8, 0..20).prop_map(|halves| {
            Test::In(Members::Floats(halves.into_iter().map(|half| f64::from(half) / 2.0).collect()))
        }),
        1 => Just(Test::IsEmpty),
        1 => Just(Test::IsNull),
    ]
}

fn a_leaf() -> impl Strategy<Value = Filter> {
    let named = |name: &str| Field::Metadata(name.to_owned());
    let any = prop::sample::select(vec![
        named("number"),
        named("number"),
        named("instant"),
        named("nothing"),
        Field::Version,
        Field::Confidence,
        Field::ExpiresAt,
    ]);
    let times = prop::sample::select(vec![Field::CreatedAt, Field::UpdatedAt]);
    prop_oneof![
        4 => (any, a_test()).prop_map(|(field, test)| Filter::Leaf { field, test }),
        2 => (times, a_comparison(), 0..100_000_000_i64).prop_map(|(field, c, at)| {
            Filter::Leaf { field, test: Test::Compare(c, Operand::Int(at)) }
        }),
        1 => (0..4_u8).prop_map(|kind| {
            Filter::equals(Field::Kind, Value::String(format!("kind {kind}")))
        }),
    ]
}

fn a_filter() -> impl Strategy<Value = Filter> {
    a_leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|child| Filter::Not(Box::new(child))),
        ]
    })
}

prop_compose! {
    fn a_window()(
        field in 0..4_u8,
        since in prop::option::of(0..100_i64),
        until in prop::option::of(0..100_i64),
    ) -> Window {
        let (field, unit) = match field {
            0 => (TimeField::Updated, 1_000_000),
            1 => (TimeField::Created, 500_000),
            2 => (TimeField::Named("due".to_owned()), MINUTE),
            _ => (TimeField::Named("nothing".to_owned()), MINUTE),
        };
        Window { field, since: since.map(|at| at * unit), until: until.map(|at| at * unit) }
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
        number in prop::option::weighted(0.8, a_number()),
        instant in prop::option::weighted(0.7, 0..100_i64),
        version in 1..5_u64,
        confidence in prop::option::of(prop::sample::select(vec![0.0, -0.0, 0.5, 0.9, f64::NAN])),
    ) -> Arc<Record> {
        let content: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
        let content = content.join(" ");
        let path = ScopePath::parse(["", "a", "a/b"][scope]).unwrap();
        let mut record = Record::new(format!("id {id:03}"), path, content.clone(), 0);
        // Equal scores are then told apart by what is not equal.
        record.updated = updated * 100 + i64::from(id);
        record.created = record.updated / 2;
        record.version = version;
        record.confidence = confidence;
        record.kind = Some(format!("kind {kind}"));
        record.metadata.extend(number.map(|number| ("number".to_owned(), number)));
        if let Some(instant) = instant {
            // Instants are texts or milliseconds.
            let value = match instant % 3 {
                0 => Value::Int(instant * MINUTE),
                _ => Value::String(format!("1970-01-01T{:02}:{:02}:00Z", instant / 60, instant % 60)),
            };
            record.metadata.insert("instant".to_owned(), value);
            record.timestamps.insert("due".to_owned(), instant * MINUTE);
        }
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
            prop_assert!(steps.len() <= 2, "{:?}", steps);
        }
    }

    #[test]
    fn i_fold_whatever_the_filter(
        batches in prop::collection::vec(prop::collection::vec(a_record(), 0..150), 1..5),
        filters in prop::collection::vec(prop::option::weighted(0.9, a_filter()), 16),
        window in prop::option::of(a_window()),
        limit in prop::sample::select(vec![3_usize, 100]),
        mode in prop::sample::select(vec![Mode::Keyword, Mode::Semantic]),
        few in prop::sample::select(vec![Few { rows: 0, bytes: 0 }, Few::default()]),
    ) {
        let collection = Collection::of(&batches);
        let Embedding::Ready { chunks, .. } = embedding("amber dune") else {
            panic!("no vector");
        };
        for filter in filters {
            let query = Query {
                text: Some("amber dune".to_owned()),
                mode,
                vector: VectorSource::Given {
                    profile: PROFILE.to_owned(),
                    values: chunks[0].vector.clone(),
                },
                filter,
                window: window.clone(),
                limit,
                effort: Effort::Exact,
                few,
                ..Query::new(1_000)
            };
            let (found, _) = collection.ask(&query);
            let expected = collection.ask_whole(&query);
            prop_assert_eq!(shown(&found), shown(&expected), "{:?}", query);
        }
    }
}

#[test]
fn i_fold_exact_misses_none_whatever_the_codes_lose() {
    // Sixteen components in codes of two bits: dozens of rows promise more than the nearest.
    let mut state = 1_usize;
    let mut content = || {
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            WORDS[(state >> 33) % WORDS.len()]
        };
        let count = 1 + word().len() % 4 + word().len() % 4;
        (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    let folded: Vec<Arc<Record>> = (0..2_000)
        .map(|number| {
            let mut record = Record::new(
                format!("id {number:04}"),
                ScopePath::root(),
                content(),
                number,
            );
            record.embedding = embedding(&record.content);
            Arc::new(record)
        })
        .collect();
    let collection = Collection::of(&[folded, Vec::new()]);
    for least in [None, Some(0.9)] {
        for _ in 0..100 {
            let Embedding::Ready { chunks, .. } = embedding(&content()) else {
                panic!("no vector");
            };
            let query = Query {
                mode: Mode::Semantic,
                vector: VectorSource::Given {
                    profile: PROFILE.to_owned(),
                    values: chunks[0].vector.clone(),
                },
                limit: 3,
                min_score: least,
                effort: Effort::Exact,
                few: Few { rows: 0, bytes: 0 },
                ..Query::new(1_000)
            };
            let (found, steps) = collection.ask(&query);
            assert_eq!(shown(&found), shown(&collection.ask_whole(&query)));
            assert_eq!(steps.len(), 2);
        }
    }
}

#[test]
fn i_fold_a_row_that_was_not_read_may_come_before_those_it_ties_with() {
    let record = |number: i64, content: &str, kind: &str| {
        let id = format!("id {number:02}");
        let mut record = Record::new(id, ScopePath::root(), content.to_owned(), number);
        record.kind = Some(kind.to_owned());
        Arc::new(record)
    };
    // No index tells that five rows do not satisfy the filter, and they score most: with
    // the tail's best they are the six that are read.
    let mut folded: Vec<Arc<Record>> = (0..5)
        .map(|number| record(number, "amber", "other"))
        .collect();
    folded.push(record(40, "amber dune ember", "wanted"));
    let tail = vec![
        record(20, "amber dune", "wanted"),
        record(30, "amber dune ember", "wanted"),
    ];
    let collection = Collection::of(&[folded, tail]);
    let query = Query {
        text: Some("amber".to_owned()),
        mode: Mode::Keyword,
        filter: Some(Filter::Leaf {
            field: Field::Kind,
            test: Test::Regex(Pattern::parse("^wanted").unwrap()),
        }),
        limit: 2,
        few: Few { rows: 0, bytes: 0 },
        ..Query::new(1_000)
    };
    let (found, _) = collection.ask(&query);
    assert_eq!(shown(&found), shown(&collection.ask_whole(&query)));
    assert_eq!(found.hits[1].record.id, "id 40");
}

#[test]
fn a_range_of_one_in_a_hundred_reads_little() {
    const ROWS: i64 = 20_000;
    let record = |number: i64| {
        let times = usize::try_from(number).unwrap();
        // So few rows have the same score that all of these are looked at.
        let content = [
            WORDS[times % 7],
            &" basalt".repeat(1 + times % 5),
            &" jetty".repeat(times % 31),
        ]
        .concat();
        let mut record = Record::new(
            format!("id {number:05}"),
            ScopePath::root(),
            content,
            number,
        );
        // In an order of its own: 7919 and 20,000 have no factor in common.
        let size = number * 7_919 % ROWS;
        record.metadata.insert("size".to_owned(), Value::Int(size));
        record
            .metadata
            .insert("share".to_owned(), Value::Float(size as f64 / ROWS as f64));
        record.timestamps.insert("due".to_owned(), size * MINUTE);
        Arc::new(record)
    };
    let folded: Vec<Arc<Record>> = (0..ROWS).map(record).collect();
    let collection = Collection::of(&[folded, Vec::new()]);
    let size = |comparison, operand| Filter::Leaf {
        field: Field::Metadata("size".to_owned()),
        test: Test::Compare(comparison, operand),
    };
    let between = size(Comparison::Gte, Operand::Int(5_000))
        .and(size(Comparison::Lt, Operand::Float(5_199.5)));
    let share = |comparison, operand| Filter::Leaf {
        field: Field::Metadata("share".to_owned()),
        test: Test::Compare(comparison, Operand::Float(operand)),
    };
    let outside = Filter::Or(vec![
        share(Comparison::Lt, 0.005),
        share(Comparison::Gte, 0.995),
    ]);
    let most = Filter::Not(Box::new(outside.clone()));
    let window = Window {
        field: TimeField::Named("due".to_owned()),
        since: Some(5_000 * MINUTE),
        until: Some(5_200 * MINUTE),
    };
    let asked = [
        (Some(between), None, 200),
        (None, Some(window), 200),
        (Some(outside), None, 200),
        (Some(most), None, 19_800),
    ];
    for (filter, window, rows) in asked {
        let query = Query {
            text: Some("basalt amber".to_owned()),
            mode: Mode::Keyword,
            filter,
            window,
            limit: 5,
            few: Few { rows: 0, bytes: 0 },
            ..Query::new(1_000)
        };
        let (found, steps) = collection.ask(&query);
        assert_eq!(shown(&found), shown(&collection.ask_whole(&query)));
        assert_eq!(found.coverage.records, rows, "{query:?}");
        let [lists, rows] = steps.as_slice() else {
            panic!("{steps:?}");
        };
        let words = 2;
        let ranges = lists.len() - words;
        assert!(ranges <= 2, "{lists:?}");
        let root = &collection.segments[0].root;
        let of_words = ["basalt", "amber"].map(|word| {
            root.postings
                .locate(ostraca_search::postings::TermHash::text(word))
                .unwrap()
        });
        let bytes: u64 = lists
            .iter()
            .filter(|read| read.part == Part::Postings && !of_words.contains(&read.range))
            .map(|read| read.range.end - read.range.start)
            .sum();
        // A block is about 16 KB, and a range begins and ends within one.
        assert!(bytes <= ranges as u64 * 34_000, "{lists:?}");
        assert!(rows.iter().all(|read| read.part == Part::Rows));
        assert!(rows.len() <= 5 + 10 + 64, "{}", rows.len());
    }
}
