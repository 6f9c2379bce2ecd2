//! `ostraca key`: API keys, each of one tenant. A key's secret is shown once, when
//! it is created; the store holds a digest of it.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::{Args, Subcommand};
use ostraca_memory::{KeyInfo, NewKey, Permission, TenantId, time};
use ostraca_object::port::Clock as _;
use ostraca_object::port::native::SystemClock;
use serde::Serialize;

use crate::args::{JsonArgs, StoreArgs, TenantArgs};
use crate::database;
use crate::duration;
use crate::error::CliError;
use crate::output::{self, Style};

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and show its secret, this once
    Create(CreateArgs),
    /// List a tenant's keys, without their secrets
    List {
        #[command(flatten)]
        tenant: TenantArgs,
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        json: JsonArgs,
    },
    /// Revoke a key: from then on it opens nothing
    Revoke {
        /// The key's id, as `ostraca key list` shows it
        id: String,
        #[command(flatten)]
        tenant: TenantArgs,
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        json: JsonArgs,
    },
}

/// The key to create.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The tenant that the key opens
    #[arg(long, env = "OSTRACA_TENANT", value_name = "TENANT")]
    tenant: TenantId,
    /// What you call the key, such as the program that uses it
    #[arg(long, value_name = "NAME", default_value = "unnamed")]
    name: String,
    /// What the key may do: memories:read, memories:write, memories:delete or
    /// memories:export; may be repeated [default: all]
    #[arg(long = "scope", value_name = "SCOPE", value_parser = permission, value_delimiter = ',')]
    scopes: Vec<Permission>,
    /// The key may read and nothing else
    #[arg(long, conflicts_with = "scopes")]
    read_only: bool,
    /// How long the key is good for, such as 90d [default: until it is revoked]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    expires: Option<Duration>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    json: JsonArgs,
}

/// A text that names no permission.
#[derive(Debug, thiserror::Error)]
#[error(
    "{given:?} is no scope: use memories:read, memories:write, memories:delete or memories:export"
)]
struct UnknownPermission {
    given: String,
}

/// A key as a program reads it.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    id: &'a str,
    tenant: &'a str,
    name: &'a str,
    scopes: Vec<&'static str>,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
}

/// Runs the command.
pub(crate) async fn run(command: KeyCommand) -> Result<(), CliError> {
    match command {
        KeyCommand::Create(args) => create(args).await,
        KeyCommand::List {
            tenant,
            store,
            json,
        } => {
            let opened = database::open(&store, None)?;
            let keys = opened.database.list_keys(&tenant.tenant).await?;
            match Style::of(json.json) {
                Style::Json => output::json(
                    &keys
                        .iter()
                        .map(|key| Shown::new(key, None))
                        .collect::<Vec<_>>(),
                )?,
                Style::Text if keys.is_empty() => output::note("there are no keys in this tenant"),
                Style::Text => keys.iter().try_for_each(|key| output::line(&row(key)))?,
            }
            Ok(())
        }
        KeyCommand::Revoke {
            id,
            tenant,
            store,
            json,
        } => {
            let opened = database::open(&store, None)?;
            let key = opened.database.revoke_key(&tenant.tenant, &id).await?;
            match Style::of(json.json) {
                Style::Json => output::json(&Shown::new(&key, None))?,
                Style::Text => output::line(&row(&key))?,
            }
            Ok(())
        }
    }
}

async fn create(args: CreateArgs) -> Result<(), CliError> {
    let permissions: BTreeSet<Permission> = match (args.read_only, args.scopes.is_empty()) {
        (true, _) => BTreeSet::from([Permission::Read]),
        (false, true) => Permission::ALL.into_iter().collect(),
        (false, false) => args.scopes.into_iter().collect(),
    };
    let opened = database::open(&args.store, None)?;
    let expires = args.expires.map(|after| {
        let millis = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        SystemClock.now().plus_millis(millis)
    });
    let tenant = args.tenant.clone();
    let new = NewKey {
        tenant: args.tenant,
        name: args.name,
        permissions,
        expires,
    };
    let created = opened
        .database
        .create_key(new)
        .await
        .map_err(|error| match error.field() {
            Some("tenant") => CliError::NoTenant { tenant },
            _ => error.into(),
        })?;
    match Style::of(args.json.json) {
        Style::Json => output::json(&Shown::new(&created.info, Some(&created.secret)))?,
        Style::Text => {
            output::note(&format!(
                "key {} for tenant {}; its secret is shown this once:",
                created.info.id, created.info.tenant
            ));
            output::line(&created.secret)?;
        }
    }
    Ok(())
}

impl<'a> Shown<'a> {
    fn new(key: &'a KeyInfo, secret: Option<&'a str>) -> Self {
        Self {
            id: &key.id,
            tenant: key.tenant.as_str(),
            name: &key.name,
            scopes: key
                .permissions
                .iter()
                .map(|permission| permission.name())
                .collect(),
            created_at: time::format_instant(key.created),
            expires_at: key.expires.map(time::format_instant),
            revoked_at: key.revoked.map(time::format_instant),
            secret,
        }
    }
}

fn row(key: &KeyInfo) -> String {
    let state = match (key.revoked, key.expires) {
        (Some(at), _) => format!("revoked {}", time::format_instant(at)),
        (None, Some(at)) => format!("good until {}", time::format_instant(at)),
        (None, None) => "good".to_owned(),
    };
    let scopes: Vec<&str> = key
        .permissions
        .iter()
        .map(|permission| permission.name())
        .collect();
    format!(
        "{}  {}  {}  created {}  {state}",
        key.id,
        key.name,
        scopes.join(","),
        time::format_instant(key.created)
    )
}

fn permission(text: &str) -> Result<Permission, UnknownPermission> {
    Permission::parse(text).ok_or_else(|| UnknownPermission {
        given: text.to_owned(),
    })
}
