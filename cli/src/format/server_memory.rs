//! The file of the official MCP memory server: one JSON object per line, either an
//! entity with its observations or a relation between two. Each becomes one memory
//! with a key of its own, so that a second import changes nothing.

use std::io::{self, BufRead};

use ostraca_memory::{NewMemory, ScopePath};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Entry;
use super::lines::Lines;

/// Longest key that the store takes, in bytes; longer names are told apart by their
/// content alone.
const MAX_KEY_BYTES: usize = 512;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Entity {
        name: String,
        #[serde(rename = "entityType")]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    Relation {
        from: String,
        to: String,
        #[serde(rename = "relationType")]
        relation_type: String,
    },
}

/// Whether a line is one of this format.
pub(crate) fn is_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Line>(line).is_ok()
}

/// The memories of a file, placed in `scope`.
pub(crate) fn read<'a>(
    input: impl BufRead + 'a,
    scope: &'a ScopePath,
) -> impl Iterator<Item = io::Result<Entry>> + 'a {
    Lines::new(input).map(move |line| {
        let (line, text) = line?;
        let memory = text.and_then(|text| Ok(memory(serde_json::from_str(&text)?, scope)));
        Ok(Entry { line, memory })
    })
}

fn memory(line: Line, scope: &ScopePath) -> NewMemory {
    match line {
        Line::Entity {
            name,
            entity_type,
            observations,
        } => {
            let heading = format!("{name} ({entity_type})");
            let content = observations
                .iter()
                .fold(heading, |text, observation| text + "\n- " + observation);
            NewMemory {
                content,
                scope: scope.clone(),
                kind: Some("entity".to_owned()),
                metadata: metadata([("entity", &name), ("entity_type", &entity_type)]),
                key: key(name),
                ..NewMemory::default()
            }
        }
        Line::Relation {
            from,
            to,
            relation_type,
        } => NewMemory {
            content: format!("{from} {relation_type} {to}"),
            scope: scope.clone(),
            kind: Some("relation".to_owned()),
            key: key(format!("{from} -> {relation_type} -> {to}")),
            metadata: metadata([("from", &from), ("relation", &relation_type), ("to", &to)]),
            ..NewMemory::default()
        },
    }
}

fn key(name: String) -> Option<String> {
    (!name.trim().is_empty() && name.len() <= MAX_KEY_BYTES).then_some(name)
}

fn metadata<const N: usize>(pairs: [(&str, &String); N]) -> Map<String, Value> {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Value::String(value.clone())))
        .collect()
}
