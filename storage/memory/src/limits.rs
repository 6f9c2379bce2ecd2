//! The stated limits of requests and replies, in one place so that every surface
//! tells the same numbers and every check compares with the same one.

use std::time::Duration;

/// Sizes and counts that a request or a reply may not pass.
#[derive(Debug, Clone)]
pub struct Limits {
    /// UTF-8 bytes of one memory's content.
    pub content_bytes: usize,
    /// Memories in one `remember`, references in one `get` or `forget`.
    pub items: usize,
    /// Serialised bytes of one memory's metadata.
    pub metadata_bytes: usize,
    /// Bytes of a key, a title or a source.
    pub name_bytes: usize,
    /// Bytes of a kind or a sensitivity label.
    pub label_bytes: usize,
    /// Dimensions of a vector.
    pub dimensions: usize,
    /// Bytes of a query.
    pub query_bytes: usize,
    /// Hits of one `recall`; more are cut and the reply says so.
    pub recall_hits: u32,
    /// Memories on one page of `list`, `history`, `scopes`, `watch`.
    pub page: u32,
    /// Content bytes in one reply; what does not fit follows by cursor or offset.
    pub reply_content_bytes: usize,
    /// Content bytes of one memory in a reply with many.
    pub excerpt_bytes: usize,
    /// The longest time that one write or recall waits for the embedder.
    pub embedding_wait: Duration,
    /// The longest time that `watch` waits.
    pub watch_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            content_bytes: 2 << 20,
            items: 500,
            metadata_bytes: 64 << 10,
            name_bytes: 512,
            label_bytes: 64,
            dimensions: 4096,
            query_bytes: 64 << 10,
            recall_hits: 100,
            page: 500,
            reply_content_bytes: 36_000,
            excerpt_bytes: 2_000,
            embedding_wait: Duration::from_secs(4),
            watch_wait: Duration::from_secs(25),
        }
    }
}
