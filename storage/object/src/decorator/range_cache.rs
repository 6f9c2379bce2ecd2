//! stub
/// Marks an answer that a cache gave without asking the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromCache;
