//! Processes that a case needs: the local binary on a folder, and the embedding
//! endpoint. Each ends with the value that stands for it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};

/// A process that said where it is.
#[derive(Debug)]
pub(crate) struct Server {
    /// What it said.
    pub(crate) ready: Value,
    child: Child,
    /// Some servers live as long as this is open.
    _stdin: Option<ChildStdin>,
}

impl Server {
    /// The URL that it answers at.
    pub(crate) fn url(&self) -> &str {
        self.ready["url"].as_str().expect("a ready line with a url")
    }

    /// Ends it without warning, as a crash would.
    pub(crate) async fn kill(mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("{} had ended by itself: {status}", self.url());
        }
        self.child.kill().await.unwrap();
    }

    async fn start(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stdin = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Loading a model takes seconds on a busy machine; a server that hangs should not hang the suite.
        let line = tokio::time::timeout(Duration::from_mins(2), lines.next_line())
            .await
            .unwrap_or_else(|_| panic!("{command:?} does not get ready"))
            .unwrap()
            .unwrap_or_else(|| panic!("{command:?} ended before it was ready"));
        let ready =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{command:?} said {line:?}"));
        Self {
            ready,
            child,
            _stdin: stdin,
        }
    }

    /// The embedding endpoint with the real model.
    pub(crate) async fn minilm() -> Self {
        let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("servers/start"));
        command.arg("minilm");
        Self::start(command).await
    }
}

/// The local binary.
#[derive(Debug, Clone)]
pub(crate) struct Binary(pub(crate) PathBuf);

impl Binary {
    /// The binary with these arguments and no setting from outside.
    pub(crate) fn command<I, S>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = Command::new(&self.0);
        command.args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("OSTRACA_") {
                command.env_remove(name);
            }
        }
        command.env("RUST_LOG", "warn");
        command
    }

    /// Serves a folder on a free port.
    pub(crate) async fn serve(&self, store: &Path, arguments: &[&str]) -> Server {
        let mut command = self.command(["serve", "--json", "--listen", "127.0.0.1:0", "--store"]);
        command.arg(store).args(arguments);
        Server::start(command).await
    }

    /// Runs a command on a folder to its end and gives its JSON.
    pub(crate) async fn run(&self, store: &Path, arguments: &[&str]) -> Value {
        let output = self
            .command(arguments)
            .arg("--store")
            .arg(store)
            .arg("--json")
            .output()
            .await
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).expect("--json prints JSON")
    }

    /// A new key of a tenant.
    pub(crate) async fn key(&self, store: &Path, tenant: &str, arguments: &[&str]) -> String {
        let line = [&["key", "create", "--tenant", tenant], arguments].concat();
        self.run(store, &line).await["secret"]
            .as_str()
            .expect("a secret")
            .to_owned()
    }
}
