//! Why a read or a commit of the log did not come to pass, sorted by what the
//! caller does next.

use std::fmt;

use crate::error::{Corrupt, StoreError};
use crate::key::Seq;

/// A read of the log failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An object is damaged.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The log changed under the reader each time it looked: try again.
    #[error("the log changed at each of {attempts} looks, and {missing} was missing: try again")]
    Restless {
        /// The object that was listed or followed, and yet was not there.
        missing: String,
        /// How often the log was read.
        attempts: u32,
    },
}

/// A commit did not come to pass, or is not known to have.
#[derive(Debug)]
pub enum CommitError<E> {
    /// The decision said no, on a verified state. Nothing was written.
    Decided(E),
    /// The log could not be read, or the store refused the write. Nothing was written.
    Log(LogError),
    /// Other writers won each time. Nothing was written: try again later.
    Contended {
        /// How often this commit was tried.
        attempts: u32,
    },
    /// A newer checkpoint lies above the base of this one. Nothing was written;
    /// its segments may be deleted.
    Superseded {
        /// The newer checkpoint.
        by: Seq,
    },
    /// The rows do not fit the fold's schema or each other. Nothing was written.
    Invalid(Corrupt),
    /// The store did not say whether the entry was stored. Retry with the same
    /// commit id; that takes effect once.
    Unknown {
        /// The number it would have.
        seq: Seq,
        /// The last failure.
        source: StoreError,
    },
}

impl<E: fmt::Display> fmt::Display for CommitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decided(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::Contended { attempts } => write!(
                f,
                "other writers won each of {attempts} attempts: try again later"
            ),
            Self::Superseded { by } => write!(f, "the checkpoint is superseded by the one at {by}"),
            Self::Invalid(error) => error.fmt(f),
            Self::Unknown { seq, .. } => write!(
                f,
                "the outcome of the commit at {seq} is unknown: retry with the same commit id"
            ),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for CommitError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Decided(error) => error.source(),
            Self::Log(error) => error.source(),
            Self::Contended { .. } | Self::Superseded { .. } => None,
            Self::Invalid(error) => error.source(),
            Self::Unknown { source, .. } => Some(source),
        }
    }
}

impl<E> From<LogError> for CommitError<E> {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}
