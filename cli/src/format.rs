//! The files that can be imported, and how one is recognised. Each format lives in
//! its own file and only turns bytes into memories; none of them knows the store.

pub(crate) mod jsonl;
mod lines;
pub(crate) mod locomo;
pub(crate) mod server_memory;

use std::io::{self, BufRead, Cursor, Read};

use clap::ValueEnum;
use ostraca_memory::{NewMemory, ScopePath, parse_scope};
use serde_json::Value;

/// How much of a file is looked at to recognise its format, in bytes.
const SNIFF_BYTES: u64 = 64 << 10;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Recognise it from its first line
    Auto,
    /// One memory per line, as `ostraca export` writes them
    Jsonl,
    /// The file of the official MCP memory server (entities and relations)
    ServerMemory,
    /// The `LoCoMo` dialogues, for evaluation
    Locomo,
}

/// One memory of a file, or why a part of it is none.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The line it stands in, from 1; in a file that is one JSON value, its ordinal.
    pub(crate) line: u64,
    /// The memory.
    pub(crate) memory: Result<NewMemory, Refusal>,
}

/// Why a line is not a memory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// Longer than any memory can be.
    #[error("the line has more than {max_bytes} bytes")]
    TooLong {
        /// The limit.
        max_bytes: usize,
    },
    /// Not text.
    #[error("the line is not UTF-8")]
    NotText,
    /// Not JSON, or not of this format.
    #[error("{}", within_line(.0))]
    Json(#[from] serde_json::Error),
    /// A field that no memory could have.
    #[error("{0}")]
    Value(#[from] ostraca_memory::Error),
    /// A date as this file writes it, but not one.
    #[error("{given:?} is not a session date such as \"1:56 pm on 8 May, 2023\"")]
    SessionDate {
        /// What stands there.
        given: String,
    },
    /// A version of the format that this program does not know.
    #[error("version {found} of the record format is not known: use a newer ostraca")]
    Version {
        /// The version of the line.
        found: Value,
    },
    /// A memory that readers did not see where it came from.
    #[error("status: {found} cannot be imported; only active memories can")]
    Status {
        /// The status of the line.
        found: Value,
    },
}

/// The memories of a file, one by one. The outer error is that of reading.
pub(crate) type Entries<'a> = Box<dyn Iterator<Item = io::Result<Entry>> + 'a>;

/// Reads a file of a format, everything placed below `scope`.
pub(crate) fn read<'a>(
    format: Format,
    mut input: impl BufRead + 'a,
    scope: &'a ScopePath,
) -> io::Result<Entries<'a>> {
    if format != Format::Auto {
        return read_as(format, input, scope);
    }
    let mut start = Vec::new();
    input.by_ref().take(SNIFF_BYTES).read_to_end(&mut start)?;
    read_as(recognise(&start), Cursor::new(start).chain(input), scope)
}

fn read_as<'a>(
    format: Format,
    input: impl BufRead + 'a,
    scope: &'a ScopePath,
) -> io::Result<Entries<'a>> {
    Ok(match format {
        Format::Auto | Format::Jsonl => Box::new(jsonl::read(input, scope)),
        Format::ServerMemory => Box::new(server_memory::read(input, scope)),
        Format::Locomo => Box::new(locomo::read(input, scope)?),
    })
}

/// The format of a file that starts so. What is not recognised is read as our own,
/// whose messages say what a line must hold.
fn recognise(start: &[u8]) -> Format {
    let text = start
        .strip_prefix(lines::BOM)
        .unwrap_or(start)
        .trim_ascii_start();
    if text.first() == Some(&b'[') {
        return Format::Locomo;
    }
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if server_memory::is_line(first) {
        Format::ServerMemory
    } else {
        Format::Jsonl
    }
}

/// What is wrong in a line, by column: to the parser every line is the first.
fn within_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message} at column {}", error.column()),
        None => text,
    }
}

/// Places a scope below another one.
fn below(parent: &ScopePath, scope: &ScopePath) -> ostraca_memory::Result<ScopePath> {
    match (parent.is_root(), scope.is_root()) {
        (true, _) => Ok(scope.clone()),
        (false, true) => Ok(parent.clone()),
        (false, false) => parse_scope("scope", &format!("{parent}/{scope}")),
    }
}

#[cfg(test)]
mod tests;
