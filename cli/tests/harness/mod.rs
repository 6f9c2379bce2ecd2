//! Drives the real binary: a command that runs to its end, a server over HTTP, and a
//! client over standard input and output. Each process starts without any variable
//! of ours or of S3, so that a developer's shell changes no test.

#![allow(dead_code, reason = "each test binary uses its part")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex as AsyncMutex, oneshot};
use tokio::task::JoinHandle;

/// The binary with a store.
pub(crate) fn ostraca(store: &Path) -> Command {
    let mut command = bare();
    command.env("OSTRACA_STORE", store);
    command
}

/// The binary, knowing nothing.
pub(crate) fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ostraca"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("OSTRACA_") || name.starts_with("AWS_") || name == "RUST_LOG" {
            command.env_remove(name.as_ref());
        }
    }
    command.kill_on_drop(true);
    command
}

/// Runs a command to its end, with `input` on its standard input.
pub(crate) async fn run<S: AsRef<OsStr>>(mut command: Command, args: &[S], input: &str) -> Run {
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = tokio::spawn(async move {
        // A command that reads nothing may be gone already.
        let _ = stdin.write_all(input.as_bytes()).await;
    });
    let output = child.wait_with_output().await.unwrap();
    writer.await.unwrap();
    Run(output)
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Run(Output);

impl Run {
    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().unwrap()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// What it printed, as JSON, after it succeeded.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code(), 0, "{}", self.stderr());
        serde_json::from_slice(&self.0.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout()))
    }
}

/// A running `ostraca serve`.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
    client: reqwest::Client,
}

impl Server {
    /// Starts one on a free port and waits until it is ready.
    pub(crate) async fn start(command: Command, args: &[&str]) -> Self {
        Self::start_with(command, args, Stdio::inherit()).await
    }

    /// The same with its log in a file.
    pub(crate) async fn start_logging(command: Command, args: &[&str], log: &Path) -> Self {
        let file = std::fs::File::create(log).unwrap();
        Self::start_with(command, args, file.into()).await
    }

    async fn start_with(mut command: Command, args: &[&str], log: Stdio) -> Self {
        command
            .env("OSTRACA_LISTEN", "127.0.0.1:0")
            .args(["serve", "--json"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines
            .next_line()
            .await
            .unwrap()
            .expect("the server ended before it was ready");
        let ready: Value = serde_json::from_str(&ready).unwrap();
        let url = ready["url"].as_str().unwrap().to_owned();
        Self {
            child,
            url,
            client: reqwest::Client::new(),
        }
    }

    /// A request; the status and the body as JSON.
    pub(crate) async fn send(
        &self,
        method: reqwest::Method,
        path: &str,
        key: Option<&str>,
        body: Option<Value>,
    ) -> (u16, Value) {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let body = response.bytes().await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: Value) -> (u16, Value) {
        self.send(reqwest::Method::POST, path, key, Some(body))
            .await
    }

    pub(crate) async fn get(&self, path: &str, key: Option<&str>) -> (u16, Value) {
        self.send(reqwest::Method::GET, path, key, None).await
    }
}

/// An MCP client of a running `ostraca mcp`.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: AsyncMutex<Option<ChildStdin>>,
    waiting: Waiting,
    next_id: AtomicU64,
    stdout: JoinHandle<Vec<String>>,
    stderr: JoinHandle<String>,
}

type Waiting = Arc<Mutex<BTreeMap<u64, oneshot::Sender<Value>>>>;

impl Client {
    /// Starts one and shakes hands.
    pub(crate) async fn start(mut command: Command) -> Self {
        command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let waiting = Waiting::default();
        let stdout = tokio::spawn(dispatch(child.stdout.take().unwrap(), Arc::clone(&waiting)));
        let mut errors = child.stderr.take().unwrap();
        let stderr = tokio::spawn(async move {
            let mut text = String::new();
            errors.read_to_string(&mut text).await.unwrap();
            text
        });
        let stdin = AsyncMutex::new(child.stdin.take());
        let client = Self {
            child,
            stdin,
            waiting,
            next_id: AtomicU64::new(1),
            stdout,
            stderr,
        };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = client.request("initialize", hello).await.unwrap();
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-06-18",
            "{answer}"
        );
        client
            .write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        client
    }

    /// Writes one line as it stands.
    pub(crate) async fn write(&self, line: &str) {
        let mut stdin = self.stdin.lock().await;
        if let Some(stdin) = stdin.as_mut() {
            // A process that was killed takes nothing more.
            let _ = stdin.write_all(format!("{line}\n").as_bytes()).await;
        }
    }

    /// The answer to a request; `None` if the process ended without one.
    pub(crate) async fn request(&self, method: &str, params: Value) -> Option<Value> {
        self.send(method, params).await.await.ok()
    }

    /// Sends a request and does not wait for its answer.
    pub(crate) async fn send(&self, method: &str, params: Value) -> oneshot::Receiver<Value> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap().insert(id, sender);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request.to_string()).await;
        receiver
    }

    /// The structured result of a tool; `None` if the process ended without one.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Option<Value> {
        let answer = self
            .request(
                "tools/call",
                json!({ "name": tool, "arguments": arguments }),
            )
            .await?;
        let result = &answer["result"];
        assert!(!result["isError"].as_bool().unwrap_or(false), "{answer}");
        Some(result["structuredContent"].clone())
    }

    /// Closes its input, waits for its end, and gives its exit code, every line that it
    /// wrote and its log.
    pub(crate) async fn finish(mut self) -> (i32, Vec<String>, String) {
        self.stdin.lock().await.take();
        let status = self.child.wait().await.unwrap();
        let lines = self.stdout.await.unwrap();
        (status.code().unwrap(), lines, self.stderr.await.unwrap())
    }
}

/// Hands answers to those who wait for them; those without an answer learn of the end.
async fn dispatch(output: impl tokio::io::AsyncRead + Unpin, waiting: Waiting) -> Vec<String> {
    let mut lines = BufReader::new(output).lines();
    let mut seen = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let answer: Value = serde_json::from_str(&line).unwrap_or_default();
        let waiter = answer["id"]
            .as_u64()
            .and_then(|id| waiting.lock().unwrap().remove(&id));
        if let Some(waiter) = waiter {
            let _ = waiter.send(answer);
        }
        seen.push(line);
    }
    waiting.lock().unwrap().clear();
    seen
}

/// The contents of every memory, by a fresh process.
pub(crate) async fn contents(store: &Path) -> Vec<String> {
    let export = run(ostraca(store), &["export"], "").await;
    assert_eq!(export.code(), 0, "{}", export.stderr());
    let mut contents: Vec<String> = export
        .stdout()
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["content"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    contents.sort();
    contents
}
