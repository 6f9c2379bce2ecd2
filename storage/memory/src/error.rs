//! The one error of the domain: a coarse kind that says what the caller can do,
//! the field that is at fault, and a sentence with the way out. It knows nothing
//! of HTTP or JSON-RPC; `service` maps kinds to codes in one table.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// What the caller can do about an error. A new kind has to be given a place in every
/// table that maps kinds, so matches are meant to name them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is wrong as it stands; change it.
    Invalid,
    /// No credential, or one that is not valid; present another.
    Unauthorized,
    /// The credential is valid but may not do this.
    Forbidden,
    /// What was named does not exist for this caller.
    NotFound,
    /// The state is not what the request expected; read again and decide.
    Conflict,
    /// The request is larger than a stated limit; send less.
    TooLarge,
    /// Too many requests; wait.
    RateLimited {
        /// How long to wait at least.
        retry_after: Duration,
    },
    /// Storage or a dependency did not answer; the same request may work later.
    Unavailable {
        /// How long to wait at least.
        retry_after: Duration,
    },
    /// Stored data could not be understood; an operator has to look.
    Corrupt,
    /// A fault of ours; report it.
    Internal,
}

/// A failed operation. Nothing was changed, unless the kind is
/// [`ErrorKind::Unavailable`] and the message says that the outcome is unknown.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    field: Option<Cow<'static, str>>,
    message: Cow<'static, str>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of a kind with a sentence for the caller.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            field: None,
            message: message.into(),
            source: None,
        }
    }

    /// A request that is wrong in one field.
    pub fn invalid(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            field: Some(field.into()),
            ..Self::new(ErrorKind::Invalid, message)
        }
    }

    /// Something that does not exist for this caller.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// A state that is not what the request expected.
    pub fn conflict(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            field: Some(field.into()),
            ..Self::new(ErrorKind::Conflict, message)
        }
    }

    /// A field that is larger than its limit.
    pub fn too_large(
        field: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            field: Some(field.into()),
            ..Self::new(ErrorKind::TooLarge, message)
        }
    }

    /// The same error, pointing at a field.
    #[must_use]
    pub fn at(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// The same error with its cause.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The argument at fault, by its name on the wire, such as `items[2].content`.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// The sentence for the caller. It holds no secret and no other tenant's data.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_ref()
            .map(|source| -> &(dyn std::error::Error + 'static) { source.as_ref() })
    }
}
