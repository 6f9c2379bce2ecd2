//! What others wrote to judge a server by: the official clients of both languages, the
//! Inspector, mcp-remote and the conformance suite, against the local binary, the Worker on
//! workerd and the function in the Lambda runtime. The checks are the scripts beside this
//! file and in tests/conformance; here they get a server.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests read the environment and start processes"
)]

#[path = "../api/binary.rs"]
mod binary;
#[path = "../edge/platform.rs"]
#[expect(dead_code, reason = "the edge suite uses the rest")]
mod platform;
#[path = "../edge/process.rs"]
#[expect(dead_code, reason = "the edge suite uses the rest")]
mod process;

use std::path::Path;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use crate::platform::{
    Bucket, Front, Variables, Workerd, cargo, command, lambda, local, open_to_all,
};

#[tokio::test]
async fn clients_of_the_local_binary_over_stdio() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = script("clients");
    run.arg("--stdio").arg(binary::path());
    run.arg("mcp").arg("--store").arg(folder.path());
    passes(run).await;
}

#[tokio::test]
async fn clients_of_the_local_binary_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut variables = on(folder.path());
    let token = key(&variables).await;
    variables.push(("OSTRACA_AUTH".to_owned(), "keys".to_owned()));
    let server = local(&variables).await;
    clients(server.ready["url"].as_str().unwrap(), Some(&token)).await;
    drop(server);
}

#[tokio::test]
async fn clients_of_the_worker() {
    let folder = tempfile::tempdir().unwrap();
    let worker = on_r2(folder.path()).start(&open_to_all()).await;
    clients(&worker.urls()[0], None).await;
    drop(worker);
}

#[tokio::test]
async fn clients_of_the_lambda_with_a_key() {
    let bucket = Bucket::seaweedfs().await;
    let mut variables = bucket.variables("clients");
    let token = key(&variables).await;
    variables.push(("OSTRACA_AUTH".to_owned(), "keys".to_owned()));
    let function = lambda(1, Front::HttpApi, &variables).await;
    clients(&function.urls()[0], Some(&token)).await;
    drop(function);
}

#[tokio::test]
async fn conformance_of_the_local_binary() {
    let folder = tempfile::tempdir().unwrap();
    let server = local(&on(folder.path())).await;
    conformance(server.ready["url"].as_str().unwrap(), &[]).await;
    drop(server);
}

#[tokio::test]
async fn conformance_of_the_worker() {
    let folder = tempfile::tempdir().unwrap();
    let worker = on_r2(folder.path()).start(&open_to_all()).await;
    conformance(&worker.urls()[0], &["--public"]).await;
    drop(worker);
}

#[tokio::test]
async fn conformance_with_the_fixtures_of_the_suite() {
    let example = ["--example", "conformance", "--features", "conformance"];
    cargo(&[&["build", "--quiet", "-p", "ostraca-service"][..], &example].concat());
    // This test lies in target/<profile>/deps, examples in a folder beside that.
    let mut program = std::env::current_exe().unwrap();
    program.pop();
    program.pop();
    program.push("examples/conformance");
    let address = free_address().await;
    let server = Command::new(program)
        .arg(&address)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    answers(&address).await;
    conformance(&format!("http://{address}"), &["--fixtures"]).await;
    drop(server);
}

/// An address that was free a moment ago; the example takes no other kind.
async fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Waits until somebody listens.
async fn answers(address: &str) {
    for _ in 0..600 {
        if TcpStream::connect(address).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("nobody listens at {address}");
}

fn on(folder: &Path) -> Variables {
    let folder = folder.to_str().expect("a temporary folder in UTF-8");
    vec![("OSTRACA_STORE".to_owned(), folder.to_owned())]
}

fn on_r2(folder: &Path) -> Workerd<'_> {
    Workerd {
        instances: 1,
        r2: Some(folder),
        bundle: None,
    }
}

async fn key(variables: &Variables) -> String {
    command(&["tenant", "create", "clients"], variables).await;
    let created = command(&["key", "create", "--tenant", "clients"], variables).await;
    created["secret"].as_str().expect("a secret").to_owned()
}

async fn clients(url: &str, token: Option<&str>) {
    let mut run = script("clients");
    run.arg(format!("{url}/mcp"));
    if let Some(token) = token {
        run.env("OSTRACA_TOKEN", token);
    }
    passes(run).await;
}

async fn conformance(url: &str, lists: &[&str]) {
    let mut run = script("conformance");
    run.args(lists).arg(format!("{url}/mcp"));
    passes(run).await;
}

fn script(folder: &str) -> Command {
    Command::new(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(folder)
            .join("run"),
    )
}

/// Each line of stdout is one check that passed.
async fn passes(mut script: Command) {
    let output = script.output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{complaints}");
    assert!(told.contains("ok  "), "nothing was checked");
    eprint!("{told}");
}
