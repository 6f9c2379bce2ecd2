//! The log of an isolate: `tracing` events as lines of JSON on the console, which is what
//! the platform keeps, and panics with them. What may be logged is decided where events
//! are made.

use std::io;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

struct Console;

impl io::Write for Console {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        worker::console_log!("{}", String::from_utf8_lossy(line).trim_end());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts the log. The platform adds the time.
pub(crate) fn start() {
    std::panic::set_hook(Box::new(|panic| worker::console_error!("{panic}")));
    // What an operator has to look at, and what compaction does, which nobody waits for.
    let filter = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("ostraca_memory::compact", LevelFilter::INFO)
        .with_target("ostraca_worker", LevelFilter::INFO);
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .without_time()
        .with_writer(|| Console);
    // After a restart of the module there is nothing left of a first log.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .try_init();
}
