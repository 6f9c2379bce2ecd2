//! The log of an environment: `tracing` events as lines of JSON on standard output, which
//! is what Lambda keeps. What may be logged is decided where events are made.

use tracing_subscriber::EnvFilter;

/// What is logged when `RUST_LOG` says nothing else: what an operator has to look at, and
/// what compaction does, which nobody waits for.
const DEFAULT_FILTER: &str = "warn,ostraca_memory::compact=info,bootstrap=info";

/// Starts the log. Lambda adds the time.
pub(crate) fn start() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    tracing_subscriber::fmt()
        .json()
        .without_time()
        .with_env_filter(filter)
        .init();
}
