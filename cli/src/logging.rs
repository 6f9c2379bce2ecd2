//! The log of this process: always on standard error, as standard output belongs
//! to results and to the stdio protocol. It must not be told content or tokens;
//! what may be logged is decided where events are made.

use std::io;

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// What is logged when nothing else is asked for: what an operator has to look at, and
/// where commands stand.
const DEFAULT_FILTER: &str = "warn,ostraca::command=info";

/// Flags of the log.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArgs {
    /// What to log on standard error, as tracing filters, such as `info` or
    /// `ostraca_memory=debug,warn` [default: the variable `RUST_LOG`,
    /// else warnings]
    #[arg(
        id = "log",
        long = "log",
        env = "OSTRACA_LOG",
        value_name = "FILTER",
        global = true
    )]
    filter: Option<String>,
    /// How log lines look
    #[arg(
        id = "log_format",
        long = "log-format",
        env = "OSTRACA_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "text",
        global = true
    )]
    pub(crate) format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for a person.
    Text,
    /// One JSON object per line.
    Json,
}

/// A filter that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("--log {given:?} is not a log filter")]
pub(crate) struct FilterError {
    given: String,
    #[source]
    source: tracing_subscriber::filter::ParseError,
}

/// Starts the log of this process.
///
/// # Errors
/// A filter given for this program that cannot be read. The shared variable
/// `RUST_LOG` may be meant for others, so it only leads to a warning.
pub(crate) fn start(args: &LogArgs, rust_log: Option<&str>) -> Result<(), FilterError> {
    let (filter, ignored) = match (&args.filter, rust_log) {
        (Some(given), _) => {
            let filter = EnvFilter::try_new(given).map_err(|source| FilterError {
                given: given.clone(),
                source,
            })?;
            (filter, None)
        }
        (None, Some(shared)) => match EnvFilter::try_new(shared) {
            Ok(filter) => (filter, None),
            Err(error) => (EnvFilter::new(DEFAULT_FILTER), Some(error)),
        },
        (None, None) => (EnvFilter::new(DEFAULT_FILTER), None),
    };
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    // A second start in one process can only be a test's; the first log stays.
    let started = match args.format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    if let (Ok(()), Some(error)) = (started, ignored) {
        tracing::warn!(%error, "RUST_LOG is not a log filter and is ignored");
    }
    Ok(())
}
