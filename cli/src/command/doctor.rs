//! `ostraca doctor`: looks at the configuration, the store, every log and the
//! embedder, and says for each what is well and what to do where it is not. It reads,
//! and writes nothing but probe objects that it deletes again.

mod embedder;
mod logs;
mod store;

use clap::Args;
use serde::Serialize;

use crate::args::{EmbedArgs, JsonArgs, StoreArgs};
use crate::database;
use crate::error::CliError;
use crate::output::{self, Style};

/// What to check.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    embed: EmbedArgs,
    #[command(flatten)]
    json: JsonArgs,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Warning,
    Failed,
}

/// What a check found.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    status: Status,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    healthy: bool,
    findings: &'a [Finding],
}

/// Runs the command.
pub(crate) async fn run(args: DoctorArgs) -> Result<(), CliError> {
    let opened = database::open(&args.store, args.embed.interactive())?;
    let mut findings = vec![Finding::ok(
        "configuration",
        format!("the store is {}", opened.location),
    )];
    let reachable = store::check(&opened.objects).await;
    let go_on = reachable
        .iter()
        .all(|finding| finding.status != Status::Failed);
    findings.extend(reachable);
    if go_on {
        findings.extend(logs::check(&opened.database).await);
    }
    findings.push(embedder::check(opened.embedder.as_deref()).await);
    let failed = findings
        .iter()
        .filter(|finding| finding.status == Status::Failed)
        .count();
    match Style::of(args.json.json) {
        Style::Json => output::json(&Report {
            healthy: failed == 0,
            findings: &findings,
        })?,
        Style::Text => findings
            .iter()
            .try_for_each(|finding| output::line(&finding.to_string()))?,
    }
    if failed == 0 {
        return Ok(());
    }
    Err(CliError::Findings {
        summary: format!("{failed} of {} checks failed", findings.len()),
    })
}

impl Finding {
    fn new(check: &'static str, status: Status, detail: String) -> Self {
        Self {
            check,
            subject: None,
            status,
            detail,
            hint: None,
        }
    }

    fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self::new(check, Status::Ok, detail.into())
    }

    fn warning(check: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..Self::new(check, Status::Warning, detail.into())
        }
    }

    fn failed(
        check: &'static str,
        error: &(dyn std::error::Error + 'static),
        hint: impl Into<String>,
    ) -> Self {
        Self {
            hint: Some(hint.into()),
            ..Self::new(check, Status::Failed, chain(error))
        }
    }

    fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }
}

/// An error with everything below it, in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text.replace('\n', " ")
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = match self.status {
            Status::Ok => "ok     ",
            Status::Warning => "warning",
            Status::Failed => "FAILED ",
        };
        write!(f, "{mark}  {}", self.check)?;
        if let Some(subject) = &self.subject {
            write!(f, " {subject}")?;
        }
        write!(f, ": {}", self.detail)?;
        match &self.hint {
            Some(hint) => write!(f, "\n         hint: {hint}"),
            None => Ok(()),
        }
    }
}
