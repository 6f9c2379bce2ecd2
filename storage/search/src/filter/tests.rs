use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::record::tests::any_record;
use crate::record::{Record, ScopePath, metadata_from_json};

fn record(metadata: &Json) -> Record {
    let object = metadata.as_object().expect("an object");
    Record {
        metadata: metadata_from_json(object),
        ..Record::new(
            "r1",
            ScopePath::parse("ws/a").unwrap(),
            "The Pump Manual",
            1_784_944_800_000,
        )
    }
}

fn holds(filter: &Json, metadata: &Json) -> bool {
    Filter::parse(filter)
        .unwrap_or_else(|refused| panic!("{filter}: {refused}"))
        .evaluate(&record(metadata))
}

fn refusal(filter: &Json) -> String {
    match Filter::parse(filter) {
        Ok(parsed) => format!("accepted as {parsed:?}"),
        Err(refused) => refused.to_string(),
    }
}

#[test]
fn semantics() {
    let leaf = |op: &str, value: Json| json!({ "op": op, "field": "f", "value": value });
    let is = |value: Json| json!({ "f": value });
    let table = [
        // Kinds are strict.
        ("eq", json!(1), json!(1), true),
        ("eq", json!(1), json!(1.0), false),
        ("eq", json!(1.0), json!(1), false),
        ("eq", json!("10"), json!(10), false),
        ("eq", json!(true), json!(true), true),
        ("eq", json!(null), json!(null), true),
        ("eq", json!(["a", "b"]), json!(["a", "b"]), true),
        ("eq", json!(["a", "b"]), json!(["b", "a"]), false),
        ("eq", json!("my_tag"), json!("myXtag"), false),
        ("ne", json!(1), json!(2), true),
        ("ne", json!(1), json!(1), false),
        ("ne", json!(1), json!("1"), false),
        // Numbers compare by value, strings bytewise, kinds never mix.
        ("gte", json!(3), json!(3), true),
        ("gte", json!(3), json!(2), false),
        ("gt", json!(3), json!(3.5), true),
        ("lt", json!(2.5), json!(2), true),
        ("lte", json!(2), json!(2), true),
        ("gte", json!(3), json!("10"), false),
        ("gte", json!(3), json!(null), false),
        ("gt", json!("a"), json!("b"), true),
        ("gt", json!("a"), json!("Z"), false),
        (
            "gt",
            json!(9_007_199_254_740_992_i64),
            json!(9_007_199_254_740_993_i64),
            true,
        ),
        // Membership.
        ("in", json!(["a", "b"]), json!("b"), true),
        ("in", json!(["a", "b"]), json!("c"), false),
        ("in", json!(["a", "b"]), json!(["a"]), false),
        ("in", json!([1, 2]), json!(2), true),
        ("in", json!([1, 2]), json!(2.0), false),
        ("in", json!([0.5, -0.0]), json!(0.0), true),
        ("in", json!([]), json!("a"), false),
        ("contains", json!("a,b"), json!(["a,b", "c"]), true),
        ("contains", json!("a"), json!(["a,b"]), false),
        ("contains", json!("100%"), json!(["100x"]), false),
        ("contains", json!("100%"), json!(["100%"]), true),
        ("contains", json!("my_tag"), json!(["myXtag"]), false),
        ("contains", json!("a"), json!("a"), false),
        ("contains", json!(2), json!([1, 2]), true),
        ("contains", json!(2), json!([1.0, 2.0]), false),
        ("contains", json!(2.5), json!([1, 2.5]), true),
        // Words.
        ("match", json!("red fox"), json!("The fox is RED."), true),
        (
            "match",
            json!("red fox"),
            json!("The fox is redder."),
            false,
        ),
        ("match", json!("red fox"), json!(["red", "fox"]), false),
        (
            "match",
            json!("red fox"),
            json!(["none", "a red fox"]),
            true,
        ),
        ("match", json!(""), json!("anything"), true),
        ("match", json!("café"), json!("CAFE"), true),
        ("match", json!("腾讯云"), json!("服务器部署在腾讯云"), true),
        ("match", json!("1"), json!(1), false),
        // Patterns.
        ("regex", json!("^a.c$"), json!("abc"), true),
        ("regex", json!("b"), json!(["a", "abc"]), true),
        ("regex", json!("^b"), json!("abc"), false),
        // Instants.
        (
            "dt_gte",
            json!("2026-07-25"),
            json!("2026-07-25T02:00:00Z"),
            true,
        ),
        (
            "dt_gte",
            json!("2026-07-25T11:00:00+09:00"),
            json!("2026-07-25T02:00:00Z"),
            true,
        ),
        (
            "dt_lte",
            json!("2026-07-25T11:00:00+09:00"),
            json!("2026-07-25T02:00:00Z"),
            true,
        ),
        (
            "dt_gt",
            json!("2026-07-25T11:00:00+09:00"),
            json!("2026-07-25T02:00:00Z"),
            false,
        ),
        (
            "dt_lt",
            json!("2026-08-01"),
            json!(1_784_944_800_000_i64),
            true,
        ),
        ("dt_lt", json!("2026-08-01"), json!("2026-07-31"), true),
        ("dt_lt", json!("2026-08-01"), json!("soon"), false),
        ("dt_lt", json!("2026-08-01"), json!(1.5), false),
    ];
    for (op, operand, stored, expected) in table {
        let filter = leaf(op, operand);
        assert_eq!(
            holds(&filter, &is(stored.clone())),
            expected,
            "{filter} on {stored}"
        );
        assert!(
            !holds(&filter, &json!({})),
            "{filter} on a record without the field"
        );
    }
}

