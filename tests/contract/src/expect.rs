//! Reporting what a store did instead of what it must do, with enough in the report
//! to see the difference on a machine that has no debugger.

use std::fmt::Debug;

/// A store did something else.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A request failed that must succeed.
    #[error("{what}")]
    Request {
        /// What was asked for.
        what: String,
        /// What the store said.
        #[source]
        source: object_store::Error,
    },
    /// An answer is not the one it must be.
    #[error("{what}: wanted {wanted}, got {got}")]
    Answer {
        /// What was asked for.
        what: String,
        /// What must come.
        wanted: String,
        /// What came.
        got: String,
    },
}

/// The answer to a request that must succeed.
pub(crate) fn done<T>(
    what: impl Into<String>,
    answer: object_store::Result<T>,
) -> Result<T, Failure> {
    answer.map_err(|source| Failure::Request {
        what: what.into(),
        source,
    })
}

/// Two values that must be equal.
pub(crate) fn same<T: PartialEq + Debug>(
    what: impl Into<String>,
    got: &T,
    wanted: &T,
) -> Result<(), Failure> {
    if got == wanted {
        return Ok(());
    }
    Err(Failure::Answer {
        what: what.into(),
        wanted: brief(wanted),
        got: brief(got),
    })
}

/// A request that must fail in one way.
pub(crate) fn refused<T: Debug>(
    what: impl Into<String>,
    answer: object_store::Result<T>,
    wanted: &str,
    is_wanted: impl FnOnce(&object_store::Error) -> bool,
) -> Result<(), Failure> {
    match answer {
        Err(error) if is_wanted(&error) => Ok(()),
        other => Err(Failure::Answer {
            what: what.into(),
            wanted: wanted.to_owned(),
            got: brief(&other.map_err(|error| error.to_string())),
        }),
    }
}

fn brief(value: &impl Debug) -> String {
    let mut text = format!("{value:?}");
    if let Some((end, _)) = text.char_indices().nth(400) {
        text.truncate(end);
        text.push('…');
    }
    text
}
