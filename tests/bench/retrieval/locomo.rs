//! LoCoMo at turn level: the importer loads every turn, a scope for each conversation,
//! and each question is asked in its conversation's scope. Counted are the questions
//! whose evidence names turns that exist.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use ostraca_memory::{Mode, RecallRequest, ScopeSelector, ScopesRequest, parse_scope};
use regex::Regex;
use serde_json::{Value as Json, json};

use crate::{Outcome, open};

pub async fn measure(file: &Path) -> Outcome<Json> {
    let folder = tempfile::tempdir()?;
    import(file, folder.path())?;
    let session = open(folder.path())?;
    let cold = session.scopes(ScopesRequest::default()).await?;
    let turns: u64 = cold.scopes.iter().map(|scope| scope.memories).sum();
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads its input")]
    let samples: Json = serde_json::from_slice(&std::fs::read(file)?)?;
    let id_in_evidence = Regex::new(r"D\d+:\d+")?;
    let (mut asked, mut any, mut recall, mut reciprocal) = (0_u32, 0_u32, 0.0, 0.0);
    for sample in list(&samples) {
        let existing = turn_ids(sample);
        let path = format!("locomo/{}", text(sample, "sample_id"));
        let scope = ScopeSelector::exact(parse_scope("scope", &path)?);
        for question in list(&sample["qa"]) {
            let evidence: BTreeSet<String> = list(&question["evidence"])
                .iter()
                .filter_map(Json::as_str)
                .flat_map(|ids| {
                    id_in_evidence
                        .find_iter(ids)
                        .map(|id| id.as_str().to_owned())
                })
                .filter(|id| existing.contains(id))
                .collect();
            if evidence.is_empty() {
                continue;
            }
            let request = RecallRequest {
                query: Some(text(question, "question").to_owned()),
                mode: Some(Mode::Keyword),
                scope: scope.clone(),
                limit: Some(100),
                ..RecallRequest::default()
            };
            let reply = session.recall(request).await?;
            let keys = reply
                .hits
                .iter()
                .map(|hit| hit.record.key.clone().unwrap_or_default());
            let ranks: Vec<u32> = (1..)
                .zip(keys)
                .filter(|(_, key)| evidence.contains(key))
                .map(|(rank, _)| rank)
                .collect();
            asked += 1;
            any += u32::from(ranks.first().is_some_and(|rank| *rank <= 10));
            reciprocal += ranks.first().map_or(0.0, |rank| 1.0 / f64::from(*rank));
            recall +=
                ranks.iter().filter(|rank| **rank <= 10).count() as f64 / evidence.len() as f64;
        }
    }
    let n = f64::from(asked);
    Ok(json!({
        "unit": "turn, in the scope of its conversation, by keywords",
        "turns": turns,
        "questions": asked,
        "any@10": f64::from(any) / n,
        "recall@10": recall / n,
        "mrr": reciprocal / n,
        "cold_read": { "gets": cold.receipt.gets, "lists": cold.receipt.lists, "steps": cold.receipt.steps, "bytes": cold.receipt.bytes_read },
    }))
}

/// Runs the command that a user runs.
fn import(file: &Path, folder: &Path) -> Outcome<()> {
    let status = Command::new(ostraca_tests::tools::ostraca()?)
        .args(["import", "--format", "locomo", "--store"])
        .arg(folder)
        .arg(file)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the import ended with {status}").into())
    }
}

fn turn_ids(sample: &Json) -> BTreeSet<String> {
    let sessions = sample["conversation"]
        .as_object()
        .into_iter()
        .flat_map(|sessions| sessions.values());
    sessions
        .flat_map(list)
        .map(|turn| text(turn, "dia_id").to_owned())
        .collect()
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(json: &'a Json, name: &str) -> &'a str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}
