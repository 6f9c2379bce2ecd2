//! `ostraca export`: every memory of a tenant, in full, one per line. What it writes
//! `ostraca import` reads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ostraca_memory::{Caller, ExportRequest, Reach, ScopeSelector, Session};
use serde::Serialize;

use crate::args::{JsonArgs, ScopeArgs, StoreArgs, TenantArgs};
use crate::database;
use crate::error::CliError;
use crate::format::jsonl;
use crate::output::{self, Style};
use crate::progress;

/// What to export.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The file, replaced as a whole once everything is written; `-` is standard output
    #[arg(default_value = "-")]
    file: PathBuf,
    #[command(flatten)]
    scope: ScopeArgs,
    /// What to write
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: ExportFormat,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    tenant: TenantArgs,
    #[command(flatten)]
    json: JsonArgs,
}

/// The formats that hold everything.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExportFormat {
    /// One memory per line
    Jsonl,
}

/// What was written.
#[derive(Debug, Serialize)]
struct Count {
    memories: u64,
}

/// Runs the command.
pub(crate) async fn run(args: ExportArgs) -> Result<(), CliError> {
    let opened = database::open(&args.store, None)?;
    let session = opened
        .database
        .session(Caller::unrestricted(args.tenant.tenant.clone()));
    let path = args.file.as_path();
    let failed = |source| CliError::File {
        verb: "write",
        path: path.to_owned(),
        source,
    };
    let ExportFormat::Jsonl = args.format;
    let to_stdout = path.as_os_str() == "-";
    let count = if to_stdout {
        let mut out = BufWriter::new(io::stdout());
        let count = write(&session, &args, &mut out, &failed).await?;
        out.flush().map_err(failed)?;
        count
    } else {
        let partial = partial(path);
        let mut out = BufWriter::new(File::create(&partial).map_err(failed)?);
        let written = match write(&session, &args, &mut out, &failed).await {
            Ok(count) => finish(out, &partial, path).map(|()| count).map_err(failed),
            Err(error) => Err(error),
        };
        if written.is_err() {
            // What went wrong is told; a left-over cannot be helped.
            let _ = fs::remove_file(&partial);
        }
        written?
    };
    match Style::of(args.json.json) {
        Style::Json if !to_stdout => output::json(&Count { memories: count })?,
        Style::Json => output::note(&format!("{{\"memories\":{count}}}")),
        Style::Text => output::note(&format!("{count} memories exported")),
    }
    Ok(())
}

async fn write(
    session: &Session,
    args: &ExportArgs,
    out: &mut impl Write,
    failed: &impl Fn(io::Error) -> CliError,
) -> Result<u64, CliError> {
    let bar = progress::count();
    let scope = match &args.scope.scope {
        Some(path) => ScopeSelector {
            path: path.clone(),
            reach: Reach::Below,
        },
        None => ScopeSelector::all(),
    };
    let mut count = 0;
    let mut cursor = None;
    loop {
        let page = session
            .export(ExportRequest {
                scope: scope.clone(),
                limit: None,
                cursor,
            })
            .await?;
        for record in &page.records {
            jsonl::write(out, record).map_err(failed)?;
            count += 1;
        }
        bar.set_length(page.total);
        bar.set_position(count);
        cursor = page.next_cursor;
        if cursor.is_none() {
            bar.finish_and_clear();
            return Ok(count);
        }
    }
}

/// Where the file grows until it is whole: beside its place, so that it can be moved
/// there in one step.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}

fn finish(out: BufWriter<File>, partial: &Path, path: &Path) -> io::Result<()> {
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    fs::rename(partial, path)
}
