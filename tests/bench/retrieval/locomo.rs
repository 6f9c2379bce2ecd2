//! LoCoMo at turn level: the importer loads every turn, a scope for each conversation,
//! and each question is asked in its conversation's scope, by words, by meaning and by
//! both. Counted are the questions whose evidence names turns that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use ostraca_memory::embed::EmbedderSettings;
use ostraca_memory::{Mode, RecallRequest, ScopeSelector, ScopesRequest, Session, parse_scope};
use regex::Regex;
use serde_json::{Value as Json, json};

use crate::measures::{ndcg_at_10, summary};
use crate::{MODES, Outcome, fold, open};

/// The conversations from this one on, counted from 0, had no part in choosing how lanes
/// are fused.
const HELD_OUT: usize = 5;
/// The category of questions whose premise is false, which most reports leave out.
const ADVERSARIAL: u64 = 5;

/// A question, and the turns that answer it.
struct Question {
    conversation: usize,
    category: u64,
    text: String,
    scope: ScopeSelector,
    evidence: BTreeSet<String>,
}

pub async fn measure(file: &Path, embedder: Option<&EmbedderSettings>) -> Outcome<Json> {
    let folder = tempfile::tempdir()?;
    import(file, folder.path(), embedder)?;
    let log = ask_all(&open(folder.path(), embedder)?, file, embedder).await?;
    fold(folder.path()).await?;
    let folded = ask_all(&open(folder.path(), embedder)?, file, embedder).await?;
    Ok(json!({
        "unit": "turn, in the scope of its conversation",
        "log": log,
        "folded": folded,
    }))
}

async fn ask_all(
    session: &Session,
    file: &Path,
    embedder: Option<&EmbedderSettings>,
) -> Outcome<Json> {
    let cold = session.scopes(ScopesRequest::default()).await?;
    let turns: u64 = cold.scopes.iter().map(|scope| scope.memories).sum();
    let questions = questions(file)?;
    let modes = if embedder.is_some() {
        &MODES[..]
    } else {
        &MODES[..1]
    };
    let mut found = Vec::new();
    for question in &questions {
        let mut by_mode = BTreeMap::new();
        for (name, mode) in modes {
            by_mode.insert(*name, ask(session, question, *mode).await?);
        }
        found.push(by_mode);
    }
    let of = |counts: &dyn Fn(&Question) -> bool| {
        let counted = questions.iter().zip(&found);
        summary(
            counted
                .filter(|(question, _)| counts(question))
                .map(|(_, found)| found),
        )
    };
    let held_out = |question: &Question| question.conversation >= HELD_OUT;
    let mut measured = json!({
        "turns": turns,
        "all": of(&|_| true),
        "all_but_adversarial": of(&|question| question.category != ADVERSARIAL),
        "held_out": of(&held_out),
        "held_out_but_adversarial": of(&|question| held_out(question) && question.category != ADVERSARIAL),
        "cold_read": { "gets": cold.receipt.gets, "lists": cold.receipt.lists, "steps": cold.receipt.steps, "bytes": cold.receipt.bytes_read },
    });
    if embedder.is_none() {
        measured["semantic, hybrid"] =
            json!("skipped: OSTRACA_EMBED_URL and OSTRACA_EMBED_MODEL name no endpoint");
    }
    Ok(measured)
}

/// What one question finds, by measure.
async fn ask(
    session: &Session,
    question: &Question,
    mode: Mode,
) -> Outcome<BTreeMap<&'static str, f64>> {
    let request = RecallRequest {
        query: Some(question.text.clone()),
        mode: Some(mode),
        scope: question.scope.clone(),
        limit: Some(100),
        ..RecallRequest::default()
    };
    let reply = session.recall(request).await?;
    if !reply.receipt.degraded.is_empty() {
        return Err(format!("{}: {:?}", question.text, reply.receipt.degraded).into());
    }
    let is_evidence: Vec<bool> = reply
        .hits
        .iter()
        .map(|hit| {
            let key = hit.record.key.as_ref();
            key.is_some_and(|key| question.evidence.contains(key))
        })
        .collect();
    let first = (1_u32..)
        .zip(&is_evidence)
        .find_map(|(rank, found)| found.then_some(rank));
    let among_ten = is_evidence.iter().take(10).filter(|found| **found).count();
    let within = |most: u32| f64::from(u8::from(first.is_some_and(|rank| rank <= most)));
    let grades: Vec<f64> = is_evidence
        .iter()
        .map(|found| f64::from(u8::from(*found)))
        .collect();
    let count = question.evidence.len();
    Ok(BTreeMap::from([
        ("any@10", within(10)),
        ("any@5", within(5)),
        ("mrr", first.map_or(0.0, |rank| 1.0 / f64::from(rank))),
        ("ndcg@10", ndcg_at_10(&grades, &vec![1.0; count])),
        ("recall@10", among_ten as f64 / count as f64),
    ]))
}

fn questions(file: &Path) -> Outcome<Vec<Question>> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads its input")]
    let samples: Json = serde_json::from_slice(&std::fs::read(file)?)?;
    let id_in_evidence = Regex::new(r"D\d+:\d+")?;
    let mut questions = Vec::new();
    for (conversation, sample) in list(&samples).iter().enumerate() {
        let existing = turn_ids(sample);
        let path = format!("locomo/{}", text(sample, "sample_id"));
        let scope = ScopeSelector::exact(parse_scope("scope", &path)?);
        for question in list(&sample["qa"]) {
            let ids = list(&question["evidence"]).iter().filter_map(Json::as_str);
            let evidence: BTreeSet<String> = ids
                .flat_map(|ids| id_in_evidence.find_iter(ids))
                .map(|id| id.as_str().to_owned())
                .filter(|id| existing.contains(id))
                .collect();
            if !evidence.is_empty() {
                questions.push(Question {
                    conversation,
                    category: question["category"].as_u64().unwrap_or_default(),
                    text: text(question, "question").to_owned(),
                    scope: scope.clone(),
                    evidence,
                });
            }
        }
    }
    Ok(questions)
}

/// Runs the command that a user runs.
fn import(file: &Path, folder: &Path, embedder: Option<&EmbedderSettings>) -> Outcome<()> {
    let mut command = Command::new(ostraca_tests::tools::ostraca()?);
    command.args(["import", "--format", "locomo", "--store"]);
    command.arg(folder).arg(file);
    if let Some(embedder) = embedder {
        command.args([
            "--embed-url",
            &embedder.url,
            "--embed-model",
            &embedder.model,
        ]);
        command.args(["--embed-timeout", "10m"]);
    }
    let status = command.status()?;
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
