//! A store in a local folder. `object_store` does the work: it writes beside
//! the final name, flushes, links the file to that name if it is free, and
//! flushes the folder, so that a create is exclusive among processes and
//! survives a crash. This file only chooses those settings.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;

/// The folder cannot be a store.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// It is not there and cannot be made.
    #[error("folder {folder} cannot be made: choose another, or allow this user to write there")]
    Create {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It cannot be opened.
    #[error("folder {folder} cannot be opened as a store")]
    Open {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: object_store::Error,
    },
}

/// Opens the folder as a store, and makes it if it is not there.
///
/// # Errors
///
/// See [`LocalError`].
pub fn open(folder: &Path) -> Result<Arc<dyn ObjectStore>, LocalError> {
    std::fs::create_dir_all(folder).map_err(|source| LocalError::Create {
        folder: folder.to_owned(),
        source,
    })?;
    let store = LocalFileSystem::new_with_prefix(folder).map_err(|source| LocalError::Open {
        folder: folder.to_owned(),
        source,
    })?;
    Ok(Arc::new(store.with_fsync(true)))
}
