//! The `LoCoMo` dialogues: one memory per turn, one scope per conversation, so that
//! retrieval can be measured on them. It reads the evaluation file as published;
//! questions and answers in it are not memories and are left out.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use jiff::civil::DateTime;
use ostraca_memory::{NewMemory, ScopePath, Timestamp, parse_scope};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Entry, Refusal, below};

/// The largest file that is read at once, in bytes; the published one has 2.8 MB.
const MAX_FILE_BYTES: u64 = 256 << 20;

#[derive(Debug, Deserialize)]
struct Sample {
    sample_id: String,
    conversation: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Turn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    blip_caption: Option<String>,
}

/// The turns of a file in order, each numbered from 1.
pub(crate) fn read<'a>(
    input: impl BufRead + 'a,
    scope: &'a ScopePath,
) -> io::Result<impl Iterator<Item = io::Result<Entry>> + 'a> {
    let mut bytes = Vec::new();
    input.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    let samples: Vec<Sample> = serde_json::from_slice(&bytes)?;
    let turns = samples
        .into_iter()
        .flat_map(move |sample| conversation(&sample, scope));
    Ok((1..)
        .zip(turns)
        .map(|(line, memory)| Ok(Entry { line, memory })))
}

/// The turns of one conversation, in the order of its sessions.
fn conversation(sample: &Sample, scope: &ScopePath) -> Vec<Result<NewMemory, Refusal>> {
    let mut sessions: Vec<(u32, &str, &Value)> = sample
        .conversation
        .iter()
        .filter_map(|(name, turns)| {
            let number = name.strip_prefix("session_")?.parse().ok()?;
            Some((number, name.as_str(), turns))
        })
        .collect();
    sessions.sort_unstable_by_key(|(number, ..)| *number);
    let scope = parse_scope("sample_id", &format!("locomo/{}", sample.sample_id))
        .and_then(|conversation| below(scope, &conversation));
    let scope = match scope {
        Ok(scope) => scope,
        Err(error) => return vec![Err(Refusal::Value(error))],
    };
    let mut memories = Vec::new();
    for (number, name, turns) in sessions {
        let date = sample
            .conversation
            .get(&format!("{name}_date_time"))
            .and_then(Value::as_str);
        let turns = match Vec::<Turn>::deserialize(turns) {
            Ok(turns) => turns,
            Err(error) => {
                memories.push(Err(Refusal::Json(error)));
                continue;
            }
        };
        memories.extend(
            turns
                .into_iter()
                .map(|turn| memory(turn, number, date, scope.clone())),
        );
    }
    memories
}

fn memory(
    turn: Turn,
    session: u32,
    date: Option<&str>,
    scope: ScopePath,
) -> Result<NewMemory, Refusal> {
    let time = date.map(session_time).transpose()?;
    let mut content = String::new();
    if let Some(time) = time {
        content = time.date().strftime("%-d %B %Y ").to_string();
    }
    content.extend([turn.speaker.as_str(), ": ", turn.text.as_str()]);
    if let Some(caption) = &turn.blip_caption {
        content.extend([" [image: ", caption.as_str(), "]"]);
    }
    let created = time
        .and_then(|time| time.to_zoned(jiff::tz::TimeZone::UTC).ok())
        .map(|zoned| Timestamp(zoned.timestamp().as_millisecond()));
    Ok(NewMemory {
        content,
        scope,
        key: Some(turn.dia_id.clone()),
        metadata: Map::from_iter([
            ("session".to_owned(), Value::from(session)),
            ("speaker".to_owned(), Value::from(turn.speaker)),
            ("dia_id".to_owned(), Value::from(turn.dia_id)),
        ]),
        created,
        ..NewMemory::default()
    })
}

/// A session's date as the file writes it: `1:56 pm on 8 May, 2023`.
fn session_time(text: &str) -> Result<DateTime, Refusal> {
    DateTime::strptime("%I:%M %p on %d %B, %Y", text).map_err(|_| Refusal::SessionDate {
        given: text.to_owned(),
    })
}
