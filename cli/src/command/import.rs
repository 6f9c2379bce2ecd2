//! `ostraca import`: the memories of a file into a store or a server, in batches.
//! Items are told apart by key or by content, so the same import again changes
//! nothing, and one that was interrupted is resumed by running it again.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use ostraca_memory::{EmbeddingState, NewMemory, Outcome, ScopePath};
use reqwest::Url;
use serde::Serialize;

use crate::args::{EmbedArgs, JsonArgs, ScopeArgs, StoreArgs, TenantArgs};
use crate::environment;
use crate::error::CliError;
use crate::format::{self, Format};
use crate::output::{self, Style};
use crate::progress;
use crate::sink::{Sink, Stored};

/// The most memories of one request.
const BATCH_ITEMS: usize = 500;
/// The most text of one request, in bytes; a memory that is larger goes alone.
const BATCH_BYTES: usize = 1 << 20;
/// How often a batch is tried while the other side says "later".
const ATTEMPTS: u32 = 6;

/// What to import.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file; `-` is standard input
    file: PathBuf,
    /// What the file is
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: Format,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Read and check the file, and store nothing
    #[arg(long)]
    dry_run: bool,
    /// Import into a running server instead of a store, such as
    /// `https://memory.example.com`
    #[arg(long, value_name = "URL")]
    url: Option<Url>,
    /// The variable that holds the API key for --url
    #[arg(long, value_name = "NAME", requires = "url")]
    token_env: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    tenant: TenantArgs,
    #[command(flatten)]
    embed: EmbedArgs,
    #[command(flatten)]
    json: JsonArgs,
}

/// What became of the entries of a file.
#[derive(Debug, Default, Serialize)]
struct Tally {
    read: u64,
    created: u64,
    updated: u64,
    unchanged: u64,
    refused: u64,
    /// Of those that are stored, how many still wait for their vectors.
    pending: u64,
    dry_run: bool,
}

impl Tally {
    fn count(&mut self, outcome: Outcome, embedding: EmbeddingState) {
        match outcome {
            Outcome::Created => self.created += 1,
            Outcome::Updated => self.updated += 1,
            Outcome::Unchanged => self.unchanged += 1,
        }
        if embedding == EmbeddingState::Pending {
            self.pending += 1;
        }
    }
}

/// Memories that go together, with the lines they came from.
#[derive(Debug, Default)]
struct Batch {
    lines: Vec<u64>,
    memories: Vec<NewMemory>,
    bytes: usize,
}

/// Runs the command.
pub(crate) async fn run(args: ImportArgs) -> Result<(), CliError> {
    let sink = match (args.dry_run, &args.url) {
        (true, _) => None,
        (false, Some(url)) => {
            let token = args
                .token_env
                .as_deref()
                .map(|name| environment::secret(&environment::process, name))
                .transpose()?;
            Some(Sink::server(url, token))
        }
        (false, None) => Some(Sink::store(
            &args.store,
            &args.embed,
            args.tenant.tenant.clone(),
        )?),
    };
    let scope = args.scope.scope.clone().unwrap_or_default();
    let mut import = Import {
        bar: ProgressBar::hidden(),
        tally: Tally::default(),
        sink,
    };
    import.tally.dry_run = args.dry_run;
    let outcome = import.file(&args, &scope).await;
    import.bar.finish_and_clear();
    let Import { tally, .. } = import;
    match Style::of(args.json.json) {
        Style::Json => output::json(&tally)?,
        Style::Text => output::line(&tally.to_string())?,
    }
    outcome?;
    if tally.refused > 0 {
        return Err(CliError::Findings {
            summary: format!(
                "{} of {} entries were refused; the others are stored",
                tally.refused, tally.read
            ),
        });
    }
    Ok(())
}

struct Import {
    bar: ProgressBar,
    tally: Tally,
    sink: Option<Sink>,
}

