//! The deployment tool takes the Worker's configuration and bundle as they are: no
//! warning, the binding that the code asks for, and a size that the free plan allows.

use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;
use tokio::process::Command;
use tokio::runtime::Runtime;

use crate::api::temporary;
use crate::platform::folder;
use crate::trial;

/// What Cloudflare's free plan takes, after compression.
const FREE_PLAN_KIB: f64 = 3.0 * 1024.0;

pub(crate) fn trials(runtime: &Arc<Runtime>) -> Vec<Trial> {
    vec![trial(
        runtime,
        "wrangler_takes_configuration_and_bundle",
        dry_run,
    )]
}

async fn dry_run() {
    // In a copy, so that nothing is compiled and no file of the checkout changes.
    let copy = temporary();
    let text = std::fs::read_to_string(folder("../wrangler.toml")).unwrap();
    let build = text.find("[build]").expect("a build command");
    let end = build + text[build..].find("\n\n").unwrap();
    let text = format!("{}{}", &text[..build], &text[end..]);
    std::fs::write(copy.path().join("wrangler.toml"), text).unwrap();
    let bundle = copy.path().join("worker/build");
    std::fs::create_dir_all(bundle.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(built_bundle(), &bundle).unwrap();

    let output = Command::new("node")
        .arg(folder("node_modules/wrangler/bin/wrangler.js"))
        .args(["deploy", "--dry-run", "--outdir", "out"])
        .current_dir(copy.path())
        .envs([
            ("CI", "1"),
            ("WRANGLER_SEND_METRICS", "false"),
            ("NO_COLOR", "1"),
        ])
        .output()
        .await
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("WARNING"), "{said}");
    assert!(said.contains("env.BUCKET"), "{said}");
    let (_, size) = said.split_once("gzip: ").expect("a size");
    let (kib, _) = size.split_once(" KiB").expect("KiB");
    assert!(kib.parse::<f64>().unwrap() <= FREE_PLAN_KIB, "{kib} KiB");
}

fn built_bundle() -> std::path::PathBuf {
    if let Some(bundle) = std::env::var_os("OSTRACA_WORKER_BUNDLE") {
        return bundle.into();
    }
    // This test lies in target/debug/deps.
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    let bundle = Path::new(target).join("worker-bundle");
    assert!(bundle.is_dir(), "run scripts/build-worker first");
    bundle
}
