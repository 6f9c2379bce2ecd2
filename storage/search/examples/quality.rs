//! Retrieval quality on public data sets, through the same `Search` that serves.
//!
//! It is an example and not a test because the data sets are not in the repository: it
//! reads their paths from `OSTRACA_LOCOMO` (the JSON file) and `OSTRACA_SCIFACT` (the
//! folder, in BEIR layout, with MiniLM vectors), skips what is unset and says so,
//! prints one JSON object, and fails if a floor is missed. Run it with `--release`.

#![expect(
    clippy::doc_markdown,
    reason = "data sets and models have names in camel case"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark names its inputs by environment variables and reads files"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ostraca_search::{
    Answer, Checkpoint, Chunk, Embedding, Fetched, Mode, Query, Record, ScopeFilter, ScopePath,
    Search, Step, Tail, VectorSource,
};
use regex::Regex;
use serde_json::{Value as Json, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What BM25 alone has to reach on LoCoMo, turn level, and on SciFact.
const LOCOMO_ANY_AT_10: f64 = 0.70;
const LOCOMO_MRR: f64 = 0.48;
const SCIFACT_KEYWORD_NDCG: f64 = 0.67;
/// What both lanes have to reach on SciFact with MiniLM vectors.
const SCIFACT_HYBRID_NDCG: f64 = 0.714;

const PROFILE: &str = "all-MiniLM-L6-v2";

fn main() -> Outcome<ExitCode> {
    let mut report = serde_json::Map::new();
    let mut missed: Vec<String> = Vec::new();
    match std::env::var("OSTRACA_LOCOMO") {
        Ok(path) => {
            let measured = locomo(Path::new(&path))?;
            hold(&measured, "any@10", LOCOMO_ANY_AT_10, &mut missed);
            hold(&measured, "mrr", LOCOMO_MRR, &mut missed);
            report.insert("locomo".to_owned(), measured);
        }
        Err(_) => {
            report.insert(
                "locomo".to_owned(),
                json!("skipped: OSTRACA_LOCOMO is not set"),
            );
        }
    }
    match std::env::var("OSTRACA_SCIFACT") {
        Ok(path) => {
            let measured = scifact(Path::new(&path))?;
            hold(
                &measured,
                "keyword_ndcg@10",
                SCIFACT_KEYWORD_NDCG,
                &mut missed,
            );
            hold(
                &measured,
                "hybrid_ndcg@10",
                SCIFACT_HYBRID_NDCG,
                &mut missed,
            );
            report.insert("scifact".to_owned(), measured);
        }
        Err(_) => {
            report.insert(
                "scifact".to_owned(),
                json!("skipped: OSTRACA_SCIFACT is not set"),
            );
        }
    }
    let failed = !missed.is_empty();
    report.insert("missed".to_owned(), json!(missed));
    writeln!(std::io::stdout(), "{:#}", Json::Object(report))?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn hold(measured: &Json, name: &str, floor: f64, missed: &mut Vec<String>) {
    let value = measured.get(name).and_then(Json::as_f64).unwrap_or(0.0);
    if value < floor {
        missed.push(format!("{name} is {value:.4}, floor {floor}"));
    }
}

/// LoCoMo at turn level: every turn of every conversation in one collection, a
/// scope for each conversation, and each question asked in its conversation's scope.
fn locomo(path: &Path) -> Outcome<Json> {
    let conversations: Vec<Json> = serde_json::from_slice(&fs::read(path)?)?;
    let evidence_id = Regex::new(r"D\d+:\d+")?;
    let mut tail = Tail::new();
    let mut questions: Vec<(ScopePath, String, Vec<String>)> = Vec::new();
    for conversation in &conversations {
        let sample = text(conversation, "sample_id");
        let scope = ScopePath::parse(&format!("locomo/{sample}"))?;
        let turns = turns(conversation);
        for (id, content) in &turns {
            let id = format!("{sample}/{id}");
            tail.upsert(Arc::new(Record::new(id, scope.clone(), content.clone(), 0)));
        }
        for qa in list(conversation, "qa") {
            let evidence: Vec<String> = list(qa, "evidence")
                .iter()
                .filter_map(Json::as_str)
                .flat_map(|ids| {
                    evidence_id
                        .find_iter(ids)
                        .map(|found| found.as_str().to_owned())
                })
                .filter(|id| turns.contains_key(id))
                .map(|id| format!("{sample}/{id}"))
                .collect();
            if !evidence.is_empty() {
                questions.push((scope.clone(), text(qa, "question").to_owned(), evidence));
            }
        }
    }
    let (mut any, mut reciprocal, mut recall) = (0_u32, 0.0, 0.0);
    for (scope, question, evidence) in &questions {
        let answer = ask(
            &tail,
            Query {
                text: Some(question.clone()),
                mode: Mode::Keyword,
                scope: ScopeFilter::Exact(scope.clone()),
                limit: usize::MAX,
                ..Query::new(0)
            },
        )?;
        let ranks: Vec<usize> = (1..)
            .zip(&answer.hits)
            .filter(|(_, hit)| evidence.contains(&hit.record.id))
            .map(|(rank, _)| rank)
            .collect();
        any += u32::from(ranks.first().is_some_and(|rank| *rank <= 10));
        reciprocal += ranks.first().map_or(0.0, |rank| 1.0 / *rank as f64);
        let distinct: std::collections::BTreeSet<&String> = evidence.iter().collect();
        recall += ranks.iter().filter(|rank| **rank <= 10).count() as f64 / distinct.len() as f64;
    }
    let n = questions.len() as f64;
    Ok(json!({
        "unit": "turn, one collection, scope of the conversation, BM25 alone",
        "turns": tail.len(),
        "n": questions.len(),
        "any@10": f64::from(any) / n,
        "recall@10": recall / n,
        "mrr": reciprocal / n,
    }))
}

/// The turns of a conversation by id, as "date speaker: text [image: caption]".
fn turns(conversation: &Json) -> BTreeMap<String, String> {
    let mut turns = BTreeMap::new();
    let Some(Json::Object(sessions)) = conversation.get("conversation") else {
        return turns;
    };
    for (name, session) in sessions {
        let date = sessions
            .get(&format!("{name}_date_time"))
            .and_then(Json::as_str)
            .unwrap_or_default();
        for turn in session.as_array().into_iter().flatten() {
            let mut content = format!("{date} {}: {}", text(turn, "speaker"), text(turn, "text"));
            if let Some(caption) = turn.get("blip_caption").and_then(Json::as_str) {
                content = format!("{content} [image: {caption}]");
            }
            turns.insert(text(turn, "dia_id").to_owned(), content);
        }
    }
    turns
}

/// SciFact's test claims over all abstracts.
fn scifact(folder: &Path) -> Outcome<Json> {
    let vectors = npy(&fs::read(folder.join("scifact_minilm_docs.npy"))?)?;
    let mut corpus = String::new();
    flate2::read::GzDecoder::new(fs::File::open(folder.join("corpus.jsonl.gz"))?)
        .read_to_string(&mut corpus)?;
    let mut tail = Tail::new();
    for (line, vector) in corpus.lines().zip(vectors) {
        let document: Json = serde_json::from_str(line)?;
        let content = text(&document, "text");
        let mut record = Record::new(text(&document, "_id"), ScopePath::root(), content, 0);
        record.title = Some(text(&document, "title").to_owned());
        let end = u32::try_from(content.len())?;
        record.embedding = Embedding::Ready {
            profile: PROFILE.to_owned(),
            chunks: vec![Chunk {
                start: 0,
                end,
                vector,
            }],
        };
        tail.upsert(Arc::new(record));
    }

    let mut claims = BTreeMap::new();
    for line in fs::read_to_string(folder.join("queries.jsonl"))?.lines() {
        let claim: Json = serde_json::from_str(line)?;
        claims.insert(
            text(&claim, "_id").to_owned(),
            text(&claim, "text").to_owned(),
        );
    }
    let mut relevant: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for line in fs::read_to_string(folder.join("qrels_test.tsv"))?
        .lines()
        .skip(1)
    {
        let mut cells = line.split('\t').map(str::to_owned);
        let (Some(claim), Some(document), Some(grade)) = (cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        if !order.contains(&claim) {
            order.push(claim.clone());
        }
        relevant
            .entry(claim)
            .or_default()
            .insert(document, grade.trim().parse()?);
    }

    let queries = npy(&fs::read(folder.join("scifact_minilm_q.npy"))?)?;
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    let mut differences: Vec<f64> = Vec::new();
    for (claim, vector) in order.iter().zip(queries) {
        let grades = relevant.get(claim).ok_or("a claim without grades")?;
        let mut difference = 0.0;
        for (name, mode) in [
            ("keyword_ndcg@10", Mode::Keyword),
            ("semantic_ndcg@10", Mode::Semantic),
            ("hybrid_ndcg@10", Mode::Hybrid),
        ] {
            let answer = ask(
                &tail,
                Query {
                    text: claims.get(claim).cloned(),
                    mode,
                    vector: VectorSource::Given {
                        profile: PROFILE.to_owned(),
                        values: vector.clone(),
                    },
                    ..Query::new(0)
                },
            )?;
            let gain = ndcg_at_10(&answer, grades);
            *sums.entry(name).or_default() += gain;
            match mode {
                Mode::Keyword => difference -= gain,
                Mode::Hybrid => difference += gain,
                Mode::Semantic => {}
            }
        }
        differences.push(difference);
    }
    let n = order.len();
    let mut measured = json!({
        "documents": tail.len(),
        "n": n,
        "hybrid_over_keyword_paired_t": paired_t(&differences),
    });
    for (name, sum) in sums {
        if let Json::Object(measured) = &mut measured {
            measured.insert(name.to_owned(), json!(sum / n as f64));
        }
    }
    Ok(measured)
}

/// Student's t of paired differences: above 1.97 the mean of 300 is above zero with
/// 95 % confidence.
fn paired_t(differences: &[f64]) -> f64 {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    mean / (variance / n).sqrt()
}

fn ndcg_at_10(answer: &Answer, grades: &BTreeMap<String, f64>) -> f64 {
    let discounted = |grades: &mut dyn Iterator<Item = f64>| -> f64 {
        (1..=10)
            .zip(grades)
            .map(|(rank, grade)| grade / (f64::from(rank) + 1.0).log2())
            .sum()
    };
    let found = answer
        .hits
        .iter()
        .map(|hit| grades.get(&hit.record.id).copied().unwrap_or(0.0));
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    discounted(&mut found.into_iter()) / discounted(&mut ideal.into_iter())
}

fn ask(tail: &Tail, query: Query) -> Outcome<Answer> {
    let (mut search, _) = Search::begin(query);
    search.feed(vec![Fetched::Checkpoint(Arc::new(Checkpoint::default()))])?;
    match search.feed(vec![Fetched::Tail(tail)])? {
        Step::Done(answer) => Ok(answer),
        Step::Need(reads) => Err(format!("the tail did not suffice: {reads:?}").into()),
    }
}

/// The rows of a two-dimensional `float32` array in NumPy's format, version 1.
fn npy(bytes: &[u8]) -> Outcome<Vec<Vec<f32>>> {
    let header_len = bytes.get(8..10).ok_or("npy: no header")?;
    let start = 10 + usize::from(u16::from_le_bytes(header_len.try_into()?));
    let header = String::from_utf8_lossy(bytes.get(10..start).ok_or("npy: short header")?);
    if !header.contains("'<f4'") || !header.contains("'fortran_order': False") {
        return Err(format!("npy: {header} is not row-major float32").into());
    }
    let shape = Regex::new(r"\((\d+), (\d+)\)")?;
    let shape = shape.captures(&header).ok_or("npy: not two-dimensional")?;
    let width: usize = shape.get(2).ok_or("npy: no width")?.as_str().parse()?;
    let values: Vec<f32> = bytes
        .get(start..)
        .unwrap_or_default()
        .chunks_exact(4)
        .filter_map(|b| b.try_into().ok().map(f32::from_le_bytes))
        .collect();
    Ok(values.chunks_exact(width).map(<[f32]>::to_vec).collect())
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn list<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json.get(key)
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}
