//! A process that says where it is in one line of JSON and lives as long as its standard
//! input stays open, as all servers of these tests do. It knows nothing of what it starts.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Loading a model or compiling a module takes seconds on a busy machine; what hangs
/// should not hang the suite.
const PATIENCE: Duration = Duration::from_mins(3);

/// A running process; it ends with this value.
#[derive(Debug)]
pub(crate) struct Process {
    /// What it said when it was ready.
    pub(crate) ready: Value,
    _child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) async fn start(mut command: Command) -> Self {
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
        let ready = next(&mut lines).await;
        Self {
            ready,
            _child: child,
            stdin,
            lines,
        }
    }

    /// Gives a command and takes its answer.
    pub(crate) async fn ask(&mut self, line: &str) -> Value {
        let stdin = self.stdin.as_mut().expect("an open stdin");
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        next(&mut self.lines).await
    }

    /// The URLs of its instances.
    pub(crate) fn urls(&self) -> Vec<String> {
        let instances = self.ready["instances"].as_array().expect("instances");
        instances
            .iter()
            .map(|instance| instance["url"].as_str().unwrap().to_owned())
            .collect()
    }
}

async fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let line = tokio::time::timeout(PATIENCE, lines.next_line())
        .await
        .expect("an answer in time")
        .unwrap()
        .expect("an answer before the process ends");
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line:?}"))
}
