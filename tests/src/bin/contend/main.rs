//! Many processes that do nothing but commit to one collection: how many writes a commit
//! costs, how many commits a second there are, how long one takes, and whether any is
//! lost. Each process is real; only the server is ours.
//!
//! ```text
//! contend [--writers N] [--seconds N] [--put-ms N] [--get-ms N] [--endpoint URL]
//! ```
//!
//! Prints one line of JSON. Without `--endpoint` it starts `counting_s3` beside itself.

mod server;
mod tally;
mod writer;

use std::process::Stdio;

use clap::Parser;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::server::Server;

/// Many processes that commit to one collection.
#[derive(Debug, Parser)]
struct Arguments {
    /// Processes.
    #[arg(long, default_value_t = 16)]
    writers: u32,
    /// How long they commit.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Milliseconds that the server takes for a write.
    #[arg(long, default_value_t = 60)]
    put_ms: u64,
    /// Milliseconds that the server takes for a read or a listing.
    #[arg(long, default_value_t = 30)]
    get_ms: u64,
    /// A counting server that runs already.
    #[arg(long)]
    endpoint: Option<String>,
    /// This process is one of the writers, and begins at this time (Unix, ms).
    #[arg(long, hide = true)]
    writer_from: Option<i64>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let said = match (&arguments.writer_from, &arguments.endpoint) {
        (Some(from), Some(endpoint)) => writer::run(endpoint, *from, arguments.seconds).await?,
        _ => contend(&arguments).await?,
    };
    let mut out = tokio::io::stdout();
    out.write_all(format!("{said}\n").as_bytes()).await?;
    out.flush().await?;
    Ok(())
}

async fn contend(arguments: &Arguments) -> Result<Value, Box<dyn std::error::Error>> {
    let server = match &arguments.endpoint {
        Some(endpoint) => Server::at(endpoint),
        None => Server::start(arguments.put_ms, arguments.get_ms).await?,
    };
    // The collection is there, and the probe is over, before anything is counted.
    let before = writer::total(server.endpoint()).await?;
    server.reset().await?;
    let from = writer::now().plus_millis(1_500 + 100 * u64::from(arguments.writers));
    let mut writers = Vec::new();
    for _ in 0..arguments.writers {
        let child = Command::new(std::env::current_exe()?)
            .args(["--endpoint", server.endpoint()])
            .args(["--seconds", &arguments.seconds.to_string()])
            .args(["--writer-from", &from.0.to_string()])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        writers.push(child);
    }
    let mut took: Vec<Vec<u64>> = Vec::new();
    let mut failed = 0;
    for writer in writers {
        let output = writer.wait_with_output().await?;
        let said: Value = serde_json::from_slice(&output.stdout)?;
        took.push(serde_json::from_value(
            said.get("took_ms").cloned().unwrap_or_default(),
        )?);
        failed += number(&said, "failed");
    }
    let stats = server.stats().await?;
    let after = writer::total(server.endpoint()).await?;
    let mut all = took.concat();
    all.sort_unstable();
    let commits = all.len() as u64;
    let puts = number(&stats, "puts");
    let at = |share: f64| {
        let rank = (all.len().saturating_sub(1)) as f64 * share;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank"
        )]
        all.get(rank as usize).copied().unwrap_or(0)
    };
    Ok(json!({
        "writers": arguments.writers,
        "seconds": arguments.seconds,
        "commits": commits,
        "commits_per_s": commits as f64 / arguments.seconds as f64,
        "puts_per_commit": puts as f64 / commits.max(1) as f64,
        "gets_per_commit": number(&stats, "gets") as f64 / commits.max(1) as f64,
        "lists_per_commit": number(&stats, "lists") as f64 / commits.max(1) as f64,
        "p50_ms": at(0.5),
        "p99_ms": at(0.99),
        "max_ms": at(1.0),
        "fewest_of_a_writer": took.iter().map(Vec::len).min(),
        "most_of_a_writer": took.iter().map(Vec::len).max(),
        "failed": failed,
        "lost": (before.total + commits).abs_diff(after.total),
        "entries": after.entries - before.entries,
        "server": stats,
    }))
}

fn number(said: &Value, name: &str) -> u64 {
    said.get(name).and_then(Value::as_u64).unwrap_or(0)
}
