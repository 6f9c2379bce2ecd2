use proptest::prelude::*;

use super::*;
use crate::filter::{Comparison, Filter, Members, Operand, Test};
use crate::query::{TimeField, Window};
use crate::record::{Record, ScopePath, Value};

fn record(metadata: impl IntoIterator<Item = (&'static str, Value)>) -> Record {
    let mut record = Record::new("id", ScopePath::root(), "content", 5);
    let metadata = metadata.into_iter();
    record.metadata = metadata
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    record
}

fn index(records: &[Record]) -> (Sorted, Bytes) {
    let mut builder = Builder::default();
    for (row, record) in (0..).zip(records) {
        builder.add(row, record);
    }
    let mut blob = Vec::new();
    let sorted = builder.finish(&mut blob);
    (sorted, blob.into())
}

fn read(sorted: &Sorted, blob: &Bytes, ranges: &Ranges) -> DocSet {
    let mut rows = DocSet::new();
    for (index, keys) in ranges.selected() {
        let series = &sorted.series[*index];
        let blocks = series.blocks_of(keys);
        if let Some(range) = series.range(&blocks) {
            let place = |at: u64| usize::try_from(at).unwrap();
            let bytes = blob.slice(place(range.start)..place(range.end));
            rows |= series.rows(blocks, keys, &bytes).unwrap();
        }
    }
    rows
}

/// Whole numbers about which floats err, and those at the ends.
fn an_int() -> impl Strategy<Value = i64> {
    let exact = 1_i64 << 53;
    prop_oneof![
        -3..=3_i64,
        (-2..=2_i64).prop_map(move |near| exact + near),
        (-2..=2_i64).prop_map(move |near| -exact - near),
        (0..=600_i64).prop_map(|below| i64::MAX - below),
        (0..=600_i64).prop_map(|above| i64::MIN + above),
        any::<i64>(),
    ]
}

fn a_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![
            0.0,
            -0.0,
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
            5e-324,
        ]),
        an_int().prop_map(|int| int as f64),
        any::<f64>(),
        -3.0..3.0_f64,
    ]
}

fn a_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => an_int().prop_map(Value::Int),
        3 => a_float().prop_map(Value::Float),
        1 => (0..4_i64).prop_map(|day| Value::String(format!("1970-01-0{}T00:00:00Z", day + 1))),
        1 => prop::sample::select(vec![
            Value::Null,
            Value::String("a word".to_owned()),
            Value::Bool(true),
            Value::Ints(vec![1, 2]),
            Value::Strings(Vec::new()),
        ]),
    ]
}

fn a_test() -> impl Strategy<Value = Test> {
    let comparison = || {
        prop::sample::select(vec![
            Comparison::Gt,
            Comparison::Gte,
            Comparison::Lt,
            Comparison::Lte,
        ])
    };
    prop_oneof![
        (comparison(), an_int()).prop_map(|(c, int)| Test::Compare(c, Operand::Int(int))),
        (comparison(), a_float()).prop_map(|(c, float)| Test::Compare(c, Operand::Float(float))),
        (comparison(), 0..4_i64).prop_map(|(c, day)| Test::Time(c, day * 86_400_000)),
        (comparison(), an_int()).prop_map(|(c, ms)| Test::Time(c, ms)),
        an_int().prop_map(|int| Test::Eq(Value::Int(int))),
        a_float().prop_map(|float| Test::Eq(Value::Float(float))),
        prop::collection::btree_set(an_int(), 0..5).prop_map(|ints| Test::In(Members::Ints(ints))),
        prop::collection::vec(-3.0..3.0_f64, 0..5).prop_map(|mut floats| {
            floats.sort_by(f64::total_cmp);
            Test::In(Members::Floats(floats))
        }),
    ]
}

