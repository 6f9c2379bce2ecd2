//! `ostraca serve`: the service over HTTP. Out of the box it is for this machine
//! alone and asks nobody for a key; it does not listen elsewhere without keys.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use object_store::ObjectStore as _;
use ostraca_service::{App, AuthMode, Exposure, ServiceSettings, router};
use reqwest::Url;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::args::{EmbedArgs, JsonArgs, StoreArgs, TenantArgs};
use crate::database::{self, Opened};
use crate::error::CliError;
use crate::logging::LogFormat;
use crate::output::{self, Style};
use crate::signal;

/// How long requests may take to end once the server was asked to stop. A client that
/// watches for changes may wait longer; it asks again elsewhere.
const GRACE: Duration = Duration::from_secs(10);

/// How to serve.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The address and port; port 0 takes a free one
    #[arg(
        long,
        env = "OSTRACA_LISTEN",
        value_name = "IP:PORT",
        default_value = "127.0.0.1:7700"
    )]
    listen: SocketAddr,
    /// Who may call
    #[arg(
        long,
        env = "OSTRACA_AUTH",
        value_name = "MODE",
        default_value = "none"
    )]
    auth: Auth,
    /// The origin that clients use if it is not the listen address, such as
    /// `https://memory.example.com` behind a proxy; needs --auth keys
    #[arg(long, env = "OSTRACA_PUBLIC_URL", value_name = "URL")]
    public_url: Option<Url>,
    /// An origin whose web pages may call, such as `https://app.example.com`; may be
    /// repeated [default: with keys all, without keys those of this machine]
    #[arg(
        long,
        env = "OSTRACA_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    allow_origin: Vec<Url>,
    #[command(flatten)]
    tenant: TenantArgs,
    #[command(flatten)]
    embed: EmbedArgs,
    #[command(flatten)]
    json: JsonArgs,
}

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Auth {
    /// Everyone who can reach the address, as one tenant; loopback only
    None,
    /// Those with an API key, each in the key's tenant
    Keys,
}

/// What a program that started the server needs to know.
#[derive(Debug, Serialize)]
struct Ready {
    url: String,
    mcp: String,
    rest: String,
    store: String,
}

