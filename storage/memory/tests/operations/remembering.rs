//! `remember`: created, updated, unchanged; keys, versions, retries, batches, expiry.

use std::time::Duration;

use ostraca_memory::*;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_memory_is_created_once_and_its_twin_is_unchanged() {
    let world = World::new();
    let session = acme(&world.database());
    let first = remember(&session, note("The build is green")).await;
    assert_eq!((first.outcome, first.version), (Outcome::Created, 1));
    let again = remember(&session, note("The build is green")).await;
    assert_eq!(
        (again.outcome, again.id.as_str()),
        (Outcome::Unchanged, first.id.as_str())
    );
    assert_eq!(list_all(&session).await, ["The build is green"]);
}

#[tokio::test(start_paused = true)]
async fn a14_texts_that_differ_in_a_number_are_two_memories() {
    let world = World::new();
    let session = acme(&world.database());
    remember(&session, note("run 41: 812 ms")).await;
    remember(&session, note("run 42: 655 ms")).await;
    assert_eq!(list_all(&session).await.len(), 2);
    assert_eq!(recall(&session, "run 42").await[0], "run 42: 655 ms");
}

#[tokio::test(start_paused = true)]
async fn the_same_text_in_another_scope_is_another_memory() {
    let world = World::new();
    let session = acme(&world.database());
    let one = remember(
        &session,
        NewMemory {
            scope: scope("a"),
            ..note("same")
        },
    )
    .await;
    let two = remember(
        &session,
        NewMemory {
            scope: scope("b"),
            ..note("same")
        },
    )
    .await;
    assert_ne!(one.id, two.id);
    assert_eq!(two.outcome, Outcome::Created);
}

#[tokio::test(start_paused = true)]
async fn a_key_replaces_and_keeps_the_id_and_the_time_of_creation() {
    let world = World::new();
    let session = acme(&world.database());
    let lyon = remember(&session, keyed("home", "Lyon")).await;
    tokio::time::advance(Duration::from_secs(60)).await;
    let porto = remember(&session, keyed("home", "Porto")).await;
    assert_eq!(
        (porto.outcome, porto.version, &porto.id),
        (Outcome::Updated, 2, &lyon.id)
    );
    let record = get(&session, by_key("home")).await.unwrap();
    assert_eq!(record.content, "Porto");
    assert_eq!(
        (record.created, record.updated),
        (START_MS, START_MS + 60_000)
    );
    // A22: what was superseded is on no path.
    assert_eq!(recall(&session, "Lyon").await, Vec::<String>::new());
    assert_eq!(recall(&session, "Porto").await, ["Porto"]);
}

#[tokio::test(start_paused = true)]
async fn an_expected_version_decides_between_two_writers() {
    let world = World::new();
    let session = acme(&world.database());
    let expecting = |version, content: &str| NewMemory {
        expected_version: Some(version),
        ..keyed("state", content)
    };
    assert_eq!(remember(&session, expecting(0, "one")).await.version, 1);
    let taken = try_remember(&session, expecting(0, "two"))
        .await
        .unwrap_err();
    assert_eq!(
        (taken.kind(), taken.field()),
        (ErrorKind::Conflict, Some("expected_version"))
    );
    assert_eq!(remember(&session, expecting(1, "two")).await.version, 2);
    assert_eq!(
        try_remember(&session, expecting(1, "three"))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Conflict
    );
    assert_eq!(list_all(&session).await, ["two"]);
    let without_key = NewMemory {
        expected_version: Some(1),
        ..note("x")
    };
    assert_eq!(
        try_remember(&session, without_key)
            .await
            .unwrap_err()
            .field(),
        Some("expected_version")
    );
}

#[tokio::test(start_paused = true)]
async fn a13_a_retried_request_takes_effect_once_even_from_other_processes() {
    let world = World::new();
    let request = |content: &str| RememberRequest {
        items: vec![keyed("k", content)],
        idempotency_key: Some("k-001".into()),
    };
    let first = acme(&world.database())
        .remember(request("a"))
        .await
        .unwrap()
        .items
        .remove(0)
        .unwrap();
    // Something else happens to the memory before the retry arrives.
    remember(&acme(&world.database()), keyed("k", "b")).await;
    let session = acme(&world.database());
    let retried = session
        .remember(request("a"))
        .await
        .unwrap()
        .items
        .remove(0)
        .unwrap();
    assert_eq!(first, retried);
    assert_eq!(list_all(&session).await, ["b"]);
    let error = session.remember(request("other")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.field()),
        (ErrorKind::Conflict, Some("idempotency_key"))
    );
}

#[tokio::test(start_paused = true)]
async fn a13_ten_retries_at_once_make_one_memory() {
    let world = World::new();
    let sessions: Vec<Session> = (0..2).map(|_| acme(&world.database())).collect();
    let calls = (0..10).map(|n| {
        let session = sessions[n % 2].clone();
        async move {
            let request = RememberRequest {
                items: vec![note("once")],
                idempotency_key: Some("k-001".into()),
            };
            session
                .remember(request)
                .await
                .unwrap()
                .items
                .remove(0)
                .unwrap()
                .id
        }
    });
    let ids = futures::future::join_all(calls).await;
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(list_all(&sessions[0]).await, ["once"]);
}

