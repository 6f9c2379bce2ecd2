//! Search over agent memories, as a pure function of records and bytes: text
//! analysis, BM25, vectors, filters, fusion, and the query as steps.
//!
//! It is separate so that the whole of ranking can be tested and replayed
//! without a network. It must not do I/O, read a clock or know of object
//! storage: a query says what it needs ([`Step::Need`]) and the caller fetches.

pub mod answer;
mod bits;
pub mod bm25;
pub mod filter;
pub mod fusion;
pub mod ivf;
pub mod postings;
pub mod query;
mod rank;
pub mod record;
pub mod segment;
pub mod snapshot;
pub mod snippet;
pub mod step;
pub mod tail;
pub mod text;
pub mod vector;

pub use answer::{Answer, Coverage, Degraded, Hit, Lane};
pub use filter::{Filter, FilterError, ValueSyntax};
pub use query::{Effort, Few, Mode, Query, ScopeFilter, TimeField, VectorSource, Window};
pub use record::{
    Chunk, Embedding, Metadata, Record, RecordError, ScopeError, ScopePath, Status, Value,
};
pub use snapshot::{SegmentRef, Snapshot};
pub use step::{Part, Read, Search, SearchError, Step, VectorUnavailable};
pub use tail::Tail;
