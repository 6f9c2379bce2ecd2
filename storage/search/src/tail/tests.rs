use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::answer::Answer;
use crate::bm25::Bm25;
use crate::query::{Mode, Query};
use crate::record::{Chunk, ScopePath};
use crate::segment::Replaced;
use crate::text::{QueryTerm, QueryTerms};
use crate::{Search, Snapshot};

fn record(id: &str, content: &str, updated: i64) -> Arc<Record> {
    Arc::new(Record {
        updated,
        ..Record::new(id, ScopePath::root(), content, 0)
    })
}

fn ask(tail: &Tail, text: &str) -> Answer {
    let query = Query {
        text: Some(text.to_owned()),
        mode: Mode::Keyword,
        limit: usize::MAX,
        ..Query::new(0)
    };
    let nothing = Replaced::default();
    match Search::new(query, None).step(&Snapshot::of_tail(tail, &nothing)) {
        Ok(crate::Step::Done(answer)) => answer,
        other => panic!("{other:?}"),
    }
}

/// Ids and the bits of their scores: equal means equal to the last bit.
fn scores(tail: &Tail, text: &str) -> Vec<(String, u64)> {
    ask(tail, text)
        .hits
        .iter()
        .map(|hit| (hit.record.id.clone(), hit.score.to_bits()))
        .collect()
}

const WORDS: [&str; 8] = [
    "pump",
    "valve",
    "the",
    "seal",
    "motor",
    "BENCH-7",
    "腾讯云",
    "oil",
];

fn any_content() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..8)
        .prop_map(|words| words.join(" "))
}

#[derive(Debug, Clone)]
enum Step {
    Upsert(u8, String),
    Remove(u8),
}

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_u8..12, any_content()).prop_map(|(id, content)| Step::Upsert(id, content)),
        1 => (0_u8..12).prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 0..60)
}

/// BM25 straight from its definition, over the records alone.
fn oracle(records: &BTreeMap<String, Arc<Record>>, text: &str) -> BTreeMap<String, f64> {
    let analysed: BTreeMap<&String, DocumentTerms> = records
        .iter()
        .map(|(id, record)| (id, DocumentTerms::of(record.texts())))
        .collect();
    let n = analysed.len() as f64;
    let average = analysed
        .values()
        .map(|terms| f64::from(terms.length))
        .sum::<f64>()
        / n;
    let Bm25 { k1, b } = Bm25::default();
    let mut scores = BTreeMap::new();
    for (term, QueryTerm { count, .. }) in QueryTerms::of(text).terms {
        let df = analysed
            .values()
            .filter(|terms| terms.counts.contains_key(&term))
            .count() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        for (id, terms) in &analysed {
            let Some(tf) = terms.counts.get(&term).map(|tf| f64::from(*tf)) else {
                continue;
            };
            let norm = if average > 0.0 {
                1.0 - b + b * f64::from(terms.length) / average
            } else {
                1.0
            };
            *scores.entry((*id).clone()).or_insert(0.0) +=
                f64::from(count) * idf * tf / (tf + k1 * norm);
        }
    }
    scores
}

proptest! {
    #[test]
    fn any_history_scores_as_if_built_afresh(steps in any_steps(), query in any_content()) {
        let mut tail = Tail::new();
        let mut model: BTreeMap<String, Arc<Record>> = BTreeMap::new();
        for (time, step) in (0..).zip(steps) {
            match step {
                Step::Upsert(id, content) => {
                    let record = record(&id.to_string(), &content, time);
                    let replaced = tail.upsert(Arc::clone(&record));
                    prop_assert_eq!(replaced, model.insert(record.id.clone(), record));
                }
                Step::Remove(id) => {
                    let id = id.to_string();
                    prop_assert_eq!(tail.remove(&id), model.remove(&id));
                }
            }
        }
        let mut rebuilt = Tail::new();
        for record in model.values().rev() {
            rebuilt.upsert(Arc::clone(record));
        }
        prop_assert_eq!(tail.len(), model.len());
        prop_assert_eq!(scores(&tail, &query), scores(&rebuilt, &query));

        let expected = oracle(&model, &query);
        let found = ask(&tail, &query);
        prop_assert_eq!(found.hits.len(), expected.len());
        for hit in &found.hits {
            prop_assert!((hit.score - expected[&hit.record.id]).abs() < 1e-9);
        }
        prop_assert!(found.hits.is_sorted_by(|a, b| a.score >= b.score));
    }
}

#[test]
fn compacting_keeps_scores_and_frees_the_dead() {
    let mut tail = Tail::new();
    for round in 0..40 {
        for id in 0..50 {
            tail.upsert(record(
                &format!("r{id}"),
                &format!("pump number {id} round {round}"),
                round,
            ));
        }
    }
    assert_eq!(tail.len(), 50);
    assert!(
        tail.numbers_end() <= 50 + MIN_DEAD + 1,
        "{}",
        tail.numbers_end()
    );
    let mut fresh = Tail::new();
    for id in 0..50 {
        fresh.upsert(record(
            &format!("r{id}"),
            &format!("pump number {id} round 39"),
            39,
        ));
    }
    assert_eq!(
        scores(&tail, "pump number 7 round"),
        scores(&fresh, "pump number 7 round")
    );
    assert!(ask(&tail, "38").hits.len() <= 1, "only `number 38` is left");
    for id in 0..50 {
        assert_eq!(
            tail.remove(&format!("r{id}")).map(|record| record.updated),
            Some(39)
        );
    }
    assert!(tail.is_empty());
    assert!(ask(&tail, "pump").hits.is_empty());
}

#[test]
fn a_change_that_leaves_the_texts_alone_is_seen() {
    let mut tail = Tail::new();
    tail.upsert(record("a", "pump", 1));
    let mut changed = (*record("a", "pump", 2)).clone();
    changed.embedding = Embedding::Ready {
        profile: "p".to_owned(),
        chunks: vec![Chunk {
            start: 0,
            end: 4,
            vector: vec![1.0, 0.0],
        }],
    };
    tail.upsert(Arc::new(changed));
    assert_eq!(tail.get("a").map(|record| record.updated), Some(2));
    assert_eq!(tail.dimension("p"), Some(2));
    tail.upsert(record("a", "pump", 3));
    assert_eq!(tail.dimension("p"), None);
    assert_eq!(tail.len(), 1);
}

#[test]
fn the_most_frequent_dimension_is_the_profiles() {
    let mut tail = Tail::new();
    for (id, dimension) in [("a", 3), ("b", 3), ("c", 2)] {
        let mut embedded = (*record(id, id, 0)).clone();
        embedded.embedding = Embedding::Ready {
            profile: "p".to_owned(),
            chunks: vec![Chunk {
                start: 0,
                end: 1,
                vector: vec![1.0; dimension],
            }],
        };
        tail.upsert(Arc::new(embedded));
    }
    assert_eq!(tail.dimension("p"), Some(3));
    tail.remove("a");
    assert_eq!(tail.dimension("p"), Some(2), "of equals the smaller");
    assert_eq!(tail.dimension("other"), None);
}