#[tokio::test(start_paused = true)]
async fn a11_each_item_of_a_batch_has_its_own_result_in_order() {
    let world = World::new();
    let session = acme(&world.database());
    let mut items: Vec<NewMemory> = (0..10).map(|n| note(&format!("item {n}"))).collect();
    items[6].content = " \u{200b} ".into();
    let reply = session
        .remember(RememberRequest {
            items,
            idempotency_key: None,
        })
        .await
        .unwrap();
    for (index, item) in reply.items.iter().enumerate() {
        match item {
            Ok(done) => assert_eq!(
                get(&session, by_id(&done.id)).await.unwrap().content,
                format!("item {index}")
            ),
            Err(error) => assert_eq!((index, error.field()), (6, Some("items[6].content"))),
        }
    }
    assert_eq!(reply.items.iter().filter(|item| item.is_ok()).count(), 9);
    assert_eq!(list_all(&session).await.len(), 9);
}

#[tokio::test(start_paused = true)]
async fn items_of_one_batch_see_each_other() {
    let world = World::new();
    let session = acme(&world.database());
    let items = vec![
        keyed("k", "one"),
        keyed("k", "two"),
        note("same"),
        note("same"),
    ];
    let reply = session
        .remember(RememberRequest {
            items,
            idempotency_key: None,
        })
        .await
        .unwrap();
    let done: Vec<Remembered> = reply.items.into_iter().map(Result::unwrap).collect();
    assert_eq!(done[0].id, done[1].id);
    assert_eq!((done[1].outcome, done[1].version), (Outcome::Updated, 2));
    assert_eq!(done[3].outcome, Outcome::Unchanged);
    assert_eq!(list_all(&session).await, ["two", "same"]);
}

#[tokio::test(start_paused = true)]
async fn a08_blank_and_oversized_fields_are_refused_and_change_nothing() {
    let world = World::new();
    let session = acme(&world.database());
    let long = "x".repeat(600);
    let cases: Vec<(NewMemory, &str)> = vec![
        (note("   "), "content"),
        (note("\u{200b}"), "content"),
        (note(&"x".repeat((2 << 20) + 1)), "content"),
        (keyed(" ", "c"), "key"),
        (keyed(&long, "c"), "key"),
        (keyed("a\nb", "c"), "key"),
        (
            NewMemory {
                title: Some(long.clone()),
                ..note("c")
            },
            "title",
        ),
        (
            NewMemory {
                kind: Some(long.clone()),
                ..note("c")
            },
            "kind",
        ),
        (
            NewMemory {
                confidence: Some(1.5),
                ..note("c")
            },
            "confidence",
        ),
        (
            NewMemory {
                confidence: Some(f64::NAN),
                ..note("c")
            },
            "confidence",
        ),
        (
            NewMemory {
                vector: Some(vec![]),
                ..note("c")
            },
            "vector",
        ),
        (
            NewMemory {
                vector: Some(vec![0.5, f32::NAN]),
                ..note("c")
            },
            "vector",
        ),
        (
            NewMemory {
                expires: Some(Expiry::At(Timestamp(0))),
                ..note("c")
            },
            "expires_at",
        ),
        (
            NewMemory {
                metadata: [("$id".to_owned(), 1.into())].into_iter().collect(),
                ..note("c")
            },
            "metadata",
        ),
    ];
    for (item, field) in cases {
        let error = try_remember(&session, item).await.unwrap_err();
        assert_eq!(error.field(), Some(field), "{error}");
    }
    assert!(session.remember(RememberRequest::default()).await.is_err());
    assert_eq!(list_all(&session).await, Vec::<String>::new());
    assert_eq!(
        session
            .list(ListRequest::default())
            .await
            .unwrap()
            .receipt
            .position,
        0
    );
}

#[tokio::test(start_paused = true)]
async fn what_has_expired_is_on_no_path_and_frees_its_names() {
    let world = World::new();
    let session = acme(&world.database());
    let short = NewMemory {
        expires: Some(Expiry::After(Duration::from_secs(10))),
        ..keyed("otp", "code 4471")
    };
    let first = remember(&session, short).await;
    assert_eq!(recall(&session, "code").await.len(), 1);
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(recall(&session, "code").await.len(), 0);
    assert!(get(&session, by_id(&first.id)).await.is_none());
    assert!(get(&session, by_key("otp")).await.is_none());
    assert_eq!(list_all(&session).await.len(), 0);
    assert_eq!(
        session
            .history(history(by_id(&first.id)))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    let second = remember(&session, keyed("otp", "code 9")).await;
    assert_eq!(second.outcome, Outcome::Created);
    assert_ne!(first.id, second.id);
    assert_eq!(
        get(&session, by_key("otp")).await.unwrap().content,
        "code 9"
    );
}

pub fn history(target: Reference) -> HistoryRequest {
    HistoryRequest {
        target,
        limit: None,
        cursor: None,
        freshness: Freshness::Strong,
    }
}
