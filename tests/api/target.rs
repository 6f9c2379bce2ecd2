//! The server under test: where it is, whose tokens the suite has, and what it can
//! do. A target that was started here can also start more of its kind.

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary;
use crate::client::{Client, Transcript};
use crate::server::{Binary, Server};

/// What a case takes for granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// A server.
    Nothing,
    /// A token of another tenant.
    OtherTenant,
    /// A token that may only read.
    Reader,
    /// That a token is asked for.
    Keys,
    /// Recall by meaning.
    Semantic,
    /// That processes can be started on a folder of their own.
    Local,
}

/// The server under test.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    pub(crate) other_token: Option<String>,
    pub(crate) reader_token: Option<String>,
    /// A scope that no other run uses.
    pub(crate) run: String,
    /// What `/v1/capabilities` says.
    pub(crate) capabilities: Value,
    /// What was started for it.
    pub(crate) local: Option<Local>,
}

/// What a target consists of that was started here.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) binary: Binary,
    pub(crate) minilm: Server,
    /// The same folder through a second process, which embeds nothing.
    pub(crate) plain: Server,
    store: TempDir,
    server: Server,
}

impl Target {
    /// The server that the environment names, or one of our own.
    pub(crate) async fn from_environment() -> Self {
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let mut target = match variable("OSTRACA_TEST_URL") {
            Some(url) => Self {
                url,
                token: variable("OSTRACA_TEST_TOKEN"),
                other_token: variable("OSTRACA_TEST_OTHER_TOKEN"),
                reader_token: variable("OSTRACA_TEST_READER_TOKEN"),
                run: unique(),
                capabilities: Value::Null,
                local: None,
            },
            None => Self::start().await,
        };
        let answer = Client::new(&target.url, None, Transcript::default())
            .get("/v1/capabilities")
            .await;
        target.capabilities = answer.success().clone();
        target
    }

    /// The local binary on a new folder, with two tenants, three keys and the real
    /// embedding model.
    async fn start() -> Self {
        let binary = Binary(binary::path());
        let minilm = Server::minilm().await;
        let store = TempDir::with_prefix("ostraca-api-").unwrap();
        for tenant in ["first", "second"] {
            binary
                .run(store.path(), &["tenant", "create", tenant])
                .await;
        }
        let token = binary.key(store.path(), "first", &[]).await;
        let other = binary.key(store.path(), "second", &[]).await;
        let reader = binary.key(store.path(), "first", &["--read-only"]).await;
        let (base, model) = (
            minilm.ready["base_url"].as_str().unwrap(),
            minilm.ready["model"].as_str().unwrap(),
        );
        let arguments = [
            "--auth",
            "keys",
            "--embed-url",
            base,
            "--embed-model",
            model,
            "--embed-timeout",
            "30s",
        ];
        let server = binary.serve(store.path(), &arguments).await;
        let plain = binary.serve(store.path(), &["--auth", "keys"]).await;
        Self {
            url: server.url().to_owned(),
            token: Some(token),
            other_token: Some(other),
            reader_token: Some(reader),
            run: unique(),
            capabilities: Value::Null,
            local: Some(Local {
                binary,
                minilm,
                plain,
                store,
                server,
            }),
        }
    }

    /// Whether a case can run on it.
    pub(crate) fn has(&self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::OtherTenant => self.other_token.is_some(),
            Needs::Reader => self.reader_token.is_some(),
            Needs::Keys => self.capabilities["auth"] == "keys",
            Needs::Semantic => self.capabilities["modes"]
                .as_array()
                .is_some_and(|modes| modes.iter().any(|mode| mode == "semantic")),
            Needs::Local => self.local.is_some(),
        }
    }

    /// One of the limits that it states.
    pub(crate) fn limit(&self, name: &str) -> usize {
        let limit = self.capabilities["limits"][name].as_u64();
        usize::try_from(limit.expect("a stated limit")).unwrap()
    }

    /// What was started for it.
    pub(crate) fn local(&self) -> &Local {
        self.local.as_ref().expect("a local target")
    }

    /// Ends what was started, and removes its folder.
    pub(crate) async fn stop(self) {
        if let Some(Local {
            server,
            minilm,
            plain,
            store,
            ..
        }) = self.local
        {
            server.kill().await;
            plain.kill().await;
            minilm.kill().await;
            store.close().unwrap();
        }
    }
}

/// Names that two runs on one server do not share.
fn unique() -> String {
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    format!("run-{nanos:x}")
}
