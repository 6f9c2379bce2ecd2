use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Any metadata value in its canonical kind.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::ANY
            .prop_filter("NaN is unequal to itself", |f| !f.is_nan())
            .prop_map(Value::Float),
        "\\PC{0,12}".prop_map(Value::String),
        prop::collection::vec("\\PC{0,6}", 0..4).prop_map(Value::Strings),
        prop::collection::vec(any::<i64>(), 1..4).prop_map(Value::Ints),
        prop::collection::vec(prop::num::f64::NORMAL, 1..4).prop_map(Value::Floats),
        (-90.0..90.0, -180.0..180.0).prop_map(|(lat, lon)| Value::Geo { lat, lon }),
        Just(Value::Json(json!({ "a": { "b": [1, null, "x"] } }))),
        Just(Value::Json(json!(u64::MAX))),
        Just(Value::Json(json!([1, "mixed", { "lat": 1.0 }]))),
    ]
}

fn any_embedding() -> impl Strategy<Value = Embedding> {
    let chunk = (
        any::<u32>(),
        any::<u32>(),
        prop::collection::vec(-1.0_f32..1.0, 0..4),
    )
        .prop_map(|(start, end, vector)| Chunk { start, end, vector });
    prop_oneof![
        Just(Embedding::None),
        Just(Embedding::Pending {
            profile: "p".to_owned()
        }),
        prop::collection::vec(chunk, 0..3).prop_map(|chunks| Embedding::Ready {
            profile: "p".to_owned(),
            chunks
        }),
    ]
}

pub(crate) fn any_record() -> impl Strategy<Value = Record> {
    let texts = (
        "\\PC{1,8}",
        prop::option::of("\\PC{0,8}"),
        prop::option::of("\\PC{0,8}"),
        any::<String>(),
        prop::sample::select(vec!["", "a", "a/b", "a/b/c", "ws/ünï"]),
    );
    let values = (
        prop::collection::btree_map("\\PC{0,6}", any_value(), 0..5),
        prop::option::of(0.0..1.0),
        prop::sample::select(Status::ALL.to_vec()),
        any_embedding(),
        prop::collection::btree_map("[a-z]{1,4}", any::<i64>(), 0..3),
    );
    let numbers = (
        any::<u64>(),
        prop::option::of(any::<u64>()),
        any::<i64>(),
        prop::option::of(any::<i64>()),
        prop::option::of(any::<[u8; 16]>()),
    );
    (texts, values, numbers).prop_map(
        |(
            (id, key, title, content, scope),
            (metadata, confidence, status, embedding, timestamps),
            (version, base_version, created, expires, content_hash),
        )| {
            let scope = ScopePath::parse(scope).unwrap();
            Record {
                key,
                title,
                metadata,
                confidence,
                status,
                embedding,
                timestamps,
                version,
                base_version,
                expires,
                content_hash,
                value: title_value(version),
                ..Record::new(id, scope, content, created)
            }
        },
    )
}

fn title_value(version: u64) -> Option<serde_json::Value> {
    version
        .is_multiple_of(2)
        .then(|| json!({ "version": version }))
}

#[test]
fn the_schema_is_the_columns_written() {
    let batch = encode::<Record>(&[]).unwrap();
    assert_eq!(batch.schema(), schema());
    assert_eq!(decode(&batch).unwrap(), []);
}

#[test]
fn a_batch_of_an_earlier_release_reads_with_absent_values() {
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Utf8, false),
        Field::new("content", DataType::Utf8, false),
    ]));
    let text = |value: &str| Arc::new(StringArray::from(vec![value])) as ArrayRef;
    let batch = RecordBatch::try_new(schema, vec![text("a"), text("hello")]).unwrap();
    assert_eq!(
        decode(&batch).unwrap(),
        [Record::new("a", ScopePath::root(), "hello", 0)]
    );
}

#[test]
fn columns_of_a_caller_are_passed_over() {
    let record = Record::new("a", ScopePath::root(), "hello", 7);
    let (mut fields, mut arrays): (Vec<_>, Vec<_>) = columns(&[Arc::new(record.clone())])
        .unwrap()
        .into_iter()
        .unzip();
    fields.insert(0, Arc::new(Field::new("op", DataType::Utf8, false)));
    arrays.insert(0, Arc::new(StringArray::from(vec!["put"])));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    assert_eq!(decode(&batch).unwrap(), [record]);
}

