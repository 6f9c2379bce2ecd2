//! What can stop a bundle from being made. Kept apart so that every step names its failure
//! in one place; each message says what to do about it.

use std::fmt;
use std::path::PathBuf;

/// Why there is no bundle.
#[derive(thiserror::Error)]
pub(crate) enum BundleError {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {path}")]
    File {
        /// Verb, for the message.
        action: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// wasm-bindgen refused the module; mostly its version is not that of the library.
    #[error("wasm-bindgen cannot process the module")]
    Bindgen {
        /// Its own chain of causes.
        #[source]
        source: anyhow::Error,
    },
    /// The generated JavaScript lacks a name that the shim relies on.
    #[error("the generated index.js has no `{name}`: {remedy}")]
    Missing {
        /// The text looked for.
        name: &'static str,
        /// What the absence means.
        remedy: &'static str,
    },
    /// The bundle is larger than allowed.
    #[error("the bundle has {gzip_bytes} bytes after gzip, the budget is {budget_bytes}")]
    OverBudget {
        /// Bytes of all modules after gzip.
        gzip_bytes: u64,
        /// Bytes allowed.
        budget_bytes: u64,
    },
}

/// `main` reports its error by `Debug`: print the chain as a person wants to read it.
impl fmt::Debug for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut cause = std::error::Error::source(self);
        while let Some(inner) = cause {
            write!(f, ": {inner}")?;
            cause = inner.source();
        }
        Ok(())
    }
}
