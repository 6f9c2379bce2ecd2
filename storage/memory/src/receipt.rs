//! The receipt that every answer carries: what it was read from and what that
//! took. It is a plain value, filled by the operations and shown by every surface.

/// What an answer was read from, and what it cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The log position that the answer reflects; 0 is the empty collection.
    pub position: u64,
    /// Dependent round trips to storage.
    pub steps: u32,
    /// GET and HEAD requests.
    pub gets: u32,
    /// LIST requests.
    pub lists: u32,
    /// PUT requests.
    pub puts: u32,
    /// DELETE requests.
    pub deletes: u32,
    /// Bytes received from storage.
    pub bytes_read: u64,
    /// Bytes sent to storage.
    pub bytes_written: u64,
    /// How much of the collection a search could see; `None` for other reads.
    pub coverage: Option<Coverage>,
    /// Why the answer is weaker than was asked for; empty when it is not.
    pub degraded: Vec<String>,
}

/// How much of the collection a search could see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Live records in the collection at that position.
    pub records: u64,
    /// Of those, records with a vector of the collection's embedding profile.
    pub embedded: u64,
    /// Of those, records whose vector is still owed.
    pub pending: u64,
}