#[test]
fn what_cannot_be_understood_is_named() {
    let record = Record::new("a", ScopePath::root(), "hello", 7);
    let batch = encode(&[record]).unwrap();
    let with = |name: &str, array: ArrayRef| {
        let index = batch.schema().index_of(name).unwrap();
        let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
        fields[index] = Arc::new(Field::new(name, array.data_type().clone(), true));
        let mut arrays = batch.columns().to_vec();
        arrays[index] = array;
        decode(&RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap())
            .unwrap_err()
            .to_string()
    };
    let text = |value: Option<&str>| Arc::new(StringArray::from(vec![value])) as ArrayRef;
    assert_eq!(
        with("status", text(Some("frozen"))),
        "row 0: status `frozen` is unknown: read it with a newer release"
    );
    assert_eq!(
        with("version", text(Some("1"))),
        "column `version` has type Utf8"
    );
    assert_eq!(
        with("metadata", text(Some("[1]"))),
        "row 0: column `metadata` is not the JSON expected"
    );
    assert_eq!(with("scope", text(Some("a//b"))), "row 0: column `scope`");
    assert_eq!(with("id", text(None)), "row 0: column `id` has no value");
    let short = arrow_array::FixedSizeBinaryArray::try_from_iter([[1_u8; 8]].into_iter()).unwrap();
    assert_eq!(
        with("content_hash", Arc::new(short)),
        "column `content_hash` has type FixedSizeBinary(8)"
    );
}

#[test]
fn kinds_survive_json() {
    for (json, kind) in [
        (json!(1), "int"),
        (json!(1.0), "float"),
        (json!("1"), "string"),
        (json!(["a"]), "strings"),
        (json!([]), "strings"),
        (json!([1, 2]), "ints"),
        (json!([1, 2.5]), "floats"),
        (json!({ "lat": 48.2, "lon": 16.4 }), "geo"),
        (json!({ "lat": 148.2, "lon": 16.4 }), "json"),
        (json!({ "lat": 48.2, "lon": 16.4, "alt": 3 }), "json"),
        (json!([1, "a"]), "json"),
        (json!([9_007_199_254_740_993_i64, 0.5]), "json"),
        (json!(u64::MAX), "json"),
        (json!(null), "none"),
    ] {
        assert_eq!(Value::from_json(&json).kind(), kind, "{json}");
    }
    let big = json!([9_007_199_254_740_993_i64, 18_446_744_073_709_551_615_u64]);
    assert_eq!(Value::from_json(&big).to_json(), big);
    assert!(matches!(
        Value::from_json(&Value::Float(f64::NAN).to_json()),
        Value::Float(float) if float.is_nan()
    ));
}

#[test]
fn scopes_refuse_what_could_mean_elsewhere() {
    for (text, says) in [
        ("a//b", "empty segment"),
        ("/a", "empty segment"),
        ("a/", "empty segment"),
        ("/", "empty segment"),
        ("a/../b", "`..` is reserved"),
        ("../A", "`..` is reserved"),
        (".", "`.` is reserved"),
        ("*", "`*` is reserved"),
        ("a\u{0}b", "U+0000"),
        ("a\nb", "U+000A"),
        (&"x".repeat(129), "129 bytes: at most 128"),
        (
            &vec!["x".repeat(128); 8].join("/"),
            "1031 bytes: at most 1024",
        ),
    ] {
        let refused = ScopePath::parse(text).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn scopes_know_what_lies_above_and_below() {
    let path = |text| ScopePath::parse(text).unwrap();
    assert_eq!(
        path("a/b/c").ancestors(),
        [ScopePath::root(), path("a"), path("a/b")]
    );
    assert!(ScopePath::root().ancestors().is_empty());
    assert!(path("a").is_ancestor_of(&path("a/b")));
    assert!(!path("a").is_ancestor_of(&path("a")));
    assert!(!path("a").is_ancestor_of(&path("ab")));
    assert!(path("a").contains(&path("a")));
    assert!(ScopePath::root().contains(&path("a/b")));
    assert!(ScopePath::root().is_ancestor_of(&path("a")));
    assert_eq!(path("a").child("b").unwrap(), path("a/b"));
    assert_eq!(ScopePath::root().child("b").unwrap(), path("b"));
    assert!(
        path("a").child("b/c").is_err()
            && path("a").child("").is_err()
            && path("a").child("..").is_err()
    );
    assert!(ScopePath::root().child("").is_err());
    assert_eq!(path("a/b").parent(), Some(path("a")));
    assert_eq!(path("a").parent(), Some(ScopePath::root()));
    assert_eq!(path("a/b").segments().collect::<Vec<_>>(), ["a", "b"]);
}

proptest! {
    #[test]
    fn encoding_loses_nothing(records in prop::collection::vec(any_record(), 0..6)) {
        let batch = encode(&records).unwrap();
        prop_assert_eq!(batch.num_rows(), records.len());
        prop_assert_eq!(decode(&batch).unwrap(), records);
    }

    #[test]
    fn any_path_is_parsed_or_refused(text in any::<String>()) {
        if let Ok(path) = ScopePath::parse(&text) {
            prop_assert_eq!(path.as_str(), text);
            prop_assert_eq!(path.ancestors().len(), path.depth());
        }
    }
}