impl Import {
    async fn file(&mut self, args: &ImportArgs, scope: &ScopePath) -> Result<(), CliError> {
        let path = &args.file;
        let failed = |source| CliError::File {
            verb: "read",
            path: path.clone(),
            source,
        };
        let (input, size) = open(path).map_err(failed)?;
        self.bar = progress::bytes(size);
        let input = BufReader::with_capacity(1 << 16, self.bar.wrap_read(input));
        let entries =
            format::read(args.format, input, scope).map_err(|source| match source.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => CliError::Malformed {
                    path: path.clone(),
                    source,
                },
                _ => failed(source),
            })?;
        let mut batch = Batch::default();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            self.tally.read += 1;
            match entry.memory {
                Err(refusal) => self.refuse(entry.line, &refusal.to_string()),
                Ok(memory) => {
                    if !batch.has_room(&memory) {
                        self.flush(&mut batch).await?;
                    }
                    batch.push(entry.line, memory);
                }
            }
        }
        self.flush(&mut batch).await
    }

    async fn flush(&mut self, batch: &mut Batch) -> Result<(), CliError> {
        let Batch {
            lines, memories, ..
        } = std::mem::take(batch);
        let Some(first) = lines.first().copied() else {
            return Ok(());
        };
        if let Some(sink) = &self.sink {
            let stored = store(sink, memories)
                .await
                .map_err(|source| CliError::Stopped {
                    line: first,
                    source: Box::new(source),
                })?;
            for (line, stored) in lines.into_iter().zip(stored) {
                match stored {
                    Stored::Kept { outcome, embedding } => self.tally.count(outcome, embedding),
                    Stored::Refused(why) => self.refuse(line, &why),
                }
            }
        }
        self.bar.set_message(self.tally.to_string());
        Ok(())
    }

    fn refuse(&mut self, line: u64, why: &str) {
        self.tally.refused += 1;
        self.bar
            .suspend(|| output::note(&format!("line {line}: {why}")));
    }
}

/// Stores a batch, waiting while the other side asks for it. Trying again is safe,
/// as what was stored already is found unchanged.
async fn store(sink: &Sink, memories: Vec<NewMemory>) -> Result<Vec<Stored>, CliError> {
    let mut attempt = 1;
    loop {
        match sink.remember(memories.clone()).await {
            Err(error) if attempt < ATTEMPTS => match error.retry_after() {
                Some(wait) => tokio::time::sleep(wait.max(backoff(attempt))).await,
                None => return Err(error),
            },
            result => return result,
        }
        attempt += 1;
    }
}

fn backoff(attempt: u32) -> Duration {
    Duration::from_millis(250 << attempt.min(6))
}

impl Batch {
    fn has_room(&self, memory: &NewMemory) -> bool {
        self.memories.is_empty()
            || self.memories.len() < BATCH_ITEMS && self.bytes + size(memory) <= BATCH_BYTES
    }

    fn push(&mut self, line: u64, memory: NewMemory) {
        self.bytes += size(&memory);
        self.lines.push(line);
        self.memories.push(memory);
    }
}

/// About as many bytes as the memory takes in a request.
fn size(memory: &NewMemory) -> usize {
    const FIELDS: usize = 256;
    const BYTES_PER_NUMBER: usize = 12;
    let metadata: usize = memory
        .metadata
        .iter()
        .map(|(name, value)| name.len() + value.to_string().len())
        .sum();
    let vector = memory
        .vector
        .as_ref()
        .map_or(0, |vector| vector.len() * BYTES_PER_NUMBER);
    FIELDS + memory.content.len() + metadata + vector
}

fn open(path: &PathBuf) -> io::Result<(Box<dyn Read>, Option<u64>)> {
    if path.as_os_str() == "-" {
        if io::stdin().is_terminal() {
            output::note("reading standard input; end it with Ctrl-D");
        }
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.dry_run {
            let good = self.read.saturating_sub(self.refused);
            return write!(
                f,
                "{} read, {good} could be imported, {} refused; nothing was stored",
                self.read, self.refused
            );
        }
        write!(
            f,
            "{} read: {} created, {} updated, {} unchanged, {} refused",
            self.read, self.created, self.updated, self.unchanged, self.refused
        )?;
        match self.pending {
            0 => Ok(()),
            pending => write!(
                f,
                "; {pending} wait for their vectors, which a later import of the same file makes"
            ),
        }
    }
}
