//! An embedder behind an OpenAI-compatible endpoint: batches, one time limit for
//! the whole call, retries that honour Retry-After, and checks of what came back.
//! It never logs a text or a key.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::{Either, select};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use ostraca_object::port::Clock;
use serde::{Deserialize, Serialize};

use super::http::HttpClient;
use super::{EmbedError, Embedder};

/// How to reach an endpoint.
#[derive(Clone)]
pub struct EmbedderSettings {
    /// The base, such as `http://127.0.0.1:8080/v1`, or the whole URL ending in `/embeddings`.
    pub url: String,
    /// The model to ask for; its name becomes part of the collection's profile.
    pub model: String,
    /// How many dimensions to ask for and to insist on; `None` takes what comes.
    pub dimensions: Option<u32>,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
    /// The limit for one call of [`Embedder::embed`], retries included.
    pub timeout: Duration,
    /// Texts in one HTTP request.
    pub batch: usize,
    /// Bytes of one text that the model reads.
    pub window_bytes: usize,
}

impl EmbedderSettings {
    /// Settings for an endpoint and a model, the rest at its defaults.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            model: model.into(),
            dimensions: None,
            api_key: None,
            timeout: Duration::from_secs(4),
            batch: 64,
            // 256 tokens of English, the window of the smallest common models.
            window_bytes: 1_000,
        }
    }
}

impl fmt::Debug for EmbedderSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbedderSettings")
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// The adapter.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    settings: EmbedderSettings,
    http: Arc<dyn HttpClient>,
    clock: Arc<dyn Clock>,
}

const MAX_ATTEMPTS: u32 = 3;
const REQUESTS_IN_FLIGHT: usize = 2;

impl OpenAiEmbedder {
    /// An embedder over an HTTP client.
    pub fn new(
        mut settings: EmbedderSettings,
        http: Arc<dyn HttpClient>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        if !settings.url.ends_with("/embeddings") {
            settings.url = format!("{}/embeddings", settings.url.trim_end_matches('/'));
        }
        settings.batch = settings.batch.max(1);
        Self {
            settings,
            http,
            clock,
        }
    }

    async fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut attempt = 1;
        loop {
            let failed = match self.http.send(self.request(texts)?).await {
                Ok(response) if response.status().is_success() => {
                    return self.read(response.body(), texts.len());
                }
                Ok(response) => {
                    let status = response.status();
                    if !(status.is_server_error() || status.as_u16() == 429) {
                        return Err(EmbedError::Status(status.as_u16()));
                    }
                    (EmbedError::Status(status.as_u16()), retry_after(&response))
                }
                Err(error) => (EmbedError::Unreachable(error), None),
            };
            let (error, wait) = failed;
            if attempt == MAX_ATTEMPTS {
                return Err(error);
            }
            let wait = wait.unwrap_or(Duration::from_millis(100 << attempt));
            // Waiting past the time limit can only end as a time-out: say now what is wrong.
            if wait >= self.settings.timeout {
                return Err(error);
            }
            self.clock.sleep(wait).await;
            attempt += 1;
        }
    }

    fn request(&self, texts: &[String]) -> Result<::http::Request<Bytes>, EmbedError> {
        let body = Ask {
            model: &self.settings.model,
            input: texts,
            dimensions: self.settings.dimensions,
        };
        let body =
            serde_json::to_vec(&body).map_err(|error| EmbedError::Malformed(error.to_string()))?;
        let mut request =
            ::http::Request::post(&self.settings.url).header("content-type", "application/json");
        if let Some(key) = &self.settings.api_key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        request
            .body(body.into())
            .map_err(|error| EmbedError::Malformed(error.to_string()))
    }

    fn read(&self, body: &[u8], asked: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let answer: Answer = serde_json::from_slice(body)
            .map_err(|error| EmbedError::Malformed(error.to_string()))?;
        if answer.data.len() != asked {
            return Err(EmbedError::Malformed(format!(
                "{} vectors for {asked} texts",
                answer.data.len()
            )));
        }
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; asked];
        for (place, item) in answer.data.into_iter().enumerate() {
            let index = item.index.unwrap_or(place);
            let slot = vectors
                .get_mut(index)
                .ok_or_else(|| EmbedError::Malformed(format!("index {index} of {asked}")))?;
            *slot = Some(item.embedding);
        }
        let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
        if vectors.len() != asked {
            return Err(EmbedError::Malformed("an index came twice".to_owned()));
        }
        let expected = self
            .settings
            .dimensions
            .map(|d| d as usize)
            .or_else(|| vectors.first().map(Vec::len))
            .unwrap_or(0);
        for (index, vector) in vectors.iter().enumerate() {
            if vector.len() != expected || vector.is_empty() {
                return Err(EmbedError::Dimensions {
                    expected,
                    got: vector.len(),
                });
            }
            if !vector.iter().all(|value| value.is_finite()) {
                return Err(EmbedError::NotFinite(index));
            }
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn model(&self) -> &str {
        &self.settings.model
    }

    fn window_bytes(&self) -> usize {
        self.settings.window_bytes
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let work = Box::pin(async {
            let batches: Vec<Vec<Vec<f32>>> =
                stream::iter(texts.chunks(self.settings.batch).map(<[String]>::to_vec))
                    .map(|batch| async move { self.batch(&batch).await })
                    .buffered(REQUESTS_IN_FLIGHT)
                    .try_collect()
                    .await?;
            Ok(batches.into_iter().flatten().collect())
        });
        let limit = self.clock.sleep(self.settings.timeout);
        match select(work, limit).await {
            Either::Left((vectors, _)) => vectors,
            Either::Right(((), _)) => Err(EmbedError::TimedOut(self.settings.timeout)),
        }
    }
}

fn retry_after(response: &::http::Response<Bytes>) -> Option<Duration> {
    let seconds = response
        .headers()
        .get("retry-after")?
        .to_str()
        .ok()?
        .trim()
        .parse::<u64>()
        .ok()?;
    Some(Duration::from_secs(seconds))
}

#[derive(Serialize)]
struct Ask<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}
