use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::filter::Filter;
use crate::record::{Record, ScopePath, Status, Value};

fn scope(path: &str) -> ScopePath {
    ScopePath::parse(path).unwrap()
}

fn records() -> Vec<Record> {
    let mut records = Vec::new();
    let scopes = ["", "team", "team/pumps", "team/pumps/old", "teams"];
    let kinds = [None, Some("note"), Some("rule")];
    for (index, path) in scopes.into_iter().cycle().take(60).enumerate() {
        let mut record = Record::new(format!("r{index}"), scope(path), "text", 0);
        record.kind = kinds[index % 3].map(str::to_owned);
        record.key = (index % 2 == 0).then(|| format!("key{}", index % 7));
        record.author = (index % 4 == 0).then(|| "ada".to_owned());
        record.status = Status::ALL[index % 4];
        record.realm = ["memory", "rostam"][index % 2].to_owned();
        let value = match index % 8 {
            0 => Value::Int(1),
            1 => Value::Float(1.0),
            2 => Value::String("1".to_owned()),
            3 => Value::Bool(true),
            4 => Value::Strings(vec!["1".to_owned(), "2".to_owned()]),
            5 => Value::Ints(vec![1, 2]),
            6 => Value::Null,
            _ => Value::Json(json!({"1": 1})),
        };
        record.metadata.insert("v".to_owned(), value);
        record
            .metadata
            .insert("$kind".to_owned(), Value::String("note".to_owned()));
        records.push(record);
    }
    records
}

fn filed(records: &[Record]) -> Built {
    let mut builder = Builder::new(small());
    for (doc, record) in (0..).zip(records) {
        let terms = DocumentTerms::of(record.texts());
        builder.add(doc, &terms, keys::of_record(record));
    }
    builder.finish().unwrap()
}

fn rows_of(built: &Built, terms: &[TermHash]) -> BTreeSet<u32> {
    let lists: Vec<List> = terms
        .iter()
        .filter_map(|term| fetch(built, *term))
        .collect();
    union(&lists).unwrap().iter().collect()
}

fn rows_where(records: &[Record], holds: impl Fn(&Record) -> bool) -> BTreeSet<u32> {
    (0..)
        .zip(records)
        .filter(|(_, record)| holds(record))
        .map(|(doc, _)| doc)
        .collect()
}

#[test]
fn lists_answer_a_test_as_the_filter_does() {
    let records = records();
    let built = filed(&records);
    let answered = [
        json!({"field": "$id", "op": "eq", "value": "r7"}),
        json!({"field": "$id", "op": "in", "value": ["r7", "r8", "nobody"]}),
        json!({"field": "$key", "op": "eq", "value": "key4"}),
        json!({"field": "$kind", "op": "eq", "value": "note"}),
        json!({"field": "$kind", "op": "in", "value": ["note", "rule"]}),
        json!({"field": "$scope", "op": "eq", "value": "team/pumps"}),
        json!({"field": "$status", "op": "eq", "value": "active"}),
        json!({"field": "$author", "op": "eq", "value": "ada"}),
        json!({"field": "v", "op": "eq", "value": 1}),
        json!({"field": "v", "op": "eq", "value": "1"}),
        json!({"field": "v", "op": "eq", "value": true}),
        json!({"field": "v", "op": "eq", "value": false}),
        json!({"field": "v", "op": "in", "value": [1, 5]}),
        json!({"field": "v", "op": "in", "value": ["1", "2"]}),
        json!({"field": "v", "op": "contains", "value": "2"}),
        json!({"field": "v", "op": "contains", "value": 2}),
    ];
    for json in answered {
        let filter = parse(&json);
        let Filter::Leaf { field, test } = &filter else {
            panic!("{json} is a leaf");
        };
        let terms = keys::of_test(field, test).unwrap_or_else(|| panic!("{json}"));
        let expected = rows_where(&records, |record| filter.evaluate(record));
        assert_eq!(rows_of(&built, &terms), expected, "{json}");
    }
    let unanswered = [
        json!({"field": "v", "op": "eq", "value": 1.5}),
        json!({"field": "v", "op": "ne", "value": 1}),
        json!({"field": "v", "op": "gt", "value": 1}),
        json!({"field": "$version", "op": "eq", "value": 1}),
        json!({"field": "$content", "op": "eq", "value": "text"}),
        json!({"field": "v", "op": "is_empty"}),
    ];
    for json in unanswered {
        let Filter::Leaf { field, test } = parse(&json) else {
            panic!("{json} is a leaf");
        };
        assert_eq!(keys::of_test(&field, &test), None, "{json}");
    }
}

#[test]
fn scopes_realms_and_names_are_found() {
    let mut records = records();
    records[6].content_hash = Some([7; 16]);
    let built = filed(&records);
    let team = scope("team");
    assert_eq!(
        rows_of(&built, &[keys::within(&team)]),
        rows_where(&records, |record| team.contains(&record.scope)),
    );
    assert_eq!(
        rows_of(&built, &[keys::scope(&team)]),
        rows_where(&records, |record| record.scope == team),
    );
    assert_eq!(
        rows_of(&built, &[keys::scope(&ScopePath::root())]),
        rows_where(&records, |record| record.scope.is_root()),
    );
    assert_eq!(
        rows_of(&built, &[keys::realm("rostam")]),
        rows_where(&records, |record| record.realm == "rostam"),
    );
    assert_eq!(
        rows_of(&built, &[keys::status(Status::Pending)]),
        rows_where(&records, |record| record.status == Status::Pending),
    );
    assert_eq!(
        rows_of(&built, &[keys::key("memory", &team, "key4")]),
        rows_where(&records, |record| record.realm == "memory"
            && record.scope == team
            && record.key.as_deref() == Some("key4")),
    );
    let place = (&*records[6].realm, &records[6].scope);
    let named = keys::content_hash(place.0, place.1, &[7; 16]);
    assert_eq!(rows_of(&built, &[named]), BTreeSet::from([6]));
    let elsewhere = keys::content_hash(place.0, &scope("teams"), &[7; 16]);
    assert_eq!(rows_of(&built, &[elsewhere]), BTreeSet::new());
}

#[test]
fn a_record_has_each_term_once() {
    let mut record = Record::new("r", scope("a/b"), "text", 0);
    let twice = vec!["x".to_owned(), "x".to_owned()];
    record
        .metadata
        .insert("v".to_owned(), Value::Strings(twice));
    let terms = keys::of_record(&record);
    assert!(terms.is_sorted_by(|a, b| a < b));
    // The id, the realm, the scope, the status, two scopes within and one member.
    assert_eq!(terms.len(), 7);
}

fn parse(json: &serde_json::Value) -> Filter {
    Filter::parse(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}
