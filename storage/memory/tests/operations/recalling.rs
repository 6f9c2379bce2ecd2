//! `recall`: scopes, filters, time, ghosts, refusals, and what it costs.

use ostraca_memory::*;
use serde_json::json;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_scope_sees_what_it_inherits_unless_told_otherwise() {
    let world = World::new();
    let session = acme(&world.database());
    for (path, content) in [
        ("", "fact root"),
        ("work", "fact work"),
        ("work/api", "fact api"),
        ("home", "fact home"),
    ] {
        remember(
            &session,
            NewMemory {
                scope: scope(path),
                ..note(content)
            },
        )
        .await;
    }
    let mut seen = Vec::new();
    for (path, reach) in [
        ("", Reach::Inherited),
        ("work", Reach::Inherited),
        ("work", Reach::Exact),
        ("work", Reach::Below),
        ("x", Reach::All),
    ] {
        let selector = ScopeSelector {
            path: scope(path),
            reach,
        };
        let mut found = contents(
            &session
                .recall(RecallRequest {
                    scope: selector,
                    ..query("fact")
                })
                .await
                .unwrap(),
        );
        found.sort();
        seen.push(found.join(","));
    }
    assert_eq!(
        seen,
        [
            "fact root",
            "fact root,fact work",
            "fact work",
            "fact api,fact work",
            "fact api,fact home,fact root,fact work"
        ]
    );
    let nothing = session
        .recall(RecallRequest {
            scope: ScopeSelector::exact(scope("nowhere")),
            ..query("fact")
        })
        .await
        .unwrap();
    assert!(nothing.hint.unwrap().contains("4 memories"));
}

#[tokio::test(start_paused = true)]
async fn a19_live_memories_fill_every_place() {
    let world = World::new();
    let session = acme(&world.database());
    let items: Vec<NewMemory> = (0..12)
        .map(|n| {
            note(&format!(
                "pump maintenance {}",
                "pump maintenance ".repeat(12 - n)
            ))
        })
        .collect();
    session
        .remember(RememberRequest {
            items,
            idempotency_key: None,
        })
        .await
        .unwrap();
    let best = session
        .recall(RecallRequest {
            limit: Some(10),
            ..query("pump maintenance")
        })
        .await
        .unwrap();
    let ids = best.hits.iter().map(|hit| by_id(&hit.record.id)).collect();
    session.forget(ForgetRequest::soft(ids)).await.unwrap();
    let left = session
        .recall(RecallRequest {
            limit: Some(2),
            ..query("pump maintenance")
        })
        .await
        .unwrap();
    assert_eq!(left.hits.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn kinds_filters_and_times_narrow() {
    let world = World::new();
    let session = acme(&world.database());
    for (kind, priority) in [
        ("decision", json!(2)),
        ("decision", json!(3)),
        ("note", json!(3)),
        ("note", json!("10")),
    ] {
        let metadata = json!({ "priority": priority }).as_object().unwrap().clone();
        remember(
            &session,
            NewMemory {
                kind: Some(kind.into()),
                metadata,
                ..note(&format!("{kind} {priority}"))
            },
        )
        .await;
        tokio::time::advance(std::time::Duration::from_secs(10)).await;
    }
    let filter = |value| Some(Filter::parse(&value).unwrap());
    let at_least_3 = json!({"op": "gte", "field": "priority", "value": {"kind": "int", "int": 3}});
    let found = session
        .recall(RecallRequest {
            filter: filter(at_least_3),
            kinds: vec!["decision".into()],
            ..query("decision note")
        })
        .await
        .unwrap();
    assert_eq!(contents(&found), ["decision 3"]);
    let since = RecallRequest {
        since: Some(Timestamp(START_MS + 10_000)),
        until: Some(Timestamp(START_MS + 20_000)),
        ..query("decision")
    };
    assert_eq!(
        contents(&session.recall(since).await.unwrap()),
        ["decision 3"]
    );
}

#[tokio::test(start_paused = true)]
async fn a07_a08_what_is_no_query_is_refused_with_the_way_out() {
    let world = World::new();
    let session = acme(&world.database());
    for text in ["", "\n", "\u{200b}", "*", " * "] {
        let error = session.recall(query(text)).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.field()),
            (ErrorKind::Invalid, Some("query")),
            "{text:?}"
        );
        assert!(error.message().contains("list"));
    }
    assert!(session.recall(RecallRequest::default()).await.is_err());
    let words_without_query = RecallRequest {
        vector: Some(vec![1.0]),
        mode: Some(Mode::Keyword),
        ..RecallRequest::default()
    };
    assert_eq!(
        session
            .recall(words_without_query)
            .await
            .unwrap_err()
            .field(),
        Some("query")
    );
}