#[test]
fn emptiness_and_null() {
    for (metadata, empty, null) in [
        (json!({}), true, false),
        (json!({ "f": null }), true, true),
        (json!({ "f": "" }), true, false),
        (json!({ "f": [] }), true, false),
        (json!({ "f": {} }), true, false),
        (json!({ "f": " " }), false, false),
        (json!({ "f": 0 }), false, false),
        (json!({ "f": false }), false, false),
        (json!({ "f": { "a": 1 } }), false, false),
    ] {
        assert_eq!(
            holds(&json!({ "op": "is_empty", "field": "f" }), &metadata),
            empty,
            "{metadata}"
        );
        assert_eq!(
            holds(&json!({ "op": "is_null", "field": "f" }), &metadata),
            null,
            "{metadata}"
        );
    }
}

#[test]
fn logic() {
    let yes = json!({ "op": "eq", "field": "f", "value": 1 });
    let no = json!({ "op": "eq", "field": "f", "value": 2 });
    let metadata = json!({ "f": 1 });
    for (filter, expected) in [
        (json!({ "op": "and" }), true),
        (json!({ "op": "and", "and": [] }), true),
        (json!({ "op": "or", "or": [] }), false),
        (json!({ "op": "and", "and": [yes, no] }), false),
        (json!({ "op": "or", "or": [no, yes] }), true),
        (json!({ "op": "not", "not": no }), true),
        (
            json!({ "op": "not", "not": { "op": "eq", "field": "g", "value": 1 } }),
            true,
        ),
    ] {
        assert_eq!(holds(&filter, &metadata), expected, "{filter}");
    }
}

#[test]
fn places() {
    let vienna = json!({ "at": { "lat": 48.2082, "lon": 16.3738 } });
    let geo = |op: &str, geo: Json| json!({ "op": op, "field": "at", "geo": geo });
    let radius = |lat: f64, lon: f64, radius_m: f64| {
        geo(
            "geo_radius",
            json!({ "center_lat": lat, "center_lon": lon, "radius_m": radius_m }),
        )
    };
    // Vienna to Bratislava is about 55 km.
    assert!(holds(&radius(48.1486, 17.1077, 56_000.0), &vienna));
    assert!(!holds(&radius(48.1486, 17.1077, 54_000.0), &vienna));
    assert!(holds(&radius(-48.2082, -163.6262, 20_040_000.0), &vienna));
    let bounds = |min_lon: f64| {
        geo(
            "geo_bounding_box",
            json!({ "min_lat": 48.2082, "min_lon": min_lon, "max_lat": 49.0, "max_lon": 17.0 }),
        )
    };
    assert!(holds(&bounds(16.3738), &vienna));
    assert!(!holds(&bounds(16.4), &vienna));
    let polygon = |points: Json| geo("geo_polygon", json!({ "polygon": points }));
    assert!(holds(
        &polygon(json!([48.0, 16.0, 48.0, 17.0, 49.0, 16.5])),
        &vienna
    ));
    assert!(!holds(
        &polygon(json!([48.0, 16.0, 48.0, 16.1, 49.0, 16.0])),
        &vienna
    ));
    assert!(!holds(&radius(48.2, 16.4, 1e6), &json!({ "at": "Vienna" })));
}

