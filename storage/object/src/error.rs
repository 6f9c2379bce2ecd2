//! What a store may answer instead of what was asked, sorted by what the
//! caller can do about it. It is separate from `object_store::Error`, which
//! cannot tell a lost answer from a refusal.

use std::fmt;
use std::sync::Arc;

use crate::key::Key;

/// What was asked of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Read a whole object.
    Get,
    /// Read a part of an object.
    Range,
    /// List names.
    List,
    /// Write an object that must not be there yet.
    Create,
    /// Write or overwrite an object.
    Put,
    /// Write or overwrite an object in parts: its beginning, a part, its end.
    Upload,
    /// Delete an object.
    Delete,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "get",
            Self::Range => "range read",
            Self::List => "list",
            Self::Create => "create",
            Self::Put => "put",
            Self::Upload => "upload in parts",
            Self::Delete => "delete",
        })
    }
}

/// The request failed, and why.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such object.
    #[error("object {key} does not exist")]
    NotFound {
        /// Its name.
        key: String,
    },
    /// A create met an object of that name. Its content decides who won.
    #[error("object {key} exists already")]
    AlreadyExists {
        /// Its name.
        key: String,
    },
    /// The credentials do not allow it: fix them or the bucket's policy.
    #[error(
        "the store denied {operation} of {key} with status {status}: check the credentials and the bucket policy"
    )]
    Denied {
        /// What was asked.
        operation: Operation,
        /// Of which object.
        key: String,
        /// 401 or 403.
        status: u16,
        /// What the store said.
        #[source]
        source: Arc<object_store::Error>,
    },
    /// The store did not answer or answered that it cannot now: try later.
    #[error("the store is unavailable for {operation} of {key}: try again later")]
    Unavailable {
        /// What was asked.
        operation: Operation,
        /// Of which object.
        key: String,
        /// What the store said, if anything.
        #[source]
        source: Option<Arc<object_store::Error>>,
    },
    /// A create whose answer was lost: it may or may not have been stored.
    #[error("the outcome of the create of {key} is unknown: read it back")]
    UnknownOutcome {
        /// Its name.
        key: String,
        /// What the store said, if anything.
        #[source]
        source: Option<Arc<object_store::Error>>,
    },
    /// A part of an object was asked for that begins at its end or beyond. Whatever named
    /// the part is wrong, or the object is: asking again does not help.
    #[error("object {key} has {length} bytes, and bytes from {start} on were asked for")]
    OutOfRange {
        /// Its name.
        key: String,
        /// Where the part would begin.
        start: u64,
        /// How long the object is.
        length: u64,
    },
    /// The store will never do this.
    #[error("the store does not support {operation} of {key}")]
    Unsupported {
        /// What was asked.
        operation: Operation,
        /// Of which object.
        key: String,
        /// What the store said.
        #[source]
        source: Arc<object_store::Error>,
    },
}

impl StoreError {
    /// Sorts what `object_store` reported.
    pub fn from_store(operation: Operation, key: String, source: object_store::Error) -> Self {
        use object_store::Error;
        let source = Arc::new(source);
        match *source {
            Error::NotFound { .. }
                if !matches!(
                    operation,
                    Operation::Create | Operation::Put | Operation::Upload
                ) =>
            {
                Self::NotFound { key }
            }
            // A write that finds nothing found no bucket.
            Error::NotFound { .. }
            | Error::NotSupported { .. }
            | Error::NotImplemented { .. }
            | Error::InvalidPath { .. }
            | Error::UnknownConfigurationKey { .. } => Self::Unsupported {
                operation,
                key,
                source,
            },
            Error::AlreadyExists { .. } | Error::Precondition { .. } => Self::AlreadyExists { key },
            Error::PermissionDenied { .. } => Self::Denied {
                operation,
                key,
                status: 403,
                source,
            },
            Error::Unauthenticated { .. } => Self::Denied {
                operation,
                key,
                status: 401,
                source,
            },
            Error::Generic { source: ref of, .. } => match of.downcast_ref::<OutOfRange>() {
                Some(OutOfRange { start, length }) => Self::OutOfRange {
                    key,
                    start: *start,
                    length: *length,
                },
                None => Self::silent(operation, key, Some(source)),
            },
            _ => Self::silent(operation, key, Some(source)),
        }
    }

    /// No usable answer came.
    pub(crate) fn silent(
        operation: Operation,
        key: String,
        source: Option<Arc<object_store::Error>>,
    ) -> Self {
        if operation == Operation::Create {
            Self::UnknownOutcome { key, source }
        } else {
            Self::Unavailable {
                operation,
                key,
                source,
            }
        }
    }

    /// Whether the object is simply not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }

    /// The error of a missing object.
    pub fn not_found(key: &Key) -> Self {
        Self::NotFound {
            key: key.to_string(),
        }
    }
}

/// What a store decorator found out about a read that `object_store` reports as it does
/// any failure of the network.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the object has {length} bytes, and bytes from {start} on were asked for")]
pub(crate) struct OutOfRange {
    pub(crate) start: u64,
    pub(crate) length: u64,
}

/// An object does not hold what its name promises. Nothing can be retried: the
/// object has to be repaired or removed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("object {key} is corrupt: {reason}")]
pub struct Corrupt {
    /// The object.
    pub key: String,
    /// What is wrong with it.
    pub reason: String,
    /// The reader's own error, if there is one.
    #[source]
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Corrupt {
    /// Without an underlying error.
    pub fn new(key: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self {
            key: key.to_string(),
            reason: reason.into(),
            source: None,
        }
    }

    /// With an underlying error.
    pub fn caused(
        key: impl fmt::Display,
        reason: impl Into<String>,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self {
            key: key.to_string(),
            reason: reason.into(),
            source: Some(Arc::new(source)),
        }
    }
}