proptest! {
    #[test]
    fn ranges_are_exactly_the_rows_that_satisfy_a_test(
        values in prop::collection::vec(prop::option::weighted(0.9, a_value()), 0..60),
        tests in prop::collection::vec(a_test(), 20),
        copied in any::<prop::sample::Index>(),
    ) {
        let records: Vec<Record> = values
            .iter()
            .map(|value| record(value.iter().map(|value| ("n", value.clone()))))
            .collect();
        let (sorted, blob) = index(&records);
        let field = Field::Metadata("n".to_owned());
        // Of random numbers hardly any is met again.
        let met = (!values.is_empty()).then(|| copied.get(&values).clone()).flatten();
        let met = met.map(Test::Eq);
        let numbers = |test: &Test| !matches!(test, Test::Eq(value)
            if !matches!(value, Value::Int(_) | Value::Float(_)));
        for test in tests.into_iter().chain(met).filter(numbers) {
            let filter = Filter::Leaf { field: field.clone(), test: test.clone() };
            let ranges = Ranges::of_test(&sorted, &field, &test).unwrap();
            let found: Vec<u32> = read(&sorted, &blob, &ranges).iter().collect();
            let (satisfying, rest): (Vec<u32>, Vec<u32>) = (0_u32..)
                .take(records.len())
                .partition(|row| filter.evaluate(&records[*row as usize]));
            prop_assert_eq!(&found, &satisfying, "{:?}", test);
            let others = read(&sorted, &blob, &ranges.others());
            let rest: DocSet = rest.into_iter().collect();
            prop_assert!(others.is_subset(&rest), "{:?}", test);
            prop_assert_eq!(others.len() + found.len() as u64, ranges.present(&sorted));
        }
    }

    #[test]
    fn what_is_encoded_comes_back(
        mut entries in prop::collection::vec((prop_oneof![0..9_u64, any::<u64>()], any::<u32>()), 1..129),
    ) {
        entries.sort_unstable();
        let mut bytes = Vec::new();
        let first = entries[0].0;
        entries::encode(&entries, first, &mut bytes);
        let mut found = Vec::new();
        let count = u32::try_from(entries.len()).unwrap();
        entries::decode(&bytes, first, count, |key, row| found.push((key, row))).unwrap();
        prop_assert_eq!(found, entries);
    }

    #[test]
    fn no_bytes_make_decoding_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        first in any::<u64>(),
        entries in 0..400_u32,
    ) {
        let mut count = 0;
        if entries::decode(&bytes, first, entries, |_, _| count += 1).is_some() {
            prop_assert_eq!(count, entries);
        }
    }
}

#[test]
fn a_series_of_many_blocks_is_read_where_its_keys_lie() {
    // Every value is met by three rows, far apart, so that some lie on both sides of a cut.
    let records: Vec<Record> = (0..30_000_i64)
        .map(|row| record([("n", Value::Int(row % 10_000 * 1_000))]))
        .collect();
    let (sorted, blob) = index(&records);
    let field = Field::Metadata("n".to_owned());
    let series = &sorted.series[sorted.of(&Name::Field(field.clone())).unwrap()[0]];
    assert!(series.blocks.len() > 3);
    for block in &series.blocks {
        let value = (block.first ^ (1 << 63)).cast_signed();
        let test = Test::Eq(Value::Int(value));
        let ranges = Ranges::of_test(&sorted, &field, &test).unwrap();
        let row = u32::try_from(value / 1_000).unwrap();
        let rows = [row, row + 10_000, row + 20_000];
        assert_eq!(read(&sorted, &blob, &ranges), rows.into_iter().collect());
        assert!(ranges.bytes(&sorted) < 40_000);
    }
    let window = |since: i64, until: i64| {
        let from = Test::Compare(Comparison::Gte, Operand::Int(since));
        let to = Test::Compare(Comparison::Lt, Operand::Int(until));
        let from = Ranges::of_test(&sorted, &field, &from).unwrap();
        from.and(&Ranges::of_test(&sorted, &field, &to).unwrap())
            .unwrap()
    };
    let ranges = window(2_000_000, 3_000_000);
    assert_eq!(read(&sorted, &blob, &ranges).len(), 3_000);
    let estimate = ranges.estimate(&sorted);
    assert!((estimate - 3_000.0).abs() < 30.0, "{estimate}");
    assert_eq!(window(3_000, 2_000).selected(), []);
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let records: Vec<Record> = (0..300_i64)
        .map(|row| record([("n", Value::Int(row * row))]))
        .collect();
    let (sorted, blob) = index(&records);
    let series = sorted.series.last().unwrap();
    let all = 0..=u64::MAX;
    let blocks = series.blocks_of(&all);
    let range = series.range(&blocks).unwrap();
    let place = |at: u64| usize::try_from(at).unwrap();
    let sound = blob.slice(place(range.start)..place(range.end));
    assert_eq!(
        series.rows(blocks.clone(), &all, &sound).unwrap().len(),
        300
    );
    for at in 0..sound.len() {
        let mut damaged = sound.to_vec();
        damaged[at] ^= 0x40;
        let error = series
            .rows(blocks.clone(), &all, &damaged.into())
            .unwrap_err();
        assert!(matches!(error, SegmentError::Checksum { .. }), "{error}");
    }
    let short = sound.slice(1..);
    let error = series.rows(blocks.clone(), &all, &short).unwrap_err();
    assert!(matches!(error, SegmentError::Length { .. }), "{error}");
    // What was written wrongly has a sound checksum.
    let mut wrong = series.clone();
    wrong.blocks[0].entries += 1;
    let error = wrong.rows(blocks, &all, &sound).unwrap_err();
    assert!(matches!(error, SegmentError::Missing { .. }), "{error}");
}

