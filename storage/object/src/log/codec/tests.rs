use arrow_array::Int64Array;
use proptest::prelude::*;

use super::*;
use crate::testing::{collection, number_schema, numbers, pairs};

fn key(seq: u64) -> Key {
    Key::Log(collection(), Seq(seq))
}

fn entry(seq: u64, rows: RecordBatch) -> Arc<Entry> {
    let half = rows.num_rows() / 2;
    Arc::new(Entry {
        seq: Seq(seq),
        header: Header {
            time: Timestamp(1_700_000_000_000 + i64::try_from(seq).unwrap()),
            writer: WriterId(0xfeed),
            lost: u32::try_from(seq % 3).unwrap(),
            commits: vec![
                Commit {
                    id: CommitId(u128::from(seq) << 64),
                    rows: 0..half,
                    note: Some(serde_json::json!({ "version": seq })),
                },
                Commit {
                    id: CommitId(u128::from(seq)),
                    rows: half..rows.num_rows(),
                    note: None,
                },
            ],
            checkpoint: None,
        },
        rows,
    })
}

#[test]
fn an_object_gives_back_its_entries() {
    let entries = [
        entry(5, numbers([("a", 1), ("b", 2)])),
        entry(6, numbers([])),
        entry(7, numbers([("c", 3)])),
    ];
    let bytes = encode(&key(7), &number_schema(), &entries).unwrap();
    let decoded = decode(&key(7), bytes).unwrap();
    assert_eq!(decoded, entries);
}

#[test]
fn any_arrow_reader_sees_one_batch_with_seq_first() {
    let entries = [entry(1, numbers([("a", 1)])), entry(2, numbers([("b", 2)]))];
    let bytes = encode(&key(2), &number_schema(), &entries).unwrap();
    let reader = FileReader::try_new(Cursor::new(bytes), None).unwrap();
    assert_eq!(reader.num_batches(), 1);
    let schema = reader.schema();
    assert_eq!(schema.field(0).name(), "seq");
    assert_eq!(schema.metadata()["ostraca.format"], "log/1");
    let said: Value = serde_json::from_str(&schema.metadata()["ostraca.entries"]).unwrap();
    assert_eq!(said[1]["seq"], 2);
    assert_eq!(said[1]["rows"], 1);
    assert_eq!(said[1]["commits"][0]["note"]["version"], 2);
    let batch = reader.into_iter().next().unwrap().unwrap();
    assert_eq!(
        batch.column(0).as_primitive::<UInt64Type>().values(),
        &[1, 2]
    );
}

#[test]
fn a_single_record_is_small() {
    let bytes = encode(&key(1), &number_schema(), &[entry(1, numbers([("a", 1)]))]).unwrap();
    assert!(bytes.len() < 2_048, "{} bytes", bytes.len());
}

