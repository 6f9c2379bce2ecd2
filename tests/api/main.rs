//! The api suite: what REST and MCP answer, success and refusal, and the faults that
//! users of such systems have met. It is one list of cases over a target, so that
//! the same cases run against the local binary, the Worker and the Lambda.
//!
//! Without variables it starts the local binary on a temporary folder, with keys and
//! with a real embedding model. With `OSTRACA_TEST_URL` (and `OSTRACA_TEST_TOKEN`,
//! `OSTRACA_TEST_OTHER_TOKEN`, `OSTRACA_TEST_READER_TOKEN`) it asks a server that runs
//! already; cases that such a server cannot take are then listed as ignored.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the suite is an edge: it reads the environment and starts processes"
)]

mod binary;
mod case;
mod cases;
mod client;
mod redact;
mod schema;
mod server;
mod target;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use crate::target::Target;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let runtime = Arc::new(
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap(),
    );
    // Listing must not start servers.
    let target = (!arguments.list).then(|| Arc::new(runtime.block_on(Target::from_environment())));
    let trials = cases::all()
        .into_iter()
        .map(|case| {
            let ignored = target
                .as_ref()
                .is_some_and(|target| !target.has(case.needs));
            let (target, runtime) = (target.clone(), Arc::clone(&runtime));
            Trial::test(case.name, move || {
                runtime.block_on(case::run(&case, target.expect("a target")))
            })
            .with_ignored_flag(ignored)
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Some(target) = target.and_then(Arc::into_inner) {
        runtime.block_on(target.stop());
    }
    conclusion.exit_code()
}
