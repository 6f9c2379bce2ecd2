//! Embeds the contents of one write, item by item in its outcome: a text that the
//! endpoint cannot embed leaves the others with their vectors, and the whole takes
//! no longer than the embedder's own limit.

use futures::future::{Either, select};
use futures::{StreamExt as _, stream};
use ostraca_object::port::Clock;
use ostraca_search::Chunk;

use super::chunk::{Span, chunks};
use super::{EmbedError, Embedder};

/// What is embedded of one item.
#[derive(Debug, Clone)]
pub struct Passage {
    /// Put before each chunk, as a title gives a passage its meaning.
    pub title: Option<String>,
    /// What is cut into chunks.
    pub content: String,
}

/// Past this many texts, a failed batch is not tried again one by one.
const SINGLY_AT_MOST: usize = 32;

/// The chunks of each passage with their vectors, or why it has none.
pub async fn embed_all(
    embedder: &dyn Embedder,
    clock: &dyn Clock,
    limit: std::time::Duration,
    passages: &[Passage],
) -> Vec<Result<Vec<Chunk>, String>> {
    let work = Box::pin(work(embedder, passages));
    match select(work, clock.sleep(limit)).await {
        Either::Left((chunks, _)) => chunks,
        Either::Right(((), _)) => {
            let reason = EmbedError::TimedOut(limit).to_string();
            passages.iter().map(|_| Err(reason.clone())).collect()
        }
    }
}

async fn work(embedder: &dyn Embedder, passages: &[Passage]) -> Vec<Result<Vec<Chunk>, String>> {
    let spans: Vec<Vec<Span>> = passages
        .iter()
        .map(|passage| chunks(&passage.content, embedder.window_bytes()))
        .collect();
    let texts: Vec<Vec<String>> = passages
        .iter()
        .zip(&spans)
        .map(|(passage, spans)| spans.iter().map(|span| text(passage, *span)).collect())
        .collect();
    let all: Vec<String> = texts.iter().flatten().cloned().collect();
    match embedder.embed(&all).await {
        Ok(vectors) => {
            let mut vectors = vectors.into_iter();
            spans
                .iter()
                .map(|spans| Ok(join(spans, vectors.by_ref())))
                .collect()
        }
        Err(error)
            if is_about_a_text(&error) && passages.len() > 1 && all.len() <= SINGLY_AT_MOST =>
        {
            // By value: a closure over references would not be general enough to be `Send`.
            stream::iter(texts.into_iter().zip(spans))
                .map(|(texts, spans)| async move {
                    let vectors = embedder
                        .embed(&texts)
                        .await
                        .map_err(|error| error.to_string())?;
                    Ok(join(&spans, &mut vectors.into_iter()))
                })
                .buffered(4)
                .collect()
                .await
        }
        Err(error) => passages.iter().map(|_| Err(error.to_string())).collect(),
    }
}

fn is_about_a_text(error: &EmbedError) -> bool {
    matches!(
        error,
        EmbedError::Status(_)
            | EmbedError::NotFinite(_)
            | EmbedError::Malformed(_)
            | EmbedError::Dimensions { .. }
    )
}

fn text(passage: &Passage, span: Span) -> String {
    let part = passage
        .content
        .get(span.start..span.end)
        .unwrap_or_default();
    match &passage.title {
        Some(title) => format!("{title}\n{part}"),
        None => part.to_owned(),
    }
}

fn join(spans: &[Span], vectors: &mut dyn Iterator<Item = Vec<f32>>) -> Vec<Chunk> {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    spans
        .iter()
        .zip(vectors)
        .map(|(span, vector)| Chunk {
            start: offset(span.start),
            end: offset(span.end),
            vector,
        })
        .collect()
}