/// Rows as a later version writes them: one column more.
fn wider(name: &str, extra: i64) -> RecordBatch {
    let mut fields: Vec<FieldRef> = number_schema().fields().iter().map(Arc::clone).collect();
    fields.push(Arc::new(Field::new("extra", DataType::Int64, false)));
    let narrow = numbers([(name, 1)]);
    let mut columns = narrow.columns().to_vec();
    columns.push(Arc::new(Int64Array::from(vec![extra])));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

#[test]
fn an_old_writer_carries_the_columns_of_a_new_one() {
    let entries = [entry(1, wider("a", 42)), entry(2, numbers([("b", 2)]))];
    let bytes = encode(&key(2), &number_schema(), &entries).unwrap();
    let decoded = decode(&key(2), bytes).unwrap();
    let extra = |entry: &Entry| {
        let column = entry.rows.column_by_name("extra").unwrap();
        column
            .as_primitive::<arrow_array::types::Int64Type>()
            .iter()
            .next()
            .unwrap()
    };
    assert_eq!(extra(&decoded[0]), Some(42));
    assert_eq!(extra(&decoded[1]), None);
    assert_eq!(pairs(&decoded[1].rows), [("b".to_owned(), 2)]);
}

#[test]
fn a_column_cannot_change_its_type() {
    let schema = Schema::new(vec![Field::new("name", DataType::Int64, true)]);
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let rows = RecordBatch::try_new(Arc::new(schema), vec![column]).unwrap();
    let error = encode(&key(1), &number_schema(), &[entry(1, rows)]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("column name is Utf8 in one entry"),
        "{error}"
    );
}

#[test]
fn a_head_gives_back_the_checkpoint_and_its_attachments() {
    let checkpoint = Arc::new(Entry {
        header: Header {
            checkpoint: Some(Checkpoint {
                base: Seq(8),
                floor: Seq(3),
                segments: vec!["s1".to_owned()],
                ..Checkpoint::default()
            }),
            ..entry(9, numbers([("a", 1), ("b", 2)])).header.clone()
        },
        seq: Seq(9),
        rows: numbers([("a", 1), ("b", 2)]),
    });
    let key = Key::Head(collection());
    for attachments in [
        vec![],
        vec![
            ("s1/root".to_owned(), Bytes::from_static(b"centroids")),
            ("empty".to_owned(), Bytes::new()),
        ],
    ] {
        let bytes = encode_head(&key, &checkpoint, &attachments).unwrap();
        let (found, with) = decode_head(&key, bytes).unwrap();
        assert_eq!(found.header, checkpoint.header);
        assert_eq!(pairs(&found.rows), pairs(&checkpoint.rows));
        assert_eq!(
            found.rows.num_columns(),
            2,
            "attachment columns are the head's own"
        );
        assert_eq!(with, attachments);
    }
}

#[test]
fn what_does_not_belong_is_refused_by_name() {
    let bytes = encode(&key(2), &number_schema(), &[entry(2, numbers([("a", 1)]))]).unwrap();
    let error = decode(&key(3), bytes.clone()).unwrap_err();
    assert!(error.to_string().contains("another number"), "{error}");
    let error = decode_head(&Key::Head(collection()), bytes).unwrap_err();
    assert!(error.to_string().contains("one checkpoint"), "{error}");
    let gap = [entry(1, numbers([("a", 1)])), entry(3, numbers([("b", 1)]))];
    let bytes = encode(&key(3), &number_schema(), &gap).unwrap();
    let error = decode(&key(3), bytes).unwrap_err();
    assert!(error.to_string().contains("not consecutive"), "{error}");
    let later = to_file_with_format("log/2");
    let error = decode(&key(1), later).unwrap_err();
    assert!(error.to_string().contains("upgrade"), "{error}");
}

fn to_file_with_format(format: &str) -> Bytes {
    let schema = Schema::new(vec![seq_field()]).with_metadata(
        [
            (FORMAT_KEY.to_owned(), format.to_owned()),
            (ENTRIES_KEY.to_owned(), "[]".to_owned()),
        ]
        .into(),
    );
    let mut writer = FileWriter::try_new(Vec::new(), &schema).unwrap();
    writer.finish().unwrap();
    seal::seal(&writer.into_inner().unwrap()).unwrap()
}

proptest! {
    /// Bytes from a store are not to be trusted: whatever they are, they give
    /// entries or an error.
    #[test]
    fn damaged_bytes_are_an_error_and_no_panic(
        at in 0_usize..1_000,
        flip in 1_u8..=255,
        keep in 0_usize..=1_000,
    ) {
        let entries = [entry(1, numbers([("a", 1)])), entry(2, numbers([("b", 2), ("c", 3)]))];
        let bytes = encode(&key(2), &number_schema(), &entries).unwrap();
        let position = |per_mille: usize| bytes.len() * per_mille / 1_000;
        let mut flipped = bytes.to_vec();
        let last = flipped.len() - 1;
        flipped[position(at).min(last)] ^= flip;
        prop_assert!(decode(&key(2), Bytes::from(flipped)).is_err());
        if position(keep) < bytes.len() {
            prop_assert!(decode(&key(2), bytes.slice(..position(keep))).is_err());
        }
    }

    #[test]
    fn entries_survive_the_round_trip(
        batches in proptest::collection::vec(
            proptest::collection::vec(("[a-zäß語]{0,5}", any::<u64>()), 0..5),
            1..8,
        ),
    ) {
        let entries: Vec<Arc<Entry>> = batches
            .iter()
            .zip(1_u64..)
            .map(|(rows, seq)| entry(seq, numbers(rows.iter().map(|(n, v)| (n.as_str(), *v)))))
            .collect();
        let own = key(entries.len() as u64);
        let bytes = encode(&own, &number_schema(), &entries).unwrap();
        prop_assert_eq!(decode(&own, bytes).unwrap(), entries);
    }
}
