//! Vectors: chunks, failing endpoints, profiles that do not mix.

use ostraca_memory::*;

use crate::support::*;

fn semantic(text: &str) -> RecallRequest {
    RecallRequest {
        mode: Some(Mode::Semantic),
        ..query(text)
    }
}

#[tokio::test(start_paused = true)]
async fn a17_a_memory_is_found_by_meaning_after_any_number_of_edits() {
    let world = World::new();
    let session = acme(&world.database_with(Some(WordEmbedder::default())));
    let made = remember(&session, note("alpha beta")).await;
    assert_eq!(made.embedding, EmbeddingState::Ready);
    for content in ["gamma delta", "epsilon zeta"] {
        let update = UpdateRequest {
            content: Some(content.into()),
            ..UpdateRequest::new(by_id(&made.id))
        };
        session.update(update).await.unwrap();
    }
    remember(&session, note("something else entirely")).await;
    let found = session.recall(semantic("zeta epsilon")).await.unwrap();
    assert_eq!(found.hits[0].record.content, "epsilon zeta");
    assert!(found.receipt.degraded.is_empty());
    assert_eq!(found.receipt.coverage.unwrap().embedded, 2);
}

#[tokio::test(start_paused = true)]
async fn a10_long_content_is_found_by_a_late_part() {
    let world = World::new();
    let session = acme(&world.database_with(Some(WordEmbedder::default())));
    let long = format!(
        "{} Rosa drinks jasmine tea {}",
        "filler words here ".repeat(2000),
        "other closing text ".repeat(500)
    );
    remember(&session, note(&long)).await;
    let question = format!(
        "{} what is favourite jasmine tea Rosa drinks",
        "please consider ".repeat(2000)
    );
    let found = session.recall(semantic(&question)).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert!(found.hits[0].excerpt.text.len() < 3_000);
}

#[tokio::test(start_paused = true)]
async fn a30_a_failing_endpoint_keeps_the_write_and_shows_in_the_answer() {
    let world = World::new();
    for embedder in [
        WordEmbedder {
            hangs: true,
            ..WordEmbedder::default()
        },
        WordEmbedder {
            fails_on: Some(""),
            ..WordEmbedder::default()
        },
    ] {
        let session = acme(&world.database_with(Some(embedder)));
        let before = world.clock.now();
        let reply = session
            .remember(RememberRequest {
                items: vec![note("kept anyway")],
                idempotency_key: None,
            })
            .await
            .unwrap();
        let item = reply.items.into_iter().next().unwrap().unwrap();
        assert_eq!(item.embedding, EmbeddingState::Pending);
        let found = session.recall(query("kept")).await.unwrap();
        assert_eq!(contents(&found), ["kept anyway"]);
        assert!(
            found.receipt.degraded[0].contains("embedding endpoint"),
            "{:?}",
            found.receipt.degraded
        );
        assert_eq!(found.receipt.coverage.unwrap().pending, 1);
        assert!(world.clock.now().millis_since(before) < 10_000);
    }
}

#[tokio::test(start_paused = true)]
async fn a11_one_text_that_cannot_be_embedded_leaves_the_others_theirs() {
    let world = World::new();
    let session = acme(&world.database_with(Some(WordEmbedder {
        fails_on: Some("seven"),
        ..WordEmbedder::default()
    })));
    let items = ["one", "six", "seven", "eight"]
        .into_iter()
        .map(note)
        .collect();
    let reply = session
        .remember(RememberRequest {
            items,
            idempotency_key: None,
        })
        .await
        .unwrap();
    let states: Vec<EmbeddingState> = reply
        .items
        .into_iter()
        .map(|item| item.unwrap().embedding)
        .collect();
    assert_eq!(
        states,
        [
            EmbeddingState::Ready,
            EmbeddingState::Ready,
            EmbeddingState::Pending,
            EmbeddingState::Ready
        ]
    );
    assert_eq!(reply.receipt.degraded.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a29_another_model_never_mixes_and_keywords_go_on() {
    let world = World::new();
    let first = acme(&world.database_with(Some(WordEmbedder::default())));
    remember(&first, note("alpha beta")).await;
    let second = acme(&world.database_with(Some(WordEmbedder {
        dimensions: 64,
        ..WordEmbedder::default()
    })));
    let later = second
        .remember(RememberRequest {
            items: vec![note("gamma delta")],
            idempotency_key: None,
        })
        .await
        .unwrap();
    let found = second.recall(query("alpha")).await.unwrap();
    assert_eq!(contents(&found), ["alpha beta"]);
    assert!(
        found.receipt.degraded[0].contains("words"),
        "{:?}",
        found.receipt.degraded
    );
    assert_eq!(
        later.items.into_iter().next().unwrap().unwrap().embedding,
        EmbeddingState::Pending
    );
    assert_eq!(found.receipt.coverage.unwrap().pending, 1);
    let wrong = try_remember(
        &first,
        NewMemory {
            vector: Some(vec![1.0; 64]),
            ..note("x")
        },
    )
    .await
    .unwrap_err();
    assert_eq!(wrong.field(), Some("vector"));
    assert!(wrong.message().contains("expected 256") && wrong.message().contains("64"));
}

#[tokio::test(start_paused = true)]
async fn callers_may_bring_their_own_vectors() {
    let world = World::new();
    let session = acme(&world.database());
    let with = |content: &str, vector: Vec<f32>| NewMemory {
        vector: Some(vector),
        ..note(content)
    };
    remember(&session, with("north", vec![0.0, 1.0])).await;
    remember(&session, with("east", vec![1.0, 0.0])).await;
    let request = RecallRequest {
        vector: Some(vec![0.9, 0.1]),
        ..RecallRequest::default()
    };
    assert_eq!(contents(&session.recall(request).await.unwrap())[0], "east");
    let short = RecallRequest {
        vector: Some(vec![0.9]),
        ..RecallRequest::default()
    };
    assert_eq!(
        session.recall(short).await.unwrap_err().field(),
        Some("vector")
    );
}

#[tokio::test(start_paused = true)]
async fn without_an_embedder_meaning_is_not_pretended() {
    let world = World::new();
    let session = acme(&world.database());
    remember(&session, note("plain words")).await;
    let asked = session.recall(semantic("plain")).await.unwrap();
    assert_eq!(
        (contents(&asked), asked.mode),
        (vec!["plain words".to_owned()], Mode::Keyword)
    );
    assert!(!asked.receipt.degraded.is_empty());
    let default = session.recall(query("plain")).await.unwrap();
    assert_eq!(default.mode, Mode::Keyword);
}
