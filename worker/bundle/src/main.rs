//! Turns the Worker's wasm into the modules that workerd loads, and holds their size to
//! a budget. It stands apart because it is the only code that links wasm-bindgen's generator;
//! it must not know anything about Ostraca beyond the names of the Worker's two handlers.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build tool: it reads and writes files and reports on stdout"
)]

mod error;
mod generate;
mod size;

use std::path::PathBuf;

use clap::Parser;

use crate::error::BundleError;
use crate::size::BundleSize;

/// Cloudflare's free plan takes 3 MiB of compressed modules.
const FREE_PLAN_BYTES: u64 = 3 * 1024 * 1024;

/// Writes `shim.js`, `index.js`, `index_bg.wasm` and their snippets into a folder.
#[derive(Debug, Parser)]
struct Arguments {
    /// The module that cargo built for wasm32-unknown-unknown.
    wasm: PathBuf,
    /// Folder for the bundle; what is in it is replaced.
    out: PathBuf,
    /// Most bytes that all modules together may have after gzip.
    #[arg(long, default_value_t = FREE_PLAN_BYTES)]
    budget_bytes: u64,
}

fn main() -> Result<(), BundleError> {
    let arguments = Arguments::parse();
    generate::bundle(&arguments.wasm, &arguments.out)?;
    let size = BundleSize::of_folder(&arguments.out)?;
    println!(
        "worker bundle: {} raw, {} gzip, budget {}",
        size::kib(size.raw_bytes),
        size::kib(size.gzip_bytes),
        size::kib(arguments.budget_bytes),
    );
    size.within(arguments.budget_bytes)
}