#[test]
fn own_fields() {
    let mut subject = record(&json!({ "$id": "not this", "a.b": 1 }));
    subject.key = Some("pump".to_owned());
    subject.confidence = Some(1.0);
    subject.expires = Some(1_784_944_800_001);
    for filter in [
        json!({ "op": "eq", "field": "$id", "value": "r1" }),
        json!({ "op": "in", "field": "$id", "value": ["r0", "r1"] }),
        json!({ "op": "eq", "field": "$key", "value": { "kind": "string", "str": "pump" } }),
        json!({ "op": "is_empty", "field": "$kind" }),
        json!({ "op": "regex", "field": "$scope", "value": "^ws/" }),
        json!({ "op": "match", "field": "$content", "value": "pump manual" }),
        json!({ "op": "eq", "field": "$confidence", "value": 1 }),
        json!({ "op": "gte", "field": "$confidence", "value": 0.5 }),
        json!({ "op": "eq", "field": "$status", "value": "active" }),
        json!({ "op": "gte", "field": "$version", "value": 1 }),
        json!({ "op": "dt_gte", "field": "$created_at", "value": "2026-07-25" }),
        json!({ "op": "dt_gt", "field": "$expires_at", "value": "2026-07-25T02:00:00Z" }),
        json!({ "op": "eq", "field": "a.b", "value": 1 }),
    ] {
        assert!(
            Filter::parse(&filter).unwrap().evaluate(&subject),
            "{filter}"
        );
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_path() {
    let leaf = |op: &str, value: Json| json!({ "op": op, "field": "f", "value": value });
    for (filter, says) in [
        (
            json!({ "lang": "en" }),
            "filter: unknown key \"lang\" and no `op`",
        ),
        (
            json!({ "priority": { "gte": 3 } }),
            "filter: unknown key \"priority\" and no `op`",
        ),
        (
            json!({ "$or": [] }),
            "filter: unknown key \"$or\" and no `op`",
        ),
        (json!({}), "filter: a condition needs an `op`"),
        (json!([]), "filter: a condition is an object"),
        (json!({ "op": 3 }), "filter: `op` is a string, got a number"),
        (
            json!({ "op": "banana", "field": "f" }),
            "filter: unknown op \"banana\": use one of and, or, not, eq",
        ),
        (
            json!({ "op": "and", "and": [leaf("eq", json!(1)), { "op": "eq", "field": "f", "gte": 3 }] }),
            "filter.and[1]: unknown key \"gte\" for op \"eq\": allowed are op, field, value",
        ),
        (
            json!({ "op": "and", "or": [] }),
            "filter: unknown key \"or\" for op \"and\"",
        ),
        (
            json!({ "op": "or", "or": {} }),
            "filter.or: expected an array of conditions, got an object",
        ),
        (
            json!({ "op": "not" }),
            "filter: filter op 'not' requires a 'not' child",
        ),
        (
            json!({ "op": "not", "not": { "op": "not", "not": 1 } }),
            "filter.not.not: a condition is an object",
        ),
        (
            json!({ "op": "eq", "value": 1 }),
            "filter: leaf filter op \"eq\" requires a field",
        ),
        (
            json!({ "op": "eq", "field": "", "value": 1 }),
            "requires a field",
        ),
        (
            json!({ "op": "eq", "field": "$when", "value": 1 }),
            "unknown field \"$when\": own fields are $id",
        ),
        (
            json!({ "op": "eq", "field": "f" }),
            "filter: op \"eq\" requires `value`",
        ),
        (
            json!({ "op": "is_null", "field": "f", "value": 1 }),
            "unknown key \"value\" for op \"is_null\"",
        ),
        (
            leaf("eq", json!({ "kind": "int", "str": "1" })),
            "filter.value: kind \"int\" takes int, got \"str\"",
        ),
        (
            leaf("eq", json!({ "kind": "int" })),
            "filter.value: kind \"int\" requires int",
        ),
        (
            leaf("eq", json!({ "kind": "int", "int": 1.5 })),
            "`int` is not a whole number",
        ),
        (
            leaf("eq", json!({ "kind": "date", "str": "x" })),
            "unknown kind \"date\"",
        ),
        (
            leaf("eq", json!({ "a": 1 })),
            "filter.value: a plain value is",
        ),
        (
            leaf("in", json!("a")),
            "filter.value: op \"in\" takes strings, ints or floats, got string",
        ),
        (leaf("in", json!([true])), "filter.value: a plain value is"),
        (
            leaf("gt", json!(true)),
            "op \"gt\" takes an int, a float or a string, got bool",
        ),
        (
            leaf("contains", json!(["a"])),
            "op \"contains\" takes a string, an int or a float, got strings",
        ),
        (
            leaf("match", json!(1)),
            "op \"match\" takes a string, got int",
        ),
        (
            leaf("regex", json!("(")),
            "filter.value: the pattern is not accepted",
        ),
        (
            leaf("regex", json!("(a{1000}){1000}")),
            "filter.value: the pattern is not accepted",
        ),
        (
            leaf("regex", json!("a".repeat(5000))),
            "the pattern has 5000 bytes",
        ),
        (
            leaf("dt_gte", json!("2026-02-30")),
            "filter.value: `2026-02-30` is not an instant",
        ),
        (
            leaf("dt_gte", json!("2026-07-25T02:00:00")),
            "is not an instant: write RFC 3339 with an offset",
        ),
        (
            leaf("dt_gte", json!(5)),
            "op \"dt_gte\" takes an RFC 3339 string, got int",
        ),
        (
            json!({ "op": "eq", "field": "$version", "value": "1" }),
            "`$version` holds an int, got a value of kind string",
        ),
        (
            json!({ "op": "gt", "field": "$title", "value": 1 }),
            "`$title` holds a string, got a value of kind int",
        ),
        (
            json!({ "op": "match", "field": "$version", "value": "1" }),
            "op \"match\" does not apply to `$version`",
        ),
        (
            json!({ "op": "dt_lt", "field": "$title", "value": "2026-08-01" }),
            "op \"dt_lt\" does not apply to `$title`",
        ),
        (
            json!({ "op": "geo_radius", "field": "f", "value": 1 }),
            "unknown key \"value\" for op \"geo_radius\": allowed are op, field, geo",
        ),
        (
            json!({ "op": "geo_radius", "field": "f", "geo": { "center_lat": 1, "center_lon": 1, "radius_m": 0 } }),
            "radius_m is greater than 0",
        ),
        (
            json!({ "op": "geo_radius", "field": "f", "geo": { "center_lat": 91, "center_lon": 1, "radius_m": 1 } }),
            "latitudes lie within",
        ),
        (
            json!({ "op": "geo_radius", "field": "f", "geo": { "lat": 1 } }),
            "unknown key \"lat\" in geo",
        ),
        (
            json!({ "op": "geo_bounding_box", "field": "f", "geo": { "min_lat": 2, "min_lon": 1, "max_lat": 1, "max_lon": 2 } }),
            "the minima are not above the maxima",
        ),
        (
            json!({ "op": "geo_polygon", "field": "f", "geo": { "polygon": [1, 2, 3, 4, 5] } }),
            "of an even length",
        ),
    ] {
        let refused = refusal(&filter);
        assert!(refused.contains(says), "{filter}: {refused}");
    }
}

#[test]
fn plain_values_are_refused_where_only_tagged_ones_are_read() {
    let plain = json!({ "op": "eq", "field": "f", "value": 1 });
    let refused = Filter::parse_with(&plain, ValueSyntax::Tagged)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("filter.value: a value is an object"),
        "{refused}"
    );
    let untagged = json!({ "op": "eq", "field": "f", "value": { "int": 1 } });
    assert!(Filter::parse_with(&untagged, ValueSyntax::Tagged).is_err());
    let tagged = json!({ "op": "eq", "field": "f", "value": { "kind": "float", "flt": 1 } });
    let parsed = Filter::parse_with(&tagged, ValueSyntax::Tagged).unwrap();
    assert!(parsed.evaluate(&record(&json!({ "f": 1.0 }))));
    assert!(!parsed.evaluate(&record(&json!({ "f": 1 }))));
    let none = json!({ "op": "eq", "field": "f", "value": { "kind": "none" } });
    assert!(
        Filter::parse_with(&none, ValueSyntax::Tagged)
            .unwrap()
            .evaluate(&record(&json!({ "f": null })))
    );
}

#[test]
fn depth_and_size_are_bounded() {
    let leaf = json!({ "op": "is_null", "field": "f" });
    let nested = |depth: usize| {
        (1..depth).fold(
            leaf.clone(),
            |inner, _| json!({ "op": "not", "not": inner }),
        )
    };
    assert!(Filter::parse(&nested(MAX_DEPTH)).is_ok());
    assert!(refusal(&nested(MAX_DEPTH + 1)).contains("nest deeper than 32"));
    let wide = |count: usize| json!({ "op": "or", "or": vec![leaf.clone(); count] });
    assert!(Filter::parse(&wide(MAX_NODES - 1)).is_ok());
    assert!(refusal(&wide(MAX_NODES)).contains("more than 10000 conditions"));
}

#[test]
fn thousands_of_members_are_one_condition() {
    let ids: Vec<String> = (0..5000).map(|number| format!("id-{number}")).collect();
    let filter = Filter::parse(&json!({ "op": "in", "field": "$id", "value": ids })).unwrap();
    let mut subject = record(&json!({}));
    subject.id = "id-4999".to_owned();
    assert!(filter.evaluate(&subject));
    subject.id = "id-5000".to_owned();
    assert!(!filter.evaluate(&subject));
}

#[test]
fn a_filter_of_everything_is_seen_however_it_is_written() {
    let everything = [
        json!({ "op": "and" }),
        json!({ "op": "and", "and": [{ "op": "and" }] }),
        json!({ "op": "not", "not": { "op": "or" } }),
        json!({ "op": "not", "not": { "op": "not", "not": { "op": "and" } } }),
        json!({ "op": "or", "or": [{ "op": "is_null", "field": "f" }, { "op": "and" }] }),
        json!({ "op": "or", "or": [
            { "op": "is_null", "field": "f" },
            { "op": "not", "not": { "op": "is_null", "field": "f" } },
        ] }),
    ];
    for filter in everything {
        assert!(
            Filter::parse(&filter).unwrap().matches_everything(),
            "{filter}"
        );
    }
    for filter in [
        json!({ "op": "or" }),
        json!({ "op": "not", "not": { "op": "and" } }),
        json!({ "op": "is_empty", "field": "f" }),
        json!({ "op": "and", "and": [{ "op": "or" }, { "op": "and" }] }),
    ] {
        assert!(
            !Filter::parse(&filter).unwrap().matches_everything(),
            "{filter}"
        );
    }
}

#[test]
fn instants() {
    for (text, ms) in [
        ("2026-07-25T02:00:00Z", 1_784_944_800_000),
        ("2026-07-25T11:00:00+09:00", 1_784_944_800_000),
        ("2026-07-25T02:00:00.1239Z", 1_784_944_800_123),
        ("2026-07-25", 1_784_937_600_000),
        ("1969-12-31T23:59:59.9999Z", -1),
    ] {
        assert_eq!(parse_instant(text), Ok(ms), "{text}");
    }
    for text in [
        "2026-02-30",
        "2026-13-01",
        "2026-07-25T25:00:00Z",
        "2026-07-25T02:00:00",
        "yesterday",
        "",
        "20260725",
        "2026-07-25T02:00:00Z[Europe/Vienna]",
    ] {
        assert!(parse_instant(text).is_err(), "{text}");
    }
}

fn any_leaf() -> impl Strategy<Value = Filter> {
    prop_oneof![
        Just(json!({ "op": "is_empty", "field": "f" })),
        Just(json!({ "op": "eq", "field": "f", "value": 1 })),
        Just(json!({ "op": "gt", "field": "$version", "value": 3 })),
        Just(json!({ "op": "eq", "field": "$status", "value": "active" })),
        Just(json!({ "op": "regex", "field": "$content", "value": "[a-f]" })),
    ]
    .prop_map(|json| Filter::parse(&json).unwrap())
}

fn any_filter() -> impl Strategy<Value = Filter> {
    any_leaf().prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|child| Filter::Not(Box::new(child))),
        ]
    })
}

