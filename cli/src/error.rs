//! What ends a command, with its exit code and the way out. It is the only place
//! that decides how an error is shown; the errors themselves belong to the parts.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ostraca_memory::ErrorKind;

use crate::environment::EnvironmentError;
use crate::location::LocationError;
use crate::logging::FilterError;
use crate::output;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The store's name cannot be understood.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// No store is named and the user has no data folder.
    #[error("no --store is given, and this user has no home folder to keep memories in")]
    NoDataFolder,
    /// A variable that holds something unusable.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A variable of the store that is missing or unusable.
    #[error(transparent)]
    StoreEnvironment(#[from] ostraca_service::environment::EnvironmentError),
    /// The log filter cannot be read.
    #[error(transparent)]
    Log(#[from] FilterError),
    /// Flags that do not go together.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: &'static str,
        /// The way out.
        hint: &'static str,
    },
    /// A listen address that others could reach, without authentication.
    #[error("{address} can be reached by other machines, and --auth is none")]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The listen address cannot be had.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The folder cannot be a store.
    #[error(transparent)]
    Folder(#[from] ostraca_object::local::LocalError),
    /// The variables describe no bucket.
    #[error(transparent)]
    Bucket(#[from] ostraca_object::s3::S3Error),
    /// A file cannot be read or written.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// `read` or `write`.
        verb: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not what its format says, as a whole.
    #[error("{} is not such a file", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Standard input or output failed.
    #[error("standard input or output failed")]
    Stdio(#[from] io::Error),
    /// A key for a tenant that nobody created.
    #[error("there is no tenant {tenant}")]
    NoTenant {
        /// The tenant.
        tenant: ostraca_memory::TenantId,
    },
    /// An operation failed.
    #[error(transparent)]
    Memory(#[from] ostraca_memory::Error),
    /// A server to import into did not do so.
    #[error(transparent)]
    Remote(#[from] crate::remote::RemoteError),
    /// An import stopped half-way.
    #[error("the import stopped before line {line}")]
    Stopped {
        /// The first line of the batch that failed.
        line: u64,
        /// Why.
        #[source]
        source: Box<CliError>,
    },
    /// The command ran, told what it found, and that is not good.
    #[error("{summary}")]
    Findings {
        /// What it found, in one line.
        summary: String,
    },
}

impl CliError {
    /// 2 where the command line has to change, 1 elsewhere.
    fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Location(_)
                | Self::NoDataFolder
                | Self::Environment(_)
                | Self::StoreEnvironment(_)
                | Self::Log(_)
                | Self::Usage { .. }
                | Self::NotLoopback { .. }
        )
    }

    /// How long to wait before the same may work, if it may.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Memory(error) => match error.kind() {
                ErrorKind::Unavailable { retry_after } | ErrorKind::RateLimited { retry_after } => {
                    Some(retry_after)
                }
                _ => None,
            },
            Self::Remote(error) => error.retry_after(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Location(error) => error.hint(),
            Self::NoDataFolder => "give --store DIR or set OSTRACA_STORE".to_owned(),
            Self::Environment(_) => "correct the variable or unset it".to_owned(),
            Self::StoreEnvironment(_) => {
                "a bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT if it is not Amazon's".to_owned()
            }
            Self::Log(_) => "such as --log info or --log ostraca_memory=debug,warn".to_owned(),
            Self::Usage { hint, .. } => (*hint).to_owned(),
            Self::NotLoopback { address } => format!(
                "add --auth keys and create keys with `ostraca tenant create NAME` and `ostraca key create --tenant NAME`, or listen on 127.0.0.1:{}",
                address.port()
            ),
            Self::Bind { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "another process uses this port, perhaps ostraca itself; stop it or choose another port with --listen 127.0.0.1:PORT (0 takes a free one)".to_owned()
            }
            Self::Bind { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "ports below 1024 need privileges; choose a higher one with --listen".to_owned()
            }
            Self::Bind { .. } => "choose an address of this machine with --listen".to_owned(),
            Self::Folder(_) => "give another folder with --store or OSTRACA_STORE".to_owned(),
            Self::Bucket(_) => "check --store and the AWS_… variables".to_owned(),
            Self::Memory(error) => match error.kind() {
                ErrorKind::Unavailable { .. } => {
                    "run `ostraca doctor` with the same --store to see what is wrong".to_owned()
                }
                _ => return None,
            },
            Self::NoTenant { tenant } => format!("create it with `ostraca tenant create {tenant}`"),
            Self::Malformed { .. } => "name the format with --format".to_owned(),
            Self::Stopped { source, .. } => {
                const AGAIN: &str = "run the same import again: what is stored already stays as it is";
                source.hint().map_or_else(|| AGAIN.to_owned(), |hint| format!("{hint}; then {AGAIN}"))
            }
            Self::Remote(error) => error.hint()?,
            Self::File { .. } | Self::Stdio(_) | Self::Findings { .. } => return None,
        })
    }

    /// Prints the error and its hint, one line each, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let mut text = format!("error: {self}");
        let mut source = self.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            // Many layers repeat the message of the layer below.
            if !text.contains(&cause_text) {
                let _ = write!(text, ": {cause_text}");
            }
            source = cause.source();
        }
        output::note(&text.replace('\n', " "));
        if let Some(hint) = self.hint() {
            output::note(&format!("hint: {hint}"));
        }
        ExitCode::from(if self.is_usage() { 2 } else { 1 })
    }
}
