//! The flags that several commands share, each with its `OSTRACA_…` variable. They
//! are only read here; what they mean is decided where they are used.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use ostraca_memory::{ScopePath, TenantId, parse_scope};
use reqwest::Url;

use crate::duration;

/// Which store.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Where memories lie: a folder, `file:///folder`, `s3://bucket` or `s3://bucket/prefix`
    /// [default: `ostraca` in this user's data folder]
    ///
    /// A bucket is reached with the standard variables `AWS_ENDPOINT` (or
    /// `AWS_ENDPOINT_URL`), `AWS_REGION` (or `AWS_DEFAULT_REGION`), `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` and `AWS_ALLOW_HTTP`. Any number of
    /// processes may use one store at once.
    #[arg(long, env = "OSTRACA_STORE", value_name = "DIR|s3://BUCKET/PREFIX")]
    pub(crate) store: Option<OsString>,
    /// How long objects stay that nobody needs any more, for those who still read them;
    /// every process on one store must be told the same
    #[arg(
        long,
        env = "OSTRACA_HORIZON",
        value_name = "DURATION",
        default_value = "1h",
        value_parser = duration::parse
    )]
    pub(crate) horizon: Duration,
}

/// Whose memories.
#[derive(Debug, Args)]
pub(crate) struct TenantArgs {
    /// The tenant to work in where no key says so
    #[arg(
        long,
        env = "OSTRACA_TENANT",
        value_name = "TENANT",
        default_value = "default"
    )]
    pub(crate) tenant: TenantId,
}

/// Which part of a tenant.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// A scope, such as `projects/atlas`, and everything below it [default: all]
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    pub(crate) scope: Option<ScopePath>,
}

/// Whether a program reads the result.
#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print the result as one JSON value on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where texts become vectors. Without an endpoint, recall is by keywords alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "Embeddings")]
pub(crate) struct EmbedArgs {
    /// An OpenAI-compatible endpoint, such as `http://127.0.0.1:8080/v1`, for recall
    /// by meaning; its key is read from the variable `OSTRACA_EMBED_API_KEY` alone
    #[arg(
        long,
        env = "OSTRACA_EMBED_URL",
        value_name = "URL",
        requires = "embed_model"
    )]
    pub(crate) embed_url: Option<Url>,
    /// The model to ask for
    #[arg(long, env = "OSTRACA_EMBED_MODEL", value_name = "NAME")]
    pub(crate) embed_model: Option<String>,
    /// How many dimensions to ask for and to insist on [default: what comes]
    #[arg(long, env = "OSTRACA_EMBED_DIMENSIONS", value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) embed_dimensions: Option<u32>,
    /// How long to wait for vectors before a write goes on without and recall goes on
    /// by keywords [default: 4s, for an import 2m]
    #[arg(
        long,
        env = "OSTRACA_EMBED_TIMEOUT",
        value_name = "DURATION",
        value_parser = duration::parse
    )]
    pub(crate) embed_timeout: Option<Duration>,
}

/// How long somebody who waits for an answer is kept waiting for vectors.
const INTERACTIVE: Duration = Duration::from_secs(4);
/// How long a batch of an import may take, as nobody waits for a single one.
const BATCH: Duration = Duration::from_mins(2);

impl EmbedArgs {
    /// The settings of the endpoint, if there is one.
    pub(crate) fn interactive(&self) -> Option<Endpoint<'_>> {
        self.endpoint(INTERACTIVE)
    }

    /// The same for work in batches.
    pub(crate) fn batch(&self) -> Option<Endpoint<'_>> {
        self.endpoint(BATCH)
    }

    fn endpoint(&self, timeout: Duration) -> Option<Endpoint<'_>> {
        Some(Endpoint {
            url: self.embed_url.as_ref()?,
            model: self.embed_model.as_deref()?,
            dimensions: self.embed_dimensions,
            timeout: self.embed_timeout.unwrap_or(timeout),
        })
    }
}

/// An embedding endpoint and how to use it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Endpoint<'a> {
    /// Its base URL.
    pub(crate) url: &'a Url,
    /// The model.
    pub(crate) model: &'a str,
    /// How many dimensions to insist on.
    pub(crate) dimensions: Option<u32>,
    /// The limit for one write or recall.
    pub(crate) timeout: Duration,
}

fn scope(text: &str) -> ostraca_memory::Result<ScopePath> {
    parse_scope("scope", text)
}
