//! The store contract on servers: through the S3 store of native processes, and inside
//! workerd on the R2 binding and on S3 through `fetch`, in a bundle with a door for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use ostraca_contract::{CASES, NATIVE_CASES};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use crate::api::temporary;
use crate::platform::{Bucket, Workerd, cargo};
use crate::process::Process;

/// A bundle with the contract in it, and the runtimes that serve it on each store.
#[derive(Debug)]
struct Started {
    url: String,
    _process: Process,
    _folders: Vec<TempDir>,
    _bucket: Option<Bucket>,
}

#[derive(Debug, Clone, Copy)]
enum Store {
    R2,
    S3,
}

impl Store {
    fn name(self) -> &'static str {
        match self {
            Self::R2 => "r2_binding",
            Self::S3 => "s3_through_fetch",
        }
    }

    async fn start(self, bundle: &Path) -> Started {
        let bundle = Some(bundle.to_owned());
        let (r2, bucket) = match self {
            Self::R2 => (Some(temporary()), None),
            Self::S3 => (None, Some(Bucket::seaweedfs().await)),
        };
        let workerd = Workerd {
            instances: 1,
            r2: r2.as_ref().map(TempDir::path),
            bundle,
        };
        let variables = bucket.as_ref().map(|bucket| bucket.variables("contract"));
        let process = workerd.start(&variables.unwrap_or_default()).await;
        Started {
            url: process.urls().remove(0),
            _process: process,
            _folders: r2.into_iter().collect(),
            _bucket: bucket,
        }
    }
}

/// Compiles the Worker with the contract and bundles it, apart from the one that ships.
fn bundle() -> PathBuf {
    cargo(&[
        "build",
        "--quiet",
        "-p",
        "ostraca-worker",
        "--features",
        "contract",
        "--target",
        "wasm32-unknown-unknown",
    ]);
    // This test lies in target/debug/deps.
    let mut target = std::env::current_exe().unwrap();
    for _ in 0..3 {
        target.pop();
    }
    let wasm = target.join("wasm32-unknown-unknown/debug/ostraca_worker.wasm");
    let out = target.join("worker-contract");
    let (wasm, out_name) = (wasm.display().to_string(), out.display().to_string());
    let bundler = ["run", "--quiet", "-p", "ostraca-worker-bundle", "--"];
    // Compiled for debugging, so the size says nothing.
    let arguments = [wasm.as_str(), &out_name, "--budget-bytes", "1000000000"];
    cargo(&[&bundler[..], &arguments[..]].concat());
    out
}

pub(crate) fn trials(runtime: &Arc<Runtime>) -> Vec<Trial> {
    let bundled: Arc<OnceCell<PathBuf>> = Arc::default();
    let mut trials = Vec::new();
    for store in [Store::R2, Store::S3] {
        let started: Arc<OnceCell<Started>> = Arc::default();
        for case in CASES {
            let (runtime, bundled) = (Arc::clone(runtime), Arc::clone(&bundled));
            let started = Arc::clone(&started);
            let name = format!("contract::{}::{}", store.name(), case.name);
            trials.push(Trial::test(name, move || {
                runtime.block_on(async {
                    let bundle = bundled.get_or_init(|| async { bundle() }).await;
                    let started = started.get_or_init(|| store.start(bundle)).await;
                    run(&started.url, case.name).await
                })
            }));
        }
    }
    trials.extend(native(runtime));
    trials
}

/// The same cases through the S3 store of native processes, on two servers.
fn native(runtime: &Arc<Runtime>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for server in ["seaweedfs", "moto"] {
        let started: Arc<OnceCell<Bucket>> = Arc::default();
        for case in CASES.iter().chain(NATIVE_CASES) {
            let (runtime, started) = (Arc::clone(runtime), Arc::clone(&started));
            let name = format!("contract::s3_on_{server}::{}", case.name);
            trials.push(Trial::test(name, move || {
                runtime.block_on(async {
                    let bucket = started.get_or_init(|| Bucket::start(server)).await;
                    let store = bucket.open("in/a/folder");
                    case.run(store, "contract")
                        .await
                        .map_err(|failure| Failed::from(format!("{failure:?}")))
                })
            }));
        }
    }
    trials
}

async fn run(url: &str, case: &str) -> Result<(), Failed> {
    let url = format!("{url}/__contract/{case}");
    let answer = reqwest::Client::new().post(url).send().await?;
    if answer.status().is_success() {
        return Ok(());
    }
    Err(answer.text().await?.into())
}
