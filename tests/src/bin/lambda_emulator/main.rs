//! A Lambda Runtime API on loopback with an HTTP API in front: any request becomes an event,
//! real `bootstrap` processes answer it, and their answers become responses again. It keeps the
//! rules that code can run into: one request at a time in an environment, a process that is
//! frozen between requests, limits of size and time, and a fresh process after a crash.
//! It must not know anything about what the function does.
//!
//! ```text
//! lambda_emulator --bootstrap PATH [--instances N] [--front http-api|function-url]
//!                 [--timeout-ms N] [--env NAME=VALUE]…
//! ```
//!
//! Prints one line of JSON when it listens: `url` takes requests for any instance and
//! `instances[i].url` for that one alone. `POST {url}/__kill?instance=i` kills a process as a
//! power cut would, `GET {url}/__stats` tells how long starts took, `POST {url}/__invoke` hands its
//! body to the function as an event of another kind. Ends when stdin closes.
#![expect(
    clippy::disallowed_methods,
    reason = "the emulator is the platform: it owns processes, tasks and real time"
)]

mod answer;
mod environment;
mod event;
mod front;
mod invocation;
mod runtime_api;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::environment::{Environment, Function};
use crate::event::Front;
use crate::invocation::Queue;

/// Runs a Lambda function binary behind an HTTP front on loopback.
#[derive(Debug, Parser)]
struct Arguments {
    /// The function's binary.
    #[arg(long)]
    bootstrap: PathBuf,
    /// How many environments run at once.
    #[arg(long, default_value_t = 1)]
    instances: usize,
    /// Whose events the function gets.
    #[arg(long, value_enum, default_value_t = Front::HttpApi)]
    front: Front,
    /// The function's time limit; an HTTP API waits 30 s at most.
    #[arg(long, default_value_t = 30_000)]
    timeout_ms: u64,
    /// A variable of the function's environment, which is otherwise empty.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("it has to be NAME=VALUE".to_owned()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let function = Arc::new(Function {
        bootstrap: arguments.bootstrap,
        variables: arguments.environment,
        front: arguments.front,
        timeout: Duration::from_millis(arguments.timeout_ms),
    });

    let any = Queue::default();
    let mut environments = Vec::new();
    let mut listed = Vec::new();
    for number in 0..arguments.instances {
        let environment = Environment::start(Arc::clone(&function), number, any.clone()).await?;
        let url = serve(front::of_one(&environment)).await?;
        listed.push(json!({ "name": format!("lambda-{number}"), "url": url }));
        environments.push(environment);
    }
    let url = serve(front::of_all(function, any, environments.clone())).await?;

    let ready = json!({ "url": url, "instances": listed, "pid": std::process::id() });
    let mut stdout = tokio::io::stdout();
    stdout.write_all(format!("{ready}\n").as_bytes()).await?;
    stdout.flush().await?;

    wait_for_end_of_stdin().await;
    for environment in environments {
        environment.end();
    }
    Ok(())
}

/// Serves a router on a port that the system chooses and returns its URL.
pub(crate) async fn serve(router: axum::Router) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

async fn wait_for_end_of_stdin() {
    let mut stdin = tokio::io::stdin();
    let mut buffer = [0_u8; 1024];
    while matches!(stdin.read(&mut buffer).await, Ok(read) if read > 0) {}
}
