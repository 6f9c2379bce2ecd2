//! Whether the embedding endpoint answers, and with how many dimensions.

use ostraca_memory::embed::Embedder;

use super::Finding;

const CHECK: &str = "embeddings";

/// Asks for the vector of one text.
pub(super) async fn check(embedder: Option<&dyn Embedder>) -> Finding {
    let Some(embedder) = embedder else {
        return Finding::ok(
            CHECK,
            "none configured, so recall is by keywords; --embed-url adds recall by meaning",
        );
    };
    match embedder
        .embed(&["a memory to try the endpoint with".to_owned()])
        .await
    {
        Ok(vectors) => {
            let dimensions = vectors.first().map_or(0, Vec::len);
            Finding::ok(
                CHECK,
                format!("{} answers with {dimensions} dimensions", embedder.model()),
            )
        }
        Err(error) => Finding::failed(
            CHECK,
            &error,
            "see that the endpoint runs, --embed-url and --embed-model are right and OSTRACA_EMBED_API_KEY is set if it asks for a key; until then writes wait for their vectors and recall is by keywords",
        ),
    }
}
