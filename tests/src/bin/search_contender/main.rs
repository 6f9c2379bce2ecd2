//! Ostraca as a contender of the search benchmark: it loads texts with their vectors,
//! compacts, and answers queries, a line of JSON for each that it reads.
//! `tests/bench/search/README.md` has the contract.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a benchmark's process reads its files and the time"
)]

mod data;
mod ostraca;

use clap::Parser;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::ostraca::Ostraca;

/// A contender of the search benchmark.
#[derive(Debug, Parser)]
struct Arguments {
    /// The S3 server.
    #[arg(long)]
    endpoint: String,
    /// The bucket.
    #[arg(long)]
    bucket: String,
    /// The folder of the data.
    #[arg(long)]
    data: std::path::PathBuf,
    /// How many texts.
    #[arg(long)]
    count: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let contender = Ostraca::new(&arguments)?;
    let mut out = tokio::io::stdout();
    let about = json!({
        "name": "Ostraca",
        "version": env!("CARGO_PKG_VERSION"),
        "settings": Ostraca::settings(),
    });
    out.write_all(format!("{about}\n").as_bytes()).await?;
    out.flush().await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let asked: Value = serde_json::from_str(&line)?;
        let answer = match contender.answer(&asked).await {
            Ok(answer) => answer,
            Err(error) => json!({ "error": error.to_string() }),
        };
        out.write_all(format!("{answer}\n").as_bytes()).await?;
        out.flush().await?;
    }
    Ok(())
}