/// JSON that resembles filters, so that parsing gets past the first key.
fn any_json() -> impl Strategy<Value = Json> {
    let names = prop::sample::select(vec![
        "op", "field", "value", "and", "or", "not", "geo", "kind", "str", "polygon", "x",
    ]);
    let atoms = prop_oneof![
        prop::sample::select(vec![
            "and",
            "or",
            "not",
            "eq",
            "in",
            "regex",
            "match",
            "dt_gt",
            "geo_polygon",
            "string",
            "$id",
            "("
        ])
        .prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        Just(Json::Null),
    ];
    atoms.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn normalising_changes_no_answer(filter in any_filter(), record in any_record()) {
        let expected = filter.evaluate(&record);
        prop_assert_eq!(filter.clone().normalise().evaluate(&record), expected);
        if filter.matches_everything() {
            prop_assert!(expected);
        }
    }

    #[test]
    fn normalising_twice_is_normalising_once(filter in any_filter()) {
        let once = filter.normalise();
        prop_assert_eq!(once.clone().normalise(), once);
    }

    #[test]
    fn no_json_makes_parsing_fail_otherwise_than_by_a_reason(json in any_json(), record in any_record()) {
        match Filter::parse(&json) {
            Ok(filter) => { let _ = filter.evaluate(&record); }
            Err(refused) => prop_assert!(refused.to_string().starts_with("filter")),
        }
    }
}
