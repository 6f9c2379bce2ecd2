use std::sync::Arc;

use super::*;
use crate::answer::Degraded;
use crate::query::{Mode, VectorSource};
use crate::record::{Chunk, Embedding, Record, ScopePath};
use crate::segment::Replaced;
use crate::tail::Tail;

const PROFILE: &str = "minilm";

fn embedded(id: &str, content: &str, vectors: &[&[f32]]) -> Arc<Record> {
    let mut record = Record::new(id, ScopePath::root(), content, 0);
    let chunks = (0..).zip(vectors).map(|(index, vector)| Chunk {
        start: index * 10,
        end: index * 10 + 10,
        vector: vector.to_vec(),
    });
    record.embedding = Embedding::Ready {
        profile: PROFILE.to_owned(),
        chunks: chunks.collect(),
    };
    Arc::new(record)
}

fn tail(records: impl IntoIterator<Item = Arc<Record>>) -> Tail {
    let mut tail = Tail::new();
    for record in records {
        tail.upsert(record);
    }
    tail
}

fn given(values: &[f32]) -> VectorSource {
    VectorSource::Given {
        profile: PROFILE.to_owned(),
        values: values.to_vec(),
    }
}

fn query(text: &str, mode: Mode, vector: VectorSource) -> Query {
    Query {
        text: Some(text.to_owned()),
        mode,
        vector,
        ..Query::new(1000)
    }
}

fn run(tail: &Tail, query: Query) -> Result<Answer, SearchError> {
    run_with(tail, query, None)
}

fn run_with(
    tail: &Tail,
    query: Query,
    vector: Option<Result<Vec<f32>, VectorUnavailable>>,
) -> Result<Answer, SearchError> {
    let nothing = Replaced::default();
    match Search::new(query, vector).step(&Snapshot::of_tail(tail, &nothing))? {
        Step::Done(answer) => Ok(answer),
        Step::Need(reads) => panic!("needs {reads:?}"),
    }
}

fn ids(answer: &Answer) -> Vec<&str> {
    answer
        .hits
        .iter()
        .map(|hit| hit.record.id.as_str())
        .collect()
}

#[test]
fn the_best_chunk_counts_and_is_reported() {
    let tail = tail([
        embedded("far", "x", &[&[0.0, 1.0]]),
        embedded("near", "x", &[&[0.0, 1.0], &[2.0, 0.1], &[0.0, -1.0]]),
    ]);
    let answer = run(&tail, query("anything", Mode::Semantic, given(&[3.0, 0.0]))).unwrap();
    assert_eq!(ids(&answer), ["near", "far"]);
    assert_eq!(answer.hits[0].chunk, Some((10, 20)));
    assert!(answer.hits[0].score > 0.99 && answer.hits[0].keyword.is_none());
}

#[test]
fn a_dimension_mismatch_says_both() {
    let tail = tail([embedded("a", "x", &[&[0.5; 768]])]);
    let refused = run(&tail, query("x", Mode::Hybrid, given(&[0.5; 512]))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "query vector of profile `minilm`: expected 768 got 512"
    );
    let refused = run(&tail, query("x", Mode::Hybrid, given(&[f32::NAN; 768]))).unwrap_err();
    assert!(matches!(
        refused,
        SearchError::Vector(crate::vector::VectorError::NotFinite { position: 0 })
    ));
}

#[test]
fn a_zero_vector_is_found_last_with_score_zero() {
    let tail = tail([
        embedded("zero", "x", &[&[0.0, 0.0]]),
        embedded("one", "x", &[&[1.0, 0.0]]),
    ]);
    let answer = run(&tail, query("q", Mode::Semantic, given(&[1.0, 1.0]))).unwrap();
    assert_eq!(ids(&answer), ["one", "zero"]);
    assert_eq!(answer.hits[1].score.to_bits(), 0.0_f64.to_bits());
    let answer = run(&tail, query("q", Mode::Semantic, given(&[0.0, 0.0]))).unwrap();
    assert!(answer.hits.iter().all(|hit| hit.score == 0.0));
}

#[test]
fn vectors_of_another_profile_are_counted_and_not_compared() {
    let mut other = (*embedded("other", "pump", &[&[1.0, 0.0, 0.0]])).clone();
    if let Embedding::Ready { profile, .. } = &mut other.embedding {
        "older".clone_into(profile);
    }
    let mut pending = Record::new("pending", ScopePath::root(), "pump", 0);
    pending.embedding = Embedding::Pending {
        profile: PROFILE.to_owned(),
    };
    let mut broken = (*embedded("broken", "pump", &[&[f32::NAN, 0.0]])).clone();
    broken.updated = 1;
    let none = Record::new("none", ScopePath::root(), "pump", 0);
    let tail = tail([
        Arc::new(other),
        Arc::new(pending),
        Arc::new(broken),
        Arc::new(none),
        embedded("ready", "pump", &[&[1.0, 0.0]]),
    ]);
    let answer = run(&tail, query("pump", Mode::Semantic, given(&[1.0, 0.0]))).unwrap();
    assert_eq!(ids(&answer), ["ready"]);
    assert_eq!(
        (
            answer.coverage.records,
            answer.coverage.embedded,
            answer.coverage.pending
        ),
        (5, 1, 3)
    );
    let answer = run(&tail, query("pump", Mode::Hybrid, given(&[1.0, 0.0]))).unwrap();
    assert_eq!(answer.hits.len(), 5);
    assert_eq!(answer.hits[0].record.id, "ready");
}