#[tokio::test(start_paused = true)]
async fn a_token_budget_cuts_the_hits_and_says_so() {
    let world = World::new();
    let session = acme(&world.database());
    let items = (0..5)
        .map(|n| note(&format!("topic {n} {}", "word ".repeat(100))))
        .collect();
    session
        .remember(RememberRequest {
            items,
            idempotency_key: None,
        })
        .await
        .unwrap();
    let reply = session
        .recall(RecallRequest {
            max_tokens: Some(450),
            ..query("topic")
        })
        .await
        .unwrap();
    assert!(
        reply.truncated && reply.hits.len() == 2,
        "{}",
        reply.hits.len()
    );
    assert_eq!(reply.matched, 5);
}

#[tokio::test(start_paused = true)]
async fn i_visible_another_process_sees_a_write_at_once() {
    let world = World::new();
    let (writer, reader) = (acme(&world.database()), acme(&world.database()));
    for n in 0..20 {
        remember(&writer, note(&format!("fact number {n}"))).await;
        let found = reader
            .recall(RecallRequest {
                limit: Some(100),
                ..query("fact")
            })
            .await
            .unwrap();
        assert_eq!(found.hits.len(), n + 1);
        assert_eq!(found.receipt.position, n as u64 + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn budget_a_warm_write_is_one_put_and_one_round_trip() {
    let world = World::new();
    let (db, counted) = world.counted_database();
    let session = acme(&db);
    remember(&session, note("warm up")).await;
    let before = counted.counts();
    let request = RememberRequest {
        items: vec![note("measured")],
        idempotency_key: None,
    };
    let receipt = session.remember(request).await.unwrap().receipt;
    let after = counted.counts();
    assert_eq!(
        (after.creates - before.creates, after.puts),
        (1, before.puts)
    );
    assert_eq!((after.gets, after.lists), (before.gets, before.lists));
    assert_eq!((receipt.puts, receipt.steps), (1, 1), "{receipt:?}");

    let before = counted.counts();
    let receipt = session.recall(query("measured")).await.unwrap().receipt;
    let after = counted.counts();
    assert_eq!(
        (after.gets - before.gets, after.lists - before.lists),
        (1, 0)
    );
    assert_eq!(
        (receipt.gets, receipt.lists, receipt.steps),
        (1, 0, 1),
        "{receipt:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn budget_a_cold_recall_over_200_single_writes() {
    let world = World::new();
    let session = acme(&world.database());
    for n in 0..200 {
        remember(&session, note(&format!("single write number {n}"))).await;
    }
    let (db, counted) = world.counted_database();
    let cold = acme(&db).recall(query("number 137")).await.unwrap();
    assert!(cold.hits[0].record.content.ends_with("137"));
    let (counts, receipt) = (counted.counts(), cold.receipt);
    assert!(counts.gets <= 16 && counts.lists == 1, "{counts:?}");
    assert!(receipt.steps <= 2, "{receipt:?}");
    // The receipt tells what the store was asked.
    assert_eq!(
        (u64::from(receipt.gets), u64::from(receipt.lists)),
        (counts.gets, counts.lists)
    );
    assert_eq!(receipt.bytes_read, counts.bytes_read);
}
