//! Faults that users of memory systems met, each asked of the public interface:
//! the reported input and the kind it stands for.
//!
//! Test names carry the report's number.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking"
)]

use std::sync::Arc;

use ostraca_search::segment::Replaced;
use ostraca_search::snippet::{snippet, truncated};
use ostraca_search::{
    Answer, Chunk, Embedding, Filter, Mode, Query, Record, ScopeFilter, ScopePath, Search,
    Snapshot, Step, Tail, TimeField, VectorSource, Window, text,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn tail(contents: &[&str]) -> Tail {
    let mut tail = Tail::new();
    for content in contents {
        tail.upsert(Arc::new(Record::new(
            *content,
            ScopePath::root(),
            *content,
            0,
        )));
    }
    tail
}

fn ask(tail: &Tail, query: Query) -> Answer {
    let nothing = Replaced::default();
    let mut search = Search::new(query, None);
    match search
        .step(&Snapshot::of_tail(tail, &nothing))
        .expect("an answer")
    {
        Step::Done(answer) => answer,
        Step::Need(reads) => panic!("needs {reads:?}"),
    }
}

fn keywords(text: &str) -> Query {
    Query {
        text: Some(text.to_owned()),
        mode: Mode::Keyword,
        ..Query::new(0)
    }
}

fn ids(answer: &Answer) -> Vec<String> {
    answer
        .hits
        .iter()
        .map(|hit| hit.record.id.clone())
        .collect()
}

fn found(tail: &Tail, text: &str) -> Vec<String> {
    ids(&ask(tail, keywords(text)))
}

#[test]
fn a1_chinese_japanese_and_korean_are_found_by_keyword() {
    let contents = [
        "服务器部署在腾讯云国内节点",
        "今日は成語しりとりをした",
        "오늘 끝말잇기 게임을 했다",
    ];
    let tail = tail(&contents);
    for (query, content) in ["腾讯云", "しりとり", "끝말잇기"].into_iter().zip(contents)
    {
        assert_eq!(found(&tail, query), [content]);
    }
}

#[test]
fn a2_one_normalisation_on_both_sides() {
    for (content, query) in [
        ("café résumé", "cafe\u{301} re\u{301}sume\u{301}"),
        ("café résumé", "cafe resume"),
        ("ＡＰＩ", "api"),
        ("Новосибирск", "новосибирск"),
        ("أحمد", "احمد"),
    ] {
        assert_eq!(found(&tail(&[content]), query), [content], "{query}");
        assert_eq!(found(&tail(&[query]), content), [query], "{content}");
    }
}

#[test]
fn a4_previews_are_cut_between_characters() {
    let content = format!("{}🟡 and more", "a".repeat(199));
    assert_eq!(truncated(&content, 200), "a".repeat(199));
    assert_eq!(snippet(&content, &[], None, 200).text, "a".repeat(199));
    let tag = format!("{}{}", "a".repeat(19), "é".repeat(100));
    let refused = ScopePath::parse(&tag).expect_err("past the limit");
    assert!(refused.to_string().contains("219 bytes"), "{refused}");
}

#[test]
fn a5_user_text_is_literal() {
    let tail = tail(&[
        "don't use agents",
        "Downloads/transcripts",
        "foo and bar (b)",
    ]);
    for query in [
        "don't use agents",
        "Downloads/transcripts",
        "\"unbalanced",
        "a AND (b",
        "NEAR(x y)",
        "foo^2",
        "~",
        "-x",
        "' OR 1=1 --",
        "title:*",
        "\\",
        "{}[]",
    ] {
        ask(&tail, keywords(query));
    }
    assert_eq!(found(&tail, "don't use agents"), ["don't use agents"]);
    assert_eq!(
        found(&tail, "Downloads/transcripts"),
        ["Downloads/transcripts"]
    );
    assert_eq!(found(&tail, "a AND (b"), ["foo and bar (b)"]);
}

#[test]
fn a6_colons_and_hyphens_are_no_operators() {
    let tail = tail(&[
        "TODO: fix login",
        "order BENCH-100821 shipped",
        "BENCH results of order 7",
    ]);
    assert_eq!(found(&tail, "TODO: fix login")[0], "TODO: fix login");
    for query in ["BENCH-100821", "order BENCH-100821", "-BENCH-100821"] {
        assert_eq!(
            found(&tail, query)[0],
            "order BENCH-100821 shipped",
            "{query}"
        );
    }
}

#[test]
fn a8_blank_is_blank_however_it_is_written() {
    for blank in ["   ", "\u{200b}", "\n", "", "\u{feff}\t"] {
        assert!(text::is_blank(blank), "{blank:?}");
        assert!(found(&tail(&["something"]), blank).is_empty());
    }
}

#[test]
fn a9_the_last_word_of_a_long_text_is_found() {
    let content = format!(
        "{}zebrafish-7431",
        "ordinary prose about nothing in particular ".repeat(480)
    );
    assert!(content.len() > 20_000);
    let tail = tail(&[&content, "zebra crossing"]);
    let answer = ask(&tail, keywords("zebrafish-7431"));
    assert_eq!(ids(&answer), std::slice::from_ref(&content));
    assert_eq!(
        answer.hits[0].terms,
        ["zebrafish", "zebrafish-7431", "7431"]
    );
    let shown = snippet(&content, &answer.hits[0].terms, None, 200);
    assert!(shown.text.ends_with("zebrafish-7431"), "{}", shown.text);
}

#[test]
fn a10_an_over_long_query_is_clamped_to_its_end_and_says_so() {
    let tail = tail(&["Rosa's favourite tea is Darjeeling", "lorem ipsum"]);
    let long = format!(
        "{} what is Rosa's favourite tea?",
        "dolor sit amet ".repeat(2000)
    );
    let answer = ask(&tail, keywords(&long));
    assert_eq!(ids(&answer)[0], "Rosa's favourite tea is Darjeeling");
    assert!(!answer.query_clamped, "30 KB are used whole");
    let longer = format!(
        "lorem {} what is Rosa's favourite tea?",
        "dolor sit amet ".repeat(4000)
    );
    let answer = ask(&tail, keywords(&longer));
    assert_eq!(ids(&answer), ["Rosa's favourite tea is Darjeeling"]);
    assert!(answer.query_clamped);
}

#[test]
fn a14_texts_that_differ_in_numbers_are_told_apart() {
    let tail = tail(&["run 41: 812 ms", "run 42: 655 ms"]);
    assert_eq!(found(&tail, "run 42")[0], "run 42: 655 ms");
}

#[test]
fn a18_an_edit_leaves_nothing_of_the_old_text() {
    let mut tail = Tail::new();
    for content in ["The shop uses Postgres", "The shop uses CockroachDB"] {
        tail.upsert(Arc::new(Record::new("shop", ScopePath::root(), content, 0)));
    }
    assert_eq!(found(&tail, "CockroachDB"), ["shop"]);
    assert!(found(&tail, "Postgres").is_empty());
}

#[test]
fn a19_the_live_fill_every_place() {
    let mut tail = Tail::new();
    for number in 0..12 {
        let content = format!(
            "pump maintenance {}",
            "pump maintenance ".repeat(12 - number)
        );
        let mut record = Record::new(format!("r{number:02}"), ScopePath::root(), content, 0);
        record.embedding = Embedding::Ready {
            profile: "p".to_owned(),
            chunks: vec![Chunk {
                start: 0,
                end: 4,
                vector: vec![1.0, number as f32 / 10.0],
            }],
        };
        tail.upsert(Arc::new(record));
    }
    let vector = VectorSource::Given {
        profile: "p".to_owned(),
        values: vec![1.0, 0.0],
    };
    let asked = |mode| Query {
        mode,
        limit: 2,
        vector: vector.clone(),
        ..keywords("pump maintenance")
    };
    let best = ids(&ask(
        &tail,
        Query {
            limit: 10,
            ..asked(Mode::Semantic)
        },
    ));
    for id in &best {
        tail.remove(id);
    }
    for mode in [Mode::Keyword, Mode::Semantic, Mode::Hybrid] {
        let answer = ask(&tail, asked(mode));
        assert_eq!(answer.hits.len(), 2, "{mode:?}");
        assert!(ids(&answer).iter().all(|id| !best.contains(id)));
    }
}

#[test]
fn a22_one_visibility_for_every_lane() {
    let mut tail = Tail::new();
    for (id, expires, scope) in [
        ("expired", Some(1000), "me"),
        ("live", Some(1001), "me"),
        ("elsewhere", None, "other"),
    ] {
        let mut record = Record::new(
            id,
            ScopePath::parse(scope).expect("a scope"),
            "where she lives",
            0,
        );
        record.expires = expires;
        record.embedding = Embedding::Ready {
            profile: "p".to_owned(),
            chunks: vec![Chunk {
                start: 0,
                end: 4,
                vector: vec![1.0],
            }],
        };
        tail.upsert(Arc::new(record));
    }
    for mode in [Mode::Keyword, Mode::Semantic, Mode::Hybrid] {
        let answer = ask(
            &tail,
            Query {
                now: 1000,
                mode,
                limit: 1,
                scope: ScopeFilter::Exact(ScopePath::parse("me").expect("a scope")),
                vector: VectorSource::Given {
                    profile: "p".to_owned(),
                    values: vec![1.0],
                },
                ..keywords("lives")
            },
        );
        assert_eq!(ids(&answer), ["live"], "{mode:?}");
        assert_eq!(answer.matched, 1);
    }
}

#[test]
fn a23_a_filter_is_applied_or_refused() {
    let mut tail = Tail::new();
    for (id, metadata) in [
        ("two", json!({ "priority": 2 })),
        ("three", json!({ "priority": 3 })),
        ("null", json!({ "priority": null })),
        ("absent", json!({})),
        ("text", json!({ "priority": "10" })),
    ] {
        let mut record = Record::new(id, ScopePath::root(), "task", 0);
        if let Json::Object(object) = &metadata {
            record.metadata = ostraca_search::record::metadata_from_json(object);
        }
        tail.upsert(Arc::new(record));
    }
    let filtered = |filter: Json| {
        let filter = Filter::parse(&filter).expect("a filter");
        let mut found = ids(&ask(
            &tail,
            Query {
                filter: Some(filter),
                ..keywords("task")
            },
        ));
        found.sort();
        found
    };
    assert_eq!(
        filtered(json!({ "op": "gte", "field": "priority", "value": 3 })),
        ["three"]
    );
    assert_eq!(
        filtered(json!({ "op": "is_null", "field": "priority" })),
        ["null"]
    );
    assert_eq!(
        filtered(json!({ "op": "is_empty", "field": "priority" })),
        ["absent", "null"]
    );
    assert_eq!(
        filtered(json!({ "op": "eq", "field": "priority", "value": "10" })),
        ["text"]
    );
    for foreign in [
        json!({ "priority": { "gte": 3 } }),
        json!({ "status": { "in": ["a"] } }),
        json!({ "$or": [{ "priority": 3 }] }),
        json!({ "priority": { "banana": 1 } }),
        json!({ "due": { "lt": "2026-08-01" } }),
        json!({ "a.b": 1 }),
        json!({ "x": null }),
        json!({ "op": "banana", "field": "priority", "value": 1 }),
    ] {
        let refused = Filter::parse(&foreign).expect_err("refused").to_string();
        assert!(refused.starts_with("filter: unknown"), "{refused}");
    }
}

#[test]
fn a24_tags_are_literal() {
    let mut tail = Tail::new();
    for tag in ["100%", "100x", "my_tag", "myXtag", "a,b"] {
        let mut record = Record::new(tag, ScopePath::root(), "tagged", 0);
        record.metadata.insert(
            "tags".to_owned(),
            ostraca_search::Value::from_json(&json!([tag])),
        );
        tail.upsert(Arc::new(record));
    }
    for tag in ["my_tag", "100%", "a,b"] {
        let filter = Filter::parse(&json!({ "op": "contains", "field": "tags", "value": tag }))
            .expect("a filter");
        assert_eq!(
            ids(&ask(
                &tail,
                Query {
                    filter: Some(filter),
                    ..keywords("tagged")
                }
            )),
            [tag]
        );
    }
}

#[test]
fn a28_days_are_utc_and_offsets_are_instants() {
    let created = 1_784_944_800_000; // 2026-07-25T02:00:00Z
    let mut tail = Tail::new();
    tail.upsert(Arc::new(Record::new(
        "r",
        ScopePath::root(),
        "report",
        created,
    )));
    for (op, instant, expected) in [
        ("dt_gte", "2026-07-25", 1),
        ("dt_gte", "2026-07-25T11:00:00+09:00", 1),
        ("dt_lte", "2026-07-25T11:00:00+09:00", 1),
        ("dt_gt", "2026-07-25T11:00:00+09:00", 0),
        ("dt_gte", "2026-07-26", 0),
    ] {
        let filter = json!({ "op": op, "field": "$created_at", "value": instant });
        let filter = Filter::parse(&filter).expect("a filter");
        let answer = ask(
            &tail,
            Query {
                filter: Some(filter),
                ..keywords("report")
            },
        );
        assert_eq!(answer.hits.len(), expected, "{op} {instant}");
    }
    assert!(
        Filter::parse(&json!({ "op": "dt_gte", "field": "$created_at", "value": "2026-02-30" }))
            .is_err()
    );
    for (since, until, expected) in [
        (created, created, 0),
        (created, created + 1, 1),
        (created + 1, created + 2, 0),
    ] {
        let window = Window {
            field: TimeField::Created,
            since: Some(since),
            until: Some(until),
        };
        let answer = ask(
            &tail,
            Query {
                window: Some(window),
                ..keywords("report")
            },
        );
        assert_eq!(answer.hits.len(), expected);
    }
}

/// Prior art, report 12: scores are the whole collection's, whatever is asked of it.
#[test]
fn scores_do_not_depend_on_filter_or_scope() {
    let mut tail = Tail::new();
    for (id, scope, content) in [
        ("a", "x", "pump one"),
        ("b", "y", "pump two pump"),
        ("c", "y", "valve"),
    ] {
        tail.upsert(Arc::new(Record::new(
            id,
            ScopePath::parse(scope).expect("a scope"),
            content,
            0,
        )));
    }
    let score = |query: Query| {
        ask(&tail, query)
            .hits
            .iter()
            .find(|hit| hit.record.id == "a")
            .map(|hit| hit.score)
    };
    let plain = score(keywords("pump"));
    assert!(plain.is_some());
    let scope = ScopeFilter::Exact(ScopePath::parse("x").expect("a scope"));
    assert_eq!(
        score(Query {
            scope,
            ..keywords("pump")
        }),
        plain
    );
    let filter = Filter::parse(&json!({ "op": "eq", "field": "$id", "value": "a" })).ok();
    assert_eq!(
        score(Query {
            filter,
            ..keywords("pump")
        }),
        plain
    );
}

/// Prior art, report 14.
#[test]
fn stop_words_never_fail_a_search() {
    let tail = tail(&["How to print an incident report", "The Who live"]);
    assert_eq!(
        found(&tail, "how to print an incident")[0],
        "How to print an incident report"
    );
    assert_eq!(found(&tail, "the"), ["The Who live"]);
}

/// Prior art, report 17.
#[test]
fn any_language_is_found_without_a_dictionary() {
    let contents = [
        "новосибирск красный проспект",
        "采购订单自动审批流程",
        "即适者生存",
    ];
    let tail = tail(&contents);
    assert_eq!(found(&tail, "Новосибирск"), [contents[0]]);
    assert_eq!(found(&tail, "审批流程"), [contents[1]]);
    assert!(found(&tail, "止损").is_empty());
}

#[test]
fn scopes_inherit_upwards_and_reach_downwards() {
    let mut tail = Tail::new();
    for scope in ["", "a", "a/b", "a/b/c", "ab"] {
        let path = ScopePath::parse(scope).expect("a scope");
        tail.upsert(Arc::new(Record::new(scope, path, "note", 0)));
    }
    let path = ScopePath::parse("a/b").expect("a scope");
    for (scope, expected) in [
        (ScopeFilter::All, vec!["", "a", "a/b", "a/b/c", "ab"]),
        (ScopeFilter::Exact(path.clone()), vec!["a/b"]),
        (ScopeFilter::Inherited(path.clone()), vec!["", "a", "a/b"]),
        (ScopeFilter::Below(path), vec!["a/b", "a/b/c"]),
    ] {
        assert_eq!(
            ids(&ask(
                &tail,
                Query {
                    scope,
                    ..keywords("note")
                }
            )),
            expected
        );
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_search_fail(
        contents in prop::collection::vec(any::<String>(), 0..4),
        query in any::<String>(),
        vector in prop::collection::vec(-1.0_f32..1.0, 1..4),
    ) {
        let mut tail = Tail::new();
        for (number, content) in contents.iter().enumerate() {
            tail.upsert(Arc::new(Record::new(number.to_string(), ScopePath::root(), content, 0)));
        }
        let vector = VectorSource::Given { profile: "p".to_owned(), values: vector };
        let answer = ask(&tail, Query { mode: Mode::Hybrid, vector, ..keywords(&query) });
        for hit in &answer.hits {
            prop_assert!(hit.score.is_finite() && hit.score > 0.0);
            let shown = snippet(&hit.record.content, &hit.terms, hit.chunk, 20);
            prop_assert!(shown.text.len() <= 20);
        }
    }
}
