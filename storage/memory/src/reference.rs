//! How a request names a memory that exists: by its id, or by the key that its
//! author gave it in a scope. Every operation resolves references the same way.

use std::fmt;

use ostraca_search::ScopePath;

/// The name of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// Its id.
    Id(String),
    /// Its key within a scope.
    Key {
        /// The scope that the key belongs to.
        scope: ScopePath,
        /// The key, compared byte for byte.
        key: String,
    },
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "id {id:?}"),
            Self::Key { scope, key } if scope.is_root() => write!(f, "key {key:?}"),
            Self::Key { scope, key } => write!(f, "key {key:?} in scope {:?}", scope.as_str()),
        }
    }
}
