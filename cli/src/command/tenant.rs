//! `ostraca tenant`: the isolation units of a store. A tenant needs no ceremony: it
//! is a name, recorded so that a key for it can be told from a key with a typo.

use clap::Subcommand;
use ostraca_memory::{TenantId, TenantInfo, time};
use serde::Serialize;

use crate::args::{JsonArgs, StoreArgs};
use crate::database;
use crate::error::CliError;
use crate::output::{self, Style};

/// What to do with tenants.
#[derive(Debug, Subcommand)]
pub(crate) enum TenantCommand {
    /// Create a tenant, for which keys can then be created
    Create {
        /// Its name: lower-case letters, digits and hyphens
        id: TenantId,
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        json: JsonArgs,
    },
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    id: &'a str,
    created_at: String,
}

/// Runs the command.
pub(crate) async fn run(command: TenantCommand) -> Result<(), CliError> {
    let TenantCommand::Create { id, store, json } = command;
    let opened = database::open(&store, None)?;
    let info: TenantInfo = opened.database.create_tenant(&id).await?;
    match Style::of(json.json) {
        Style::Json => {
            output::json(&Shown {
                id: info.id.as_str(),
                created_at: time::format_instant(info.created),
            })?;
        }
        Style::Text => output::line(&format!(
            "created tenant {} at {}",
            info.id,
            time::format_instant(info.created)
        ))?,
    }
    Ok(())
}
