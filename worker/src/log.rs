//! The log of an isolate: `tracing` events as lines of JSON on the console, which is what
//! the platform keeps, and panics with them. What may be logged is decided where events
//! are made.

use std::io;

use tracing::level_filters::LevelFilter;

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
    // After a restart of the module there is nothing left of a first log.
    let _ = tracing_subscriber::fmt()
        .json()
        .without_time()
        .with_max_level(LevelFilter::WARN)
        .with_writer(|| Console)
        .try_init();
}
