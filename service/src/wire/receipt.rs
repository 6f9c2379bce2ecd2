//! The receipt of an answer on the wire: where in the log it was read, what that
//! took, and why it may be weaker than was asked for.

use ostraca_memory as domain;
use schemars::JsonSchema;
use serde::Serialize;

/// What an answer was read from, and what it cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Receipt {
    /// The log position that the answer reflects; usable as `as_of`.
    pub position: u64,
    /// Dependent round trips to storage.
    pub steps: u32,
    /// Requests to storage.
    pub requests: Requests,
    /// Bytes moved from and to storage.
    pub bytes: Bytes,
    /// How much of the collection a search could see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Why the answer is weaker than was asked for; empty when it is not.
    pub degraded: Vec<String>,
}

/// Requests to storage, by kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Requests {
    /// GET and HEAD.
    pub get: u32,
    /// LIST.
    pub list: u32,
    /// PUT.
    pub put: u32,
    /// DELETE.
    pub delete: u32,
}

/// Bytes moved.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Bytes {
    /// From storage.
    pub read: u64,
    /// To storage.
    pub written: u64,
}

/// How much of the collection a search could see.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Coverage {
    /// Live memories.
    pub records: u64,
    /// Of those, memories with a vector.
    pub embedded: u64,
    /// Of those, memories whose vector is still owed.
    pub pending: u64,
}

impl From<domain::Receipt> for Receipt {
    fn from(receipt: domain::Receipt) -> Self {
        Self {
            position: receipt.position,
            steps: receipt.steps,
            requests: Requests {
                get: receipt.gets,
                list: receipt.lists,
                put: receipt.puts,
                delete: receipt.deletes,
            },
            bytes: Bytes {
                read: receipt.bytes_read,
                written: receipt.bytes_written,
            },
            coverage: receipt.coverage.map(|coverage| Coverage {
                records: coverage.records,
                embedded: coverage.embedded,
                pending: coverage.pending,
            }),
            degraded: receipt.degraded,
        }
    }
}