#[test]
fn a_name_that_is_left_out_is_not_one_without_values() {
    let names: Vec<String> = (0..70).map(|number| format!("name {number:02}")).collect();
    let records: Vec<Record> = (0..200_usize)
        .map(|row| {
            let mut record = record([]);
            for name in names.iter().skip(row % 100) {
                record.metadata.insert(name.clone(), Value::Int(1));
            }
            record
        })
        .collect();
    let (sorted, _) = index(&records);
    assert_eq!(sorted.covered, Covered::Frequent);
    let of = |name: &str| sorted.of(&Name::Field(Field::Metadata(name.to_owned())));
    // The first names are the rarest.
    assert_eq!(of("name 00"), None);
    assert_eq!(of("name 05"), None);
    assert_eq!(of("name 06").unwrap().len(), 1);
    assert_eq!(of("name 69").unwrap().len(), 1);
    assert_eq!(of("another"), None);
    assert_eq!(sorted.of(&Name::Field(Field::ExpiresAt)), Some(Vec::new()));
    assert_eq!(Sorted::default().of(&Name::Field(Field::CreatedAt)), None);
    let (sorted, _) = index(&records[99..100]);
    assert_eq!(sorted.covered, Covered::All);
    let named = Window {
        field: TimeField::Named("due".to_owned()),
        since: Some(0),
        until: None,
    };
    let ranges = Ranges::of_window(&sorted, &named).unwrap();
    assert_eq!(ranges.selected(), []);
}

#[test]
fn an_entry_takes_a_few_bytes() {
    const ROWS: u64 = 100_000;
    let random = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) >> 11;
    let bytes_each = |value: &dyn Fn(u64) -> Value| {
        let records: Vec<Record> = (0..ROWS).map(|row| record([("n", value(row))])).collect();
        let (sorted, _) = index(&records);
        let field = Field::Metadata("n".to_owned());
        let all = Ranges::of_test(&sorted, &field, &Test::Eq(Value::Int(0))).unwrap();
        let bytes = all.others().bytes(&sorted) as f64 / ROWS as f64;
        println!("{bytes:.2} bytes an entry");
        bytes
    };
    let int = |value: u64| Value::Int(value.cast_signed());
    println!("milliseconds within a year, in no order");
    assert!(bytes_each(&|row| int(random(row) % 31_536_000_000)) < 5.3);
    println!("milliseconds within a year, in the order of rows");
    assert!(bytes_each(&|row| int(row * 315_360)) < 3.6);
    println!("one of ten numbers");
    assert!(bytes_each(&|row| int(random(row) % 10)) < 1.1);
    println!("the same number");
    assert!(bytes_each(&|_| int(1)) < 0.3);
    println!("floats between 0 and 1");
    assert!(bytes_each(&|row| Value::Float(random(row) as f64 / (1_u64 << 53) as f64)) < 8.5);
}
