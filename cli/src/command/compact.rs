//! `ostraca compact`: the compaction job by hand or from a scheduler. It may be stopped at
//! any time, run again, and run next to itself and to any other process on the store.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::{ArgGroup, Args};
use indicatif::ProgressBar;
use ostraca_memory::{
    CollectionId, CollectionKey, CollectionResult, CompactionOutcome, Effort, Job, Phase, Progress,
    Selection, Step, TenantId,
};
use serde::Serialize;

use crate::args::{JsonArgs, StoreArgs};
use crate::database;
use crate::duration;
use crate::error::CliError;
use crate::output::{self, Style};
use crate::progress;

/// What to compact, and how thoroughly.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["due", "all", "tenant"]))]
pub(crate) struct CompactArgs {
    /// What writers have marked as due; one listing finds it, so run this often
    #[arg(long)]
    due: bool,
    /// Every collection of every tenant
    #[arg(long)]
    all: bool,
    /// Every collection of one tenant
    #[arg(long, value_name = "TENANT")]
    tenant: Option<TenantId>,
    /// Only this collection of the tenant, such as `memory`
    #[arg(long, value_name = "COLLECTION", requires = "tenant")]
    collection: Option<CollectionId>,
    /// Merge all segments of a collection into one, and not only what is small
    #[arg(long)]
    major: bool,
    /// After so long begin no further collection [default: do all]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    budget: Option<Duration>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    json: JsonArgs,
}

impl CompactArgs {
    fn selection(&self) -> Selection {
        match (&self.tenant, &self.collection) {
            (Some(tenant), Some(collection)) => {
                Selection::Collection(CollectionKey::new(tenant.clone(), collection.clone()))
            }
            (Some(tenant), None) => Selection::Tenant(tenant.clone()),
            (None, _) if self.all => Selection::All,
            (None, _) => Selection::Due,
        }
    }
}

/// Runs the command.
pub(crate) async fn run(args: CompactArgs) -> Result<(), CliError> {
    let opened = database::open(&args.store, None)?;
    let job = Job {
        selection: args.selection(),
        effort: if args.major {
            Effort::Major
        } else {
            Effort::SMALL
        },
        budget: args.budget,
    };
    let style = Style::of(args.json.json);
    let watch = Watch {
        bar: progress::collections(),
        style,
        failed: Mutex::default(),
    };
    let done = opened.database.run_job(&job, &watch).await;
    watch.bar.finish_and_clear();
    let report = done?;
    if let Some(error) = watch.take_failure() {
        return Err(error.into());
    }
    let (failed, total) = (report.failed(), report.collections.len());
    if style == Style::Text {
        let postponed = match report.postponed {
            0 => String::new(),
            count => format!(", {count} left for the next run"),
        };
        output::note(&format!("{total} collections looked at{postponed}"));
    }
    if failed == 0 {
        return Ok(());
    }
    Err(CliError::Findings {
        summary: format!(
            "{failed} of {total} collections failed; what was written is safe, run the same command again"
        ),
    })
}

/// Shows how far the job is: a bar on a terminal, else log lines; and each result.
struct Watch {
    bar: ProgressBar,
    style: Style,
    failed: Mutex<Option<io::Error>>,
}

impl Watch {
    fn take_failure(&self) -> Option<io::Error> {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn show(&self, result: &CollectionResult) -> io::Result<()> {
        let shown = Shown::new(result);
        match self.style {
            Style::Json => output::json(&shown),
            Style::Text => self.bar.suspend(|| output::line(&shown.to_text())),
        }
    }
}

impl Progress for Watch {
    fn step(&self, step: Step<'_>) {
        self.bar.set_length(step.total);
        self.bar.set_position(step.done);
        self.bar
            .set_message(format!("{} {}", step.phase.name(), step.collection));
        if self.style == Style::Text && self.bar.is_hidden() {
            tracing::info!(
                collection = %step.collection,
                phase = step.phase.name(),
                done = step.done,
                total = step.total,
                "compaction"
            );
        }
        if let (Phase::Finished, Some(result)) = (step.phase, step.result)
            && let Err(error) = self.show(result)
        {
            // The job is worth more than its report.
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}

/// What came of a collection, for a program.
#[derive(Debug, Serialize)]
struct Shown {
    tenant: String,
    collection: String,
    /// `nothing`, `committed`, `superseded` or `failed`.
    outcome: &'static str,
    folded: u64,
    rows: u64,
    merged: u64,
    segments: u64,
    deleted_entries: u64,
    deleted_segment_objects: u64,
    cleared_markers: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Shown {
    fn new(result: &CollectionResult) -> Self {
        let compacted = result.compacted.as_ref();
        let cleaned = result.cleaned.unwrap_or_default();
        let outcome = match compacted.map(|compacted| compacted.outcome) {
            _ if result.error.is_some() => "failed",
            Some(CompactionOutcome::Nothing) | None => "nothing",
            Some(CompactionOutcome::Committed) => "committed",
            Some(CompactionOutcome::Superseded) => "superseded",
        };
        Self {
            tenant: result.collection.tenant.to_string(),
            collection: result.collection.collection.to_string(),
            outcome,
            folded: compacted.map_or(0, |compacted| compacted.folded),
            rows: compacted.map_or(0, |compacted| compacted.rows),
            merged: compacted.map_or(0, |compacted| compacted.merged),
            segments: compacted.map_or(0, |compacted| compacted.segments),
            deleted_entries: cleaned.entries,
            deleted_segment_objects: cleaned.segment_objects,
            cleared_markers: result.cleared,
            error: result.error.as_ref().map(ToString::to_string),
        }
    }

    fn to_text(&self) -> String {
        let Self {
            tenant,
            collection,
            outcome,
            folded,
            segments,
            deleted_entries,
            deleted_segment_objects,
            ..
        } = self;
        let mut text = format!(
            "{tenant}:{collection}  {outcome}  {folded} changes folded, {segments} segments, deleted {deleted_entries} log entries and {deleted_segment_objects} objects of segments"
        );
        if let Some(error) = &self.error {
            text = format!("{text}: {error}");
        }
        text
    }
}
