//! An S3 server in memory, on loopback, that counts requests and takes as long for each
//! as it is told: for benchmarks and races whose figures must not depend on a real store.
//! A conditional write is decided at once and answered late, as one lock holds all
//! objects. It checks no signature.
//!
//! ```text
//! counting_s3 [--port N] [--put-ms N] [--get-ms N] [--list-ms N] [--delete-ms N] [--bytes-per-second N]
//! ```
//!
//! Prints one line of JSON when it listens. `GET /__stats` gives the counts, `GET /__log`
//! every request with its times; `POST /__reset` forgets both. `POST /__pace?get_ms=30`
//! changes how long things take. Buckets come into being when they are named. Ends when
//! stdin closes.

mod bucket;
mod chunked;
mod control;
mod multipart;
mod pace;
mod record;
mod request;
mod stats;
mod xml;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use clap::Parser;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::request::Server;

/// An S3 server in memory that counts.
#[derive(Debug, Parser)]
struct Arguments {
    /// Port on loopback; 0 for any that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    pace: pace::Asked,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let server = Arc::new(Server::new(arguments.pace));
    let app = Router::new()
        .route("/__stats", get(control::stats))
        .route("/__log", get(control::log))
        .route("/__reset", post(control::reset))
        .route("/__pace", post(control::pace))
        .fallback(request::serve)
        .layer(DefaultBodyLimit::disable())
        .with_state(server);
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    let said = serde_json::json!({ "url": format!("http://{}", listener.local_addr()?) });
    let mut out = tokio::io::stdout();
    out.write_all(format!("{said}\n").as_bytes()).await?;
    out.flush().await?;
    axum::serve(listener, app)
        .with_graceful_shutdown(async {
            let mut rest = Vec::new();
            // However stdin ends, whoever started this server is gone.
            let _ = tokio::io::stdin().read_to_end(&mut rest).await;
            std::process::exit(0);
        })
        .await?;
    Ok(())
}
