//! The edges on their real runtimes: the Worker on workerd, the function in the Lambda
//! runtime, on R2 and on S3 servers. It needs what `make build-edges` builds; the rest it
//! builds and starts itself.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::string_slice,
    reason = "a test fails by panicking, and tells how long a burst took"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the suite is an edge: it reads the environment and starts processes"
)]

mod api;
mod burst;
mod compaction;
mod concurrent;
mod contract;
mod cross;
mod killed;
mod objects;
mod platform;
mod process;
mod wrangler;

// The api suite is a program of its own; here are its cases over other targets.
#[path = "../api/binary.rs"]
mod binary;
#[path = "../api/case.rs"]
mod case;
#[path = "../api/cases/mod.rs"]
mod cases;
#[path = "../api/client.rs"]
mod client;
#[path = "../api/redact.rs"]
mod redact;
#[path = "../api/schema.rs"]
mod schema;
#[path = "../api/server.rs"]
mod server;
#[path = "../api/target.rs"]
#[allow(dead_code, reason = "edges are started by other means")]
mod target;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let runtime = Arc::new(runtime);
    let mut trials = api::trials(&runtime);
    trials.extend(contract::trials(&runtime));
    trials.extend(concurrent::trials(&runtime));
    trials.extend(compaction::trials(&runtime));
    trials.extend(killed::trials(&runtime));
    trials.extend(cross::trials(&runtime));
    trials.extend(wrangler::trials(&runtime));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test of its own: a name and a future that panics if it fails.
fn trial<F>(runtime: &Arc<Runtime>, name: &str, run: fn() -> F) -> Trial
where
    F: Future<Output = ()> + 'static,
{
    let runtime = Arc::clone(runtime);
    Trial::test(name, move || -> Result<(), Failed> {
        runtime.block_on(run());
        Ok(())
    })
}
