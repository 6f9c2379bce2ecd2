//! The storage engine of Ostraca: a dense, create-only log on any object
//! store, whose only commit is "create the next entry if it is absent".
//!
//! It knows keys, entries, checkpoints and round trips. It knows nothing of
//! memories, of search or of HTTP.

pub mod decorator;
pub mod due;
pub mod error;
pub mod io;
pub mod key;
#[cfg(feature = "local")]
pub mod local;
pub mod log;
pub mod port;
pub mod probe;
#[cfg(feature = "s3")]
pub mod s3;
pub mod store;
#[cfg(test)]
mod testing;
