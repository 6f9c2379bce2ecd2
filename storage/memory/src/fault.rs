//! How failures of the log and the search engine become errors of the domain: one
//! place decides what a caller is told to do about each.

use std::time::Duration;

use ostraca_object::error::{Corrupt, StoreError};
use ostraca_object::log::error::{CommitError, LogError};
use ostraca_object::probe::ProbeError;
use ostraca_search::SearchError;

use crate::error::{Error, ErrorKind};
use crate::session::Halt;

const SOON: ErrorKind = ErrorKind::Unavailable {
    retry_after: Duration::from_secs(1),
};
const LATER: ErrorKind = ErrorKind::Unavailable {
    retry_after: Duration::from_secs(30),
};

impl From<StoreError> for Error {
    fn from(source: StoreError) -> Self {
        let kind = match &source {
            StoreError::Denied { .. } | StoreError::Unsupported { .. } => LATER,
            StoreError::NotFound { .. }
            | StoreError::AlreadyExists { .. }
            | StoreError::OutOfRange { .. } => ErrorKind::Internal,
            _ => SOON,
        };
        Self::new(kind, format!("storage failed: {source}")).with_source(source)
    }
}

impl From<Corrupt> for Error {
    fn from(source: Corrupt) -> Self {
        Self::new(
            ErrorKind::Corrupt,
            format!("stored data cannot be read: {source}"),
        )
        .with_source(source)
    }
}

impl From<ProbeError> for Error {
    fn from(source: ProbeError) -> Self {
        match source {
            ProbeError::Store(error) => error.into(),
            other => Self::new(LATER, other.to_string()).with_source(other),
        }
    }
}

impl From<LogError> for Error {
    fn from(source: LogError) -> Self {
        match source {
            LogError::Store(error) => error.into(),
            LogError::Corrupt(error) => error.into(),
            restless @ LogError::Restless { .. } => {
                Self::new(SOON, restless.to_string()).with_source(restless)
            }
        }
    }
}

impl From<CommitError<Halt>> for Error {
    fn from(source: CommitError<Halt>) -> Self {
        match source {
            CommitError::Decided(Halt::Refused(error)) => error,
            CommitError::Decided(Halt::Waiting | Halt::Moved(_) | Halt::Missing(_)) => Self::new(
                SOON,
                "the collection was compacted while the change was decided on; try again",
            ),
            CommitError::Log(error) => error.into(),
            CommitError::Invalid(error) => error.into(),
            CommitError::Unknown { source, .. } => Self::new(
                SOON,
                "storage did not say whether the change was stored; read to see, or repeat the call with the same idempotency key",
            )
            .with_source(source),
            CommitError::Contended { attempts } => Self::new(
                SOON,
                format!("other writers won each of {attempts} attempts: try again later"),
            ),
            CommitError::Superseded { by } => Self::new(
                SOON,
                format!("the checkpoint is superseded by the one at {by}"),
            ),
        }
    }
}

impl From<SearchError> for Error {
    fn from(source: SearchError) -> Self {
        match &source {
            SearchError::Dimension { .. } | SearchError::Vector(_) => {
                Self::invalid("vector", source.to_string()).with_source(source)
            }
            SearchError::Segment { .. } => Self::new(
                ErrorKind::Corrupt,
                format!("stored data cannot be read: {source}"),
            )
            .with_source(source),
            SearchError::NothingToRankBy => Self::invalid(
                "query",
                "nothing to look for; give a query, or use list to see everything",
            ),
        }
    }
}
