//! What the binary prints: results on standard output, everything for people on
//! standard error. It is the only file that writes to either, so that the stdio
//! server can rely on a clean standard output.

use std::io::{self, Write};

use serde::Serialize;

/// How a command shows its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Lines for a person.
    Text,
    /// One JSON value, for a program.
    Json,
}

impl Style {
    /// The style that `--json` asks for.
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// Prints one line on standard output.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Prints one JSON value in one line on standard output.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Prints for a person on standard error. A closed standard error is no reason to
/// stop, so nothing is returned.
pub(crate) fn note(text: &str) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{text}");
}
