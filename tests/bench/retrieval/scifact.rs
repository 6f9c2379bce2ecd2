//! SciFact: every abstract is remembered with its title and its vector, and each test
//! claim recalled by words, by its vector, and by both.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use ostraca_memory::{NewMemory, RecallRequest, RememberRequest, Session};
use serde_json::{Value as Json, json};

use crate::measures::{ndcg_at_10, summary};
use crate::{MODES, Outcome, fold, npy, open};

type Grades = BTreeMap<String, f64>;

pub async fn measure(folder: &Path) -> Outcome<Json> {
    let store = tempfile::tempdir()?;
    let abstracts = load(&open(store.path(), None)?, folder).await?;
    let log = ask(&open(store.path(), None)?, folder).await?;
    fold(store.path()).await?;
    let folded = ask(&open(store.path(), None)?, folder).await?;
    Ok(json!({ "abstracts": abstracts, "log": log, "folded": folded }))
}

async fn ask(session: &Session, folder: &Path) -> Outcome<Json> {
    let claims = claims(folder)?;
    let judged = judgements(folder)?;
    let vectors = npy::rows(&read(&folder.join("scifact_minilm_q.npy"))?)?;
    let mut found = Vec::new();
    for ((claim, grades), vector) in judged.iter().zip(vectors) {
        let mut by_mode = BTreeMap::new();
        for (name, mode) in MODES {
            let request = RecallRequest {
                query: claims.get(claim).cloned(),
                vector: Some(vector.clone()),
                mode: Some(mode),
                limit: Some(10),
                ..RecallRequest::default()
            };
            let hits = session.recall(request).await?.hits;
            let of_hits: Vec<f64> = hits
                .iter()
                .map(|hit| {
                    let key = hit.record.key.as_ref();
                    key.and_then(|key| grades.get(key)).copied().unwrap_or(0.0)
                })
                .collect();
            let of_all: Vec<f64> = grades.values().copied().collect();
            let gain = ndcg_at_10(&of_hits, &of_all);
            by_mode.insert(name, BTreeMap::from([("ndcg@10", gain)]));
        }
        found.push(by_mode);
    }
    Ok(summary(found.iter()))
}

async fn load(session: &Session, folder: &Path) -> Outcome<usize> {
    let vectors = npy::rows(&read(&folder.join("scifact_minilm_docs.npy"))?)?;
    let mut corpus = String::new();
    flate2::read::GzDecoder::new(read(&folder.join("corpus.jsonl.gz"))?.as_slice())
        .read_to_string(&mut corpus)?;
    let mut items = Vec::new();
    for (line, vector) in corpus.lines().zip(vectors) {
        let document: Json = serde_json::from_str(line)?;
        items.push(NewMemory {
            content: text(&document, "text"),
            title: Some(text(&document, "title")),
            key: Some(text(&document, "_id")),
            vector: Some(vector),
            ..NewMemory::default()
        });
    }
    let count = items.len();
    while !items.is_empty() {
        let batch = items.drain(..items.len().min(500)).collect();
        let reply = session
            .remember(RememberRequest {
                items: batch,
                idempotency_key: None,
            })
            .await?;
        for item in reply.items {
            item?;
        }
    }
    Ok(count)
}

fn claims(folder: &Path) -> Outcome<BTreeMap<String, String>> {
    let lines = String::from_utf8(read(&folder.join("queries.jsonl"))?)?;
    lines
        .lines()
        .map(|line| {
            let claim: Json = serde_json::from_str(line)?;
            Ok((text(&claim, "_id"), text(&claim, "text")))
        })
        .collect()
}

/// The test claims in the order of the query vectors, each with its graded abstracts.
fn judgements(folder: &Path) -> Outcome<Vec<(String, Grades)>> {
    let lines = String::from_utf8(read(&folder.join("qrels_test.tsv"))?)?;
    let mut judged: Vec<(String, Grades)> = Vec::new();
    for line in lines.lines().skip(1) {
        let [claim, document, grade] = line.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        if judged.iter().all(|(known, _)| known != claim) {
            judged.push((claim.to_owned(), Grades::new()));
        }
        if let Some((_, grades)) = judged.iter_mut().find(|(known, _)| known == claim) {
            grades.insert(document.to_owned(), grade.trim().parse()?);
        }
    }
    Ok(judged)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads its input")]
fn read(path: &Path) -> Outcome<Vec<u8>> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn text(json: &Json, name: &str) -> String {
    json.get(name)
        .and_then(Json::as_str)
        .unwrap_or_default()
        .to_owned()
}
