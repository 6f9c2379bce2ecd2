//! A service over memory that also has the fixtures of the official MCP conformance
//! suite. The suite runs against this rather than against the product's binary, which
//! is never built with them.
//!
//! `cargo run -p ostraca-service --features conformance --example conformance -- 127.0.0.1:7710`

use std::sync::Arc;

use object_store::memory::InMemory;
use ostraca_memory::{Database, Ports, Settings};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_service::{App, AuthMode, ServiceSettings, router};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:7710".to_owned());
    let ports = Ports {
        store: Arc::new(InMemory::new()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(OsIds),
        embedder: None,
        background: None,
    };
    let app = App {
        database: Database::new(ports, Settings::default()),
        auth: AuthMode::Open {
            tenant: "conformance".parse()?,
        },
        public_url: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: ServiceSettings::default(),
    };
    let listener = tokio::net::TcpListener::bind(&address).await?;
    axum::serve(listener, router(app)).await?;
    Ok(())
}
