//! The real parts that the edges run on and against: workerd, the Lambda runtime, S3
//! servers, the embedding model and the local binary, each started for the test that
//! asks for it.

use std::path::{Path, PathBuf};
use std::process::Command as Build;
use std::sync::Arc;

use object_store::ObjectStore;
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::s3::{self, S3Settings, Transport};
use serde_json::Value;
use tokio::process::Command;

use crate::binary;
use crate::process::Process;

/// Variables of an edge.
pub(crate) type Variables = Vec<(String, String)>;

/// Everybody is let in: these tests are about storage.
pub(crate) fn open_to_all() -> Variables {
    vec![("OSTRACA_AUTH".to_owned(), "none".to_owned())]
}

/// A bucket of a real S3 server.
#[derive(Debug)]
pub(crate) struct Bucket {
    server: Process,
}

impl Bucket {
    /// Durable and with checked signatures; contended creates wait in steps of a second.
    pub(crate) async fn seaweedfs() -> Self {
        Self::start("seaweedfs").await
    }

    /// In memory, one request at a time: for contention.
    pub(crate) async fn moto() -> Self {
        Self::start("moto").await
    }

    /// One of the servers by its name.
    pub(crate) async fn start(kind: &str) -> Self {
        let mut command = Command::new(folder("servers/start"));
        command.arg(kind);
        Self {
            server: Process::start(command).await,
        }
    }

    /// The bucket as a native process opens it.
    pub(crate) fn open(&self, prefix: &str) -> Arc<dyn ObjectStore> {
        let fact = |name: &str| self.server.ready[name].as_str().unwrap().to_owned();
        let settings = S3Settings {
            bucket: fact("bucket"),
            prefix: prefix.to_owned(),
            endpoint: Some(fact("url")),
            region: fact("region"),
            access_key_id: Some(fact("access_key")),
            secret_access_key: Some(fact("secret_key")),
            transport: Transport::PlainAllowed,
            ..S3Settings::default()
        };
        s3::open(&settings, Arc::new(SystemClock), Arc::new(OsIds)).unwrap()
    }

    /// How an edge finds its memory under a prefix of the bucket.
    pub(crate) fn variables(&self, prefix: &str) -> Variables {
        let fact = |name: &str| self.server.ready[name].as_str().unwrap().to_owned();
        [
            ("OSTRACA_STORE", format!("s3://{}/{prefix}", fact("bucket"))),
            ("AWS_ENDPOINT", fact("url")),
            ("AWS_REGION", fact("region")),
            ("AWS_ACCESS_KEY_ID", fact("access_key")),
            ("AWS_SECRET_ACCESS_KEY", fact("secret_key")),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// The endpoint with the real embedding model.
pub(crate) async fn minilm() -> Process {
    let mut command = Command::new(folder("servers/start"));
    command.arg("minilm");
    Process::start(command).await
}

/// How an edge finds the model.
pub(crate) fn embedding(minilm: &Process) -> Variables {
    let fact = |name: &str| minilm.ready[name].as_str().unwrap().to_owned();
    vec![
        ("OSTRACA_EMBED_URL".to_owned(), fact("base_url")),
        ("OSTRACA_EMBED_MODEL".to_owned(), fact("model")),
        ("OSTRACA_EMBED_TIMEOUT".to_owned(), "30s".to_owned()),
    ]
}

/// The Worker as workerd runs it.
#[derive(Debug, Clone)]
pub(crate) struct Workerd<'a> {
    /// How many.
    pub(crate) instances: usize,
    /// Where R2 keeps its objects, if they are to outlive it; none with an S3 store.
    pub(crate) r2: Option<&'a Path>,
    /// Another bundle than the one that ships.
    pub(crate) bundle: Option<PathBuf>,
}

impl Workerd<'_> {
    pub(crate) async fn start(&self, variables: &Variables) -> Process {
        let mut command = Command::new(folder("edge/workerd"));
        command.arg("--instances").arg(self.instances.to_string());
        match self.r2 {
            Some(folder) => command.args(["--store", "r2", "--persist"]).arg(folder),
            None => command.args(["--store", "s3"]),
        };
        for (name, value) in variables {
            command.arg("--var").arg(format!("{name}={value}"));
        }
        if let Some(bundle) = &self.bundle {
            command.env("OSTRACA_WORKER_BUNDLE", bundle);
        }
        Process::start(command).await
    }
}

/// Whose events the function gets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Front {
    HttpApi,
    FunctionUrl,
}

/// The function in the Lambda runtime.
pub(crate) async fn lambda(instances: usize, front: Front, variables: &Variables) -> Process {
    let bootstrap = built("ostraca-lambda", "bootstrap");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lambda_emulator"));
    command
        .arg("--bootstrap")
        .arg(bootstrap)
        .arg("--front")
        .arg(match front {
            Front::HttpApi => "http-api",
            Front::FunctionUrl => "function-url",
        });
    command.arg("--instances").arg(instances.to_string());
    for (name, value) in variables {
        command.arg("--env").arg(format!("{name}={value}"));
    }
    Process::start(command).await
}

/// The local binary, serving the same store as an edge with these variables.
pub(crate) async fn local(variables: &Variables) -> Process {
    let mut command = Command::new(binary::path());
    command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
    command.envs(variables.iter().cloned());
    Process::start(command).await
}

/// One command of the local binary on the store of an edge, its JSON.
pub(crate) async fn command(arguments: &[&str], variables: &Variables) -> Value {
    let mut command = Command::new(binary::path());
    command.args(arguments).arg("--json");
    command.envs(variables.iter().cloned());
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("--json prints JSON")
}

/// A file of the tests' folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs cargo in the workspace.
pub(crate) fn cargo(arguments: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Build::new(cargo);
    build
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(build.status().expect("cargo runs").success(), "{build:?}");
}

/// A program of the workspace, built now, so that no test passes on yesterday's.
fn built(package: &str, name: &str) -> PathBuf {
    cargo(&["build", "--quiet", "-p", package]);
    // This test lies in target/<profile>/deps, the programs beside that.
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is not there", path.display());
    path
}