#[test]
fn a_failed_vector_leaves_keywords_and_says_so() {
    let tail = tail([
        embedded("a", "pump", &[&[1.0]]),
        embedded("b", "valve", &[&[1.0]]),
    ]);
    for mode in [Mode::Hybrid, Mode::Semantic] {
        let awaited = VectorSource::Awaited {
            profile: PROFILE.to_owned(),
        };
        let mut asked = query("pump", mode, awaited);
        asked.min_score = Some(0.9);
        let failure = VectorUnavailable {
            reason: "timeout after 2 s".to_owned(),
        };
        let answer = run_with(&tail, asked, Some(Err(failure))).unwrap();
        assert_eq!(ids(&answer), ["a"], "{mode:?}");
        assert_eq!(
            answer.degraded,
            [Degraded::QueryVector {
                reason: "timeout after 2 s".to_owned()
            }]
        );
        assert!(answer.hits[0].semantic.is_none());
    }
}

#[test]
fn without_an_embedding_recall_says_so() {
    let tail = tail([embedded("a", "pump", &[&[1.0]])]);
    let answer = run(&tail, query("pump", Mode::Hybrid, VectorSource::None)).unwrap();
    assert_eq!(answer.degraded, [Degraded::NoEmbedding]);
    assert!(
        run(&tail, query("pump", Mode::Keyword, VectorSource::None))
            .unwrap()
            .degraded
            .is_empty()
    );
}

#[test]
fn hybrid_weighs_both_scores_and_reports_the_lanes() {
    let tail = tail([
        embedded("both", "pump manual", &[&[1.0, 0.0]]),
        embedded("words", "pump manual pump manual", &[&[0.0, 1.0]]),
        embedded("meaning", "Handbuch", &[&[0.9, 0.1]]),
    ]);
    let answer = run(
        &tail,
        query("pump manual", Mode::Hybrid, given(&[1.0, 0.0])),
    )
    .unwrap();
    assert_eq!(answer.hits[0].record.id, "both");
    assert_eq!(answer.matched, 3);
    let both = &answer.hits[0];
    assert_eq!(
        (both.keyword.unwrap().rank, both.semantic.unwrap().rank),
        (2, 1)
    );
    assert!(both.score > 0.85 && both.score < 1.0, "{}", both.score);
    assert!(
        answer
            .hits
            .windows(2)
            .all(|pair| pair[0].score > pair[1].score)
    );
    assert_eq!(both.terms, ["pump", "manual"]);
    let meaning = answer
        .hits
        .iter()
        .find(|hit| hit.record.id == "meaning")
        .unwrap();
    assert!(meaning.keyword.is_none() && meaning.terms.is_empty());
}

/// prior art, report 27.
#[test]
fn nonsense_text_leaves_the_vector_order_without_repeats() {
    let tail = tail([
        embedded("a", "x", &[&[0.0, 1.0]]),
        embedded("b", "y", &[&[1.0, 0.0]]),
    ]);
    for text in ["qqqqq zzzzz", "!!!"] {
        let answer = run(&tail, query(text, Mode::Hybrid, given(&[1.0, 0.0]))).unwrap();
        assert_eq!(ids(&answer), ["b", "a"], "{text}");
    }
}

#[test]
fn minimum_scores_are_on_each_modes_own_scale() {
    let tail = tail([
        embedded("near", "pump", &[&[1.0, 0.0]]),
        embedded("far", "valve", &[&[0.0, 1.0]]),
    ]);
    let with = |mode, least| {
        let mut asked = query("pump", mode, given(&[1.0, 0.2]));
        asked.min_score = Some(least);
        run(&tail, asked).unwrap()
    };
    assert_eq!(ids(&with(Mode::Semantic, 0.5)), ["near"]);
    assert_eq!(ids(&with(Mode::Hybrid, 1.0)), ["near"]);
    assert_eq!(ids(&with(Mode::Hybrid, 0.0)), ["near", "far"]);
    assert_eq!(with(Mode::Keyword, 1e6).hits.len(), 0);
    assert_eq!(with(Mode::Semantic, 0.5).matched, 1);
}

#[test]
fn without_text_and_vector_the_newest_come_first() {
    let mut old = Record::new("old", ScopePath::root(), "x", 0);
    old.updated = 5;
    let mut new = old.clone();
    "new".clone_into(&mut new.id);
    new.updated = 6;
    let mut tie = old.clone();
    "late".clone_into(&mut tie.id);
    let tail = tail([old, new, tie].map(Arc::new));
    let listing = Query {
        limit: 2,
        ..Query::new(10)
    };
    let answer = run(&tail, listing).unwrap();
    assert_eq!(ids(&answer), ["new", "late"]);
    assert_eq!(answer.matched, 3);
    assert!(answer.degraded.is_empty());
}
