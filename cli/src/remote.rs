//! The client of a running server, for imports. It speaks the REST API and nothing
//! of it but what an import needs; it must not print or log the token.

use std::time::Duration;

use ostraca_memory::{EmbeddingState, Expiry, NewMemory, Outcome, time};
use ostraca_service::{ErrorBody, ErrorDetail};
use reqwest::{StatusCode, Url, header};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::sink::Stored;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_mins(2);
/// How long to wait where a server says "later" without saying when.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// A server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// There was no answer.
    #[error("no answer from {url}")]
    Unreachable {
        /// What was asked.
        url: Url,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The answer was an error.
    #[error("{url} answered {status}: {message}")]
    Status {
        /// What was asked.
        url: Url,
        /// The status.
        status: StatusCode,
        /// What the server says about it.
        message: String,
        /// When to ask again, if that can help.
        retry_after: Option<Duration>,
    },
    /// The answer was none of ours.
    #[error("{url} does not answer as an ostraca server does")]
    Malformed {
        /// What was asked.
        url: Url,
    },
}

impl RemoteError {
    /// The way out.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreachable { .. } => "see that the server runs and --url is its address",
            Self::Status {
                status: StatusCode::UNAUTHORIZED,
                ..
            } => "name the variable that holds an API key with --token-env",
            Self::Status {
                status: StatusCode::FORBIDDEN,
                ..
            } => "use a key with the scope memories:write",
            Self::Status {
                status: StatusCode::NOT_FOUND,
                ..
            }
            | Self::Malformed { .. } => {
                "--url is the server's address without a path, such as http://127.0.0.1:7700"
            }
            Self::Status { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// How long to wait before the same request may work.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unreachable { source, .. } => source.is_timeout().then_some(DEFAULT_RETRY),
            Self::Status { retry_after, .. } => *retry_after,
            Self::Malformed { .. } => None,
        }
    }
}

/// A server and the key to it.
pub(crate) struct Server {
    client: reqwest::Client,
    memories: Url,
    token: Option<String>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("memories", &self.memories.as_str())
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Deserialize)]
struct Reply {
    items: Vec<Item>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Item {
    Created { embedding: Embedding },
    Updated { embedding: Embedding },
    Unchanged { embedding: Embedding },
    Failed { error: ErrorDetail },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Embedding {
    None,
    Pending,
    Ready,
}

impl Server {
    /// The server at an address, which may be that of its MCP or REST endpoint.
    pub(crate) fn new(url: &Url, token: Option<String>) -> Self {
        let mut memories = url.clone();
        let path = url.path().trim_end_matches('/');
        let base = path
            .strip_suffix("/mcp")
            .or_else(|| path.strip_suffix("/v1"))
            .unwrap_or(path);
        memories.set_path(&format!("{base}/v1/memories"));
        memories.set_query(None);
        memories.set_fragment(None);
        Self {
            client: reqwest::Client::new(),
            memories,
            token,
        }
    }

    /// Stores memories and tells for each, in order, what became of it.
    pub(crate) async fn remember(
        &self,
        memories: &[NewMemory],
    ) -> Result<Vec<Stored>, RemoteError> {
        let items: Vec<Value> = memories.iter().map(item).collect();
        let mut request = self
            .client
            .post(self.memories.clone())
            .timeout(TIMEOUT)
            .json(&json!({ "items": items }));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let unreachable = |source: reqwest::Error| RemoteError::Unreachable {
            url: self.memories.clone(),
            source: source.without_url(),
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let retry_after = response
            .headers()
            .get(header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let body = response.bytes().await.map_err(unreachable)?;
        if !status.is_success() {
            let later = matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            );
            return Err(RemoteError::Status {
                url: self.memories.clone(),
                status,
                message: serde_json::from_slice::<ErrorBody>(&body).map_or_else(
                    |_| "no reason given".to_owned(),
                    |problem| problem.error.message,
                ),
                retry_after: later.then(|| retry_after.unwrap_or(DEFAULT_RETRY)),
            });
        }
        let malformed = || RemoteError::Malformed {
            url: self.memories.clone(),
        };
        let reply: Reply = serde_json::from_slice(&body).map_err(|_| malformed())?;
        if reply.items.len() != memories.len() {
            return Err(malformed());
        }
        Ok(reply.items.into_iter().map(Stored::from).collect())
    }
}

impl From<Item> for Stored {
    fn from(item: Item) -> Self {
        let kept = |outcome, embedding| Self::Kept {
            outcome,
            embedding: match embedding {
                Embedding::None => EmbeddingState::None,
                Embedding::Pending => EmbeddingState::Pending,
                Embedding::Ready => EmbeddingState::Ready,
            },
        };
        match item {
            Item::Created { embedding } => kept(Outcome::Created, embedding),
            Item::Updated { embedding } => kept(Outcome::Updated, embedding),
            Item::Unchanged { embedding } => kept(Outcome::Unchanged, embedding),
            Item::Failed { error } => Self::refused(error.field.as_deref(), &error.message),
        }
    }
}

/// A memory as the REST API takes it; what is absent is left out.
fn item(memory: &NewMemory) -> Value {
    let mut item = Map::from_iter([("content".to_owned(), Value::from(memory.content.as_str()))]);
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            item.insert(name.to_owned(), value);
        }
    };
    let text = |value: &Option<String>| value.as_deref().map(Value::from);
    set(
        "scope",
        (!memory.scope.is_root()).then(|| memory.scope.as_str().into()),
    );
    set("key", text(&memory.key));
    set("title", text(&memory.title));
    set("kind", text(&memory.kind));
    set(
        "metadata",
        (!memory.metadata.is_empty()).then(|| memory.metadata.clone().into()),
    );
    set("source", text(&memory.source));
    set("confidence", memory.confidence.map(Value::from));
    set("sensitivity", text(&memory.sensitivity));
    set("vector", memory.vector.as_ref().map(|vector| json!(vector)));
    set("expected_version", memory.expected_version.map(Value::from));
    set(
        "created_at",
        memory.created.map(|at| time::format_instant(at).into()),
    );
    match &memory.expires {
        Some(Expiry::At(at)) => set("expires_at", Some(time::format_instant(*at).into())),
        Some(Expiry::After(after)) => set("ttl_seconds", Some(after.as_secs().into())),
        None => {}
    }
    Value::Object(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_may_be_that_of_an_endpoint() {
        for (given, memories) in [
            ("http://127.0.0.1:7700", "http://127.0.0.1:7700/v1/memories"),
            (
                "http://127.0.0.1:7700/mcp",
                "http://127.0.0.1:7700/v1/memories",
            ),
            (
                "https://x.example/base/v1/?a=b",
                "https://x.example/base/v1/memories",
            ),
        ] {
            let server = Server::new(&given.parse().unwrap(), None);
            assert_eq!(server.memories.as_str(), memories);
        }
    }

    #[test]
    fn the_token_is_not_in_the_debug_form() {
        let server = Server::new(&"http://h".parse().unwrap(), Some("hush".to_owned()));
        assert!(!format!("{server:?}").contains("hush"));
    }
}