/// Runs the command.
pub(crate) async fn run(args: ServeArgs, log: LogFormat) -> Result<(), CliError> {
    check(&args)?;
    let opened = database::open(&args.store, args.embed.interactive())?;
    let failed = |source| CliError::Bind {
        address: args.listen,
        source,
    };
    let listener = TcpListener::bind(args.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let ready = Ready::new(&args, address, &opened);
    let app = App {
        database: Arc::clone(&opened.database),
        auth: match args.auth {
            Auth::None => AuthMode::Open {
                tenant: args.tenant.tenant.clone(),
            },
            Auth::Keys => AuthMode::Keys,
        },
        public_url: args.public_url.as_ref().map(origin),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: ServiceSettings {
            exposure: exposure(&args),
            ..ServiceSettings::default()
        },
    };
    announce(&args, &ready, &opened, log)?;
    tokio::spawn(look_at(opened));
    serve(listener, app).await?;
    Ok(())
}

/// Answers until asked to stop, and then until what is running has ended.
async fn serve(listener: TcpListener, app: App) -> io::Result<()> {
    let (stopping, stopped) = oneshot::channel();
    let graceful = async move {
        if let Err(error) = signal::stop().await {
            tracing::error!(%error, "signals cannot be handled; the process has to be killed to stop");
            std::future::pending::<()>().await;
        }
        tracing::info!("stopping: requests that are running may end");
        let _ = stopping.send(());
    };
    let server = axum::serve(listener, router(app)).with_graceful_shutdown(graceful);
    let deadline = async move {
        if stopped.await.is_ok() {
            tokio::select! {
                () = tokio::time::sleep(GRACE) => {}
                // Asked twice means now.
                _ = signal::stop() => {}
            }
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        result = server => result,
        () = deadline => {
            tracing::warn!("requests that were still running are cut off");
            Ok(())
        }
    }
}

/// Says early that the store does not answer, where the first request would say it late.
async fn look_at(opened: Opened) {
    if let Err(error) = opened.objects.list_with_delimiter(None).await {
        let store = opened.location.to_string();
        tracing::error!(
            store,
            error = &error as &dyn std::error::Error,
            "the store does not answer; `ostraca doctor` says more"
        );
    }
}

/// Refuses what would let strangers in.
fn check(args: &ServeArgs) -> Result<(), CliError> {
    if args.auth == Auth::Keys {
        return Ok(());
    }
    if !is_loopback(args.listen.ip()) {
        return Err(CliError::NotLoopback {
            address: args.listen,
        });
    }
    let public = args.public_url.as_ref().and_then(Url::host_str);
    if public.is_some_and(|host| !LOOPBACK_NAMES.contains(&host)) {
        return Err(CliError::Usage {
            message: "--public-url names an address that others can reach, and --auth is none",
            hint: "add --auth keys and create keys with `ostraca tenant create NAME` and `ostraca key create --tenant NAME`",
        });
    }
    Ok(())
}

const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Under which names and from which pages the server may be reached. Where tokens are
/// asked for, a foreign name or page can do no harm; where they are not, only this
/// machine's names count.
fn exposure(args: &ServeArgs) -> Exposure {
    let origins: Vec<String> = args.allow_origin.iter().map(origin).collect();
    match args.auth {
        Auth::Keys => Exposure::Public {
            hosts: Vec::new(),
            origins,
        },
        Auth::None if origins.is_empty() => Exposure::Loopback,
        Auth::None => Exposure::Public {
            hosts: LOOPBACK_NAMES.map(str::to_owned).to_vec(),
            origins,
        },
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

impl Ready {
    fn new(args: &ServeArgs, address: SocketAddr, opened: &Opened) -> Self {
        let url = args
            .public_url
            .as_ref()
            .map_or_else(|| format!("http://{}", reachable(address)), origin);
        Self {
            mcp: format!("{url}/mcp"),
            rest: format!("{url}/v1"),
            store: opened.location.to_string(),
            url,
        }
    }
}

/// An address that a client on this machine can use: nobody can call 0.0.0.0.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Says once that the server is ready: to the program that started it, to a person,
/// or to the log where that is all there is.
fn announce(args: &ServeArgs, ready: &Ready, opened: &Opened, log: LogFormat) -> io::Result<()> {
    if Style::of(args.json.json) == Style::Json {
        return output::json(ready);
    }
    if log == LogFormat::Json {
        tracing::info!(url = ready.url, store = ready.store, "serving");
        return Ok(());
    }
    let Ready {
        mcp, rest, store, ..
    } = ready;
    let header = match args.auth {
        Auth::None => String::new(),
        Auth::Keys => " --header \"Authorization: Bearer YOUR_KEY\"".to_owned(),
    };
    let recall = match opened.database.embedding_model() {
        Some(model) => format!("by keywords and by meaning ({model})"),
        None => "by keywords; --embed-url adds recall by meaning".to_owned(),
    };
    let mut text = format!(
        "ostraca {} is ready\n\n  MCP     {mcp}\n  REST    {rest}\n  Data    {store}\n  Recall  {recall}\n\n\
         Connect Claude Code:\n  claude mcp add --transport http memory {mcp}{header}\n\
         Other clients take the MCP address as it stands.",
        env!("CARGO_PKG_VERSION")
    );
    if args.auth == Auth::Keys {
        text.push_str(
            "\nMake keys with:\n  ostraca tenant create NAME\n  ostraca key create --tenant NAME",
        );
    }
    output::note(&text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn args(line: &[&str]) -> ServeArgs {
        Cli::try_parse_from([&["serve"], line].concat())
            .unwrap_or_else(|error| panic!("{error}"))
            .serve
    }

    #[test]
    fn without_keys_only_loopback_is_served() {
        for open in [
            "127.0.0.1:1",
            "[::1]:1",
            "127.8.8.8:1",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert!(check(&args(&["--listen", open])).is_ok(), "{open}");
        }
        for closed in [
            "0.0.0.0:1",
            "[::]:1",
            "192.168.0.4:1",
            "[::ffff:10.0.0.1]:1",
        ] {
            assert!(check(&args(&["--listen", closed])).is_err(), "{closed}");
            assert!(
                check(&args(&["--listen", closed, "--auth", "keys"])).is_ok(),
                "{closed}"
            );
        }
        assert!(check(&args(&["--public-url", "https://memory.example.com"])).is_err());
        assert!(check(&args(&["--public-url", "http://localhost:7700"])).is_ok());
    }

    #[test]
    fn without_keys_a_foreign_host_name_is_never_answered() {
        assert_eq!(exposure(&args(&[])), Exposure::Loopback);
        let Exposure::Public { hosts, origins } =
            exposure(&args(&["--allow-origin", "https://app.example.com/"]))
        else {
            panic!("an allowed origin needs the list");
        };
        assert_eq!(hosts, LOOPBACK_NAMES);
        assert_eq!(origins, ["https://app.example.com"]);
    }

    #[test]
    fn the_address_that_is_shown_can_be_called() {
        let shown = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(shown("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(shown("[::]:80"), "[::1]:80");
        assert_eq!(shown("10.0.0.1:80"), "10.0.0.1:80");
    }
}
