//! `ostraca`, the local binary: agent memory over HTTP and stdio, and the commands
//! around it. It is an edge: it reads flags and the environment, supplies the ports
//! and translates; what memory is and does stands in the crates below.

mod args;
mod background;
mod command;
mod database;
mod duration;
mod environment;
mod error;
mod format;
mod location;
mod logging;
mod output;
mod progress;
mod remote;
mod signal;
mod sink;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::command::{compact, doctor, export, import, key, mcp, serve, tenant};
use crate::error::CliError;
use crate::logging::LogArgs;

/// Agent memory whose only state is objects in your folder or bucket.
#[derive(Debug, Parser)]
#[command(
    name = "ostraca",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "Start with `ostraca serve`, or let a client run `ostraca mcp`. No configuration is needed."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve memory over HTTP: MCP at /mcp, REST at /v1
    Serve(serve::ServeArgs),
    /// Serve memory to one MCP client over standard input and output
    Mcp(mcp::McpArgs),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Create tenants
    #[command(subcommand)]
    Tenant(tenant::TenantCommand),
    /// Fold what was written into segments, and delete what nobody needs any more
    Compact(compact::CompactArgs),
    /// Store the memories of a file; again, and nothing changes
    Import(import::ImportArgs),
    /// Write every memory to a file
    Export(export::ExportArgs),
    /// Check the configuration and the store
    Doctor(doctor::DoctorArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(cli: Cli) -> Result<(), CliError> {
    let rust_log = environment::process("RUST_LOG").and_then(|value| value.into_string().ok());
    logging::start(&cli.log, rust_log.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(async {
        match cli.command {
            Command::Serve(args) => serve::run(args, cli.log.format).await,
            Command::Mcp(args) => mcp::run(args).await,
            Command::Key(command) => key::run(command).await,
            Command::Tenant(command) => tenant::run(command).await,
            Command::Compact(args) => compact::run(args).await,
            Command::Import(args) => import::run(args).await,
            Command::Export(args) => export::run(args).await,
            Command::Doctor(args) => doctor::run(args).await,
        }
    });
    // A read of standard input cannot be interrupted, and nothing else may still run.
    runtime.shutdown_background();
    result
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
        for line in [
            "ostraca serve --log info",
            "ostraca mcp --log-format json",
            "ostraca key create --tenant t --read-only --expires 90d",
            "ostraca key create --tenant t --scope memories:read --scope memories:write",
            "ostraca key list",
            "ostraca key revoke id",
            "ostraca tenant create t",
            "ostraca compact --due --horizon 2h",
            "ostraca compact --tenant t --collection memory --major --json",
            "ostraca compact --all --budget 10m",
            "ostraca import - --format jsonl --log-format text",
            "ostraca export --format jsonl",
            "ostraca doctor --json",
        ] {
            Cli::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }

    #[test]
    fn every_setting_has_a_variable() {
        let without = ["help", "version"];
        for command in ["serve", "mcp"] {
            let cli = Cli::command();
            let found = cli.find_subcommand(command).expect(command);
            for argument in found.get_arguments() {
                let id = argument.get_id().as_str();
                let named = argument.get_env().and_then(|name| name.to_str());
                assert!(
                    without.contains(&id)
                        || id == "json"
                        || named.is_some_and(|name| name.starts_with("OSTRACA_")),
                    "{command} {id} has no variable"
                );
            }
        }
    }
}
