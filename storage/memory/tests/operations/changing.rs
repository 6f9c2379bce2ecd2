//! `update`, `forget`, `restore`, `history`, and reads of the past.

use std::time::Duration;

use ostraca_memory::*;
use serde_json::json;

use crate::remembering::history;
use crate::support::*;

fn object(value: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    value.as_object().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a16_absent_fields_stay_and_null_removes() {
    let world = World::new();
    let session = acme(&world.database());
    let metadata = object(json!({"category": "work", "priority": 2, "source": "mail"}));
    let new = NewMemory {
        metadata,
        title: Some("t".into()),
        ..note("old")
    };
    let made = remember(&session, new).await;
    tokio::time::advance(Duration::from_secs(5)).await;
    let update = UpdateRequest {
        content: Some("new".into()),
        ..UpdateRequest::new(by_id(&made.id))
    };
    let changed = session.update(update).await.unwrap().record;
    assert_eq!(changed.metadata.len(), 3);
    assert_eq!(changed.title.as_deref(), Some("t"));
    assert_eq!(
        (changed.created, changed.updated, changed.version),
        (START_MS, START_MS + 5000, 2)
    );
    let update = UpdateRequest {
        metadata: Patch::Set(object(json!({"priority": null, "category": "home"}))),
        title: Patch::Clear,
        ..UpdateRequest::new(by_id(&made.id))
    };
    let changed = session.update(update).await.unwrap().record;
    assert_eq!(
        changed.metadata.keys().collect::<Vec<_>>(),
        ["category", "source"]
    );
    assert_eq!(changed.metadata["category"], Value::String("home".into()));
    assert_eq!(changed.title, None);
}

#[tokio::test(start_paused = true)]
async fn a18_an_edit_is_found_by_its_new_words_alone() {
    let world = World::new();
    let session = acme(&world.database());
    let made = remember(&session, note("The shop uses Postgres")).await;
    let update = UpdateRequest {
        content: Some("The shop uses CockroachDB".into()),
        ..UpdateRequest::new(by_id(&made.id))
    };
    session.update(update).await.unwrap();
    assert_eq!(
        recall(&session, "CockroachDB").await,
        ["The shop uses CockroachDB"]
    );
    assert_eq!(recall(&session, "Postgres").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn updates_refuse_what_they_cannot_do_and_change_nothing() {
    let world = World::new();
    let session = acme(&world.database());
    let one = remember(&session, keyed("one", "first")).await;
    remember(&session, keyed("two", "second")).await;
    let to = |target| UpdateRequest::new(target);
    let nothing = session.update(to(by_id(&one.id))).await.unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::Invalid);
    let unknown = session
        .update(UpdateRequest {
            content: Some("x".into()),
            ..to(by_id("nope"))
        })
        .await
        .unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    let stale = UpdateRequest {
        content: Some("x".into()),
        expected_version: Some(7),
        ..to(by_id(&one.id))
    };
    assert_eq!(
        session.update(stale).await.unwrap_err().field(),
        Some("expected_version")
    );
    let taken = UpdateRequest {
        key: Patch::Set("two".into()),
        ..to(by_id(&one.id))
    };
    assert_eq!(
        session.update(taken).await.unwrap_err().field(),
        Some("key")
    );
    let blank = UpdateRequest {
        content: Some(" ".into()),
        ..to(by_id(&one.id))
    };
    assert_eq!(
        session.update(blank).await.unwrap_err().field(),
        Some("content")
    );
    assert_eq!(get(&session, by_id(&one.id)).await.unwrap().version, 1);
    let same = UpdateRequest {
        content: Some("first".into()),
        ..to(by_id(&one.id))
    };
    assert_eq!(
        session.update(same).await.unwrap().outcome,
        Outcome::Unchanged
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_may_be_retried() {
    let world = World::new();
    let session = acme(&world.database());
    let made = remember(&session, note("a")).await;
    let request = UpdateRequest {
        content: Some("b".into()),
        idempotency_key: Some("u1".into()),
        ..UpdateRequest::new(by_id(&made.id))
    };
    let first = session.update(request.clone()).await.unwrap();
    let second = acme(&world.database()).update(request).await.unwrap();
    assert_eq!(
        (first.record.version, second.record.version, second.outcome),
        (2, 2, Outcome::Updated)
    );
}

#[tokio::test(start_paused = true)]
async fn a20_what_is_forgotten_is_gone_and_can_be_restored() {
    let world = World::new();
    let session = acme(&world.database());
    let made = remember(&session, keyed("vault", "the vault code is 4471")).await;
    let reply = session
        .forget(ForgetRequest::soft(vec![by_key("vault"), by_id("nope")]))
        .await
        .unwrap();
    assert_eq!(reply.items[0].outcome, ForgetOutcome::Forgotten);
    assert_eq!(reply.items[1].outcome, ForgetOutcome::Missing);
    assert_eq!(recall(&session, "the vault code is 4471").await.len(), 0);
    assert!(get(&session, by_key("vault")).await.is_none());
    assert!(get(&session, by_id(&made.id)).await.is_none());
    assert_eq!(list_all(&session).await.len(), 0);
    assert_eq!(export(&session).await.len(), 0);
    let versions = session
        .history(history(by_id(&made.id)))
        .await
        .unwrap()
        .versions;
    assert_eq!(
        versions.iter().map(|v| v.event).collect::<Vec<_>>(),
        [Event::Forgotten, Event::Created]
    );
    let restore = RestoreRequest {
        target: by_id(&made.id),
        version: None,
        expected_version: None,
        reason: Some("oops".into()),
        idempotency_key: None,
    };
    let back = session.restore(restore.clone()).await.unwrap();
    assert_eq!(
        (back.record.version, back.record.content.as_str()),
        (3, "the vault code is 4471")
    );
    assert_eq!(recall(&session, "vault").await.len(), 1);
    assert_eq!(
        session.restore(restore).await.unwrap().outcome,
        Outcome::Unchanged
    );
}

#[tokio::test(start_paused = true)]
async fn a_key_taken_since_refuses_the_restore() {
    let world = World::new();
    let session = acme(&world.database());
    let old = remember(&session, keyed("home", "Lyon")).await;
    session
        .forget(ForgetRequest::soft(vec![by_key("home")]))
        .await
        .unwrap();
    let new = remember(&session, keyed("home", "Porto")).await;
    assert_ne!(old.id, new.id);
    let restore = RestoreRequest {
        target: by_id(&old.id),
        version: None,
        expected_version: None,
        reason: None,
        idempotency_key: None,
    };
    assert_eq!(
        session.restore(restore).await.unwrap_err().field(),
        Some("key")
    );
}

#[tokio::test(start_paused = true)]
async fn i_forget_a_purged_memory_is_in_no_answer_no_history_and_no_past() {
    let world = World::new();
    let session = acme(&world.database());
    let made = remember(&session, keyed("ssn", "078-05-1120")).await;
    let before = remember(&session, keyed("ssn", "078-05-1121")).await;
    assert_eq!(before.version, 2);
    session
        .forget(ForgetRequest {
            mode: ForgetMode::Purge,
            ..ForgetRequest::soft(vec![by_id(&made.id)])
        })
        .await
        .unwrap();
    for session in [session.clone(), acme(&world.database())] {
        assert_eq!(
            session
                .history(history(by_id(&made.id)))
                .await
                .unwrap_err()
                .kind(),
            ErrorKind::NotFound
        );
        for position in 0..=3 {
            let past = RecallRequest {
                as_of: Some(AsOf::Position(position)),
                ..query("078")
            };
            assert_eq!(
                session.recall(past).await.unwrap().hits.len(),
                0,
                "{position}"
            );
        }
        assert_eq!(export(&session).await.len(), 0);
        let restore = RestoreRequest {
            target: by_id(&made.id),
            version: Some(1),
            expected_version: None,
            reason: None,
            idempotency_key: None,
        };
        assert_eq!(
            session.restore(restore).await.unwrap_err().kind(),
            ErrorKind::NotFound
        );
    }
    let forgotten = remember(&session, note("soft then hard")).await;
    session
        .forget(ForgetRequest::soft(vec![by_id(&forgotten.id)]))
        .await
        .unwrap();
    let purge = ForgetRequest {
        mode: ForgetMode::Purge,
        ..ForgetRequest::soft(vec![by_id(&forgotten.id)])
    };
    assert_eq!(
        session.forget(purge).await.unwrap().items[0].outcome,
        ForgetOutcome::Purged
    );
    assert!(
        session
            .history(history(by_id(&forgotten.id)))
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn the_past_can_be_read_by_position_and_by_time() {
    let world = World::new();
    let session = acme(&world.database());
    remember(&session, keyed("home", "lives in Lyon")).await;
    tokio::time::advance(Duration::from_secs(100)).await;
    remember(&session, keyed("home", "lives in Porto")).await;
    tokio::time::advance(Duration::from_secs(100)).await;
    session
        .forget(ForgetRequest::soft(vec![by_key("home")]))
        .await
        .unwrap();
    for (as_of, expected) in [
        (AsOf::Position(0), None),
        (AsOf::Position(1), Some("lives in Lyon")),
        (
            AsOf::Time(Timestamp(START_MS + 99_999)),
            Some("lives in Lyon"),
        ),
        (
            AsOf::Time(Timestamp(START_MS + 150_000)),
            Some("lives in Porto"),
        ),
        (AsOf::Time(Timestamp(START_MS - 1)), None),
        (AsOf::Position(3), None),
    ] {
        let found = session
            .recall(RecallRequest {
                as_of: Some(as_of),
                ..query("lives")
            })
            .await
            .unwrap();
        assert_eq!(
            contents(&found).first().map(String::as_str),
            expected,
            "{as_of:?}"
        );
        let get = GetRequest {
            references: vec![by_key("home")],
            as_of: Some(as_of),
            ..GetRequest::default()
        };
        let got = session.get(get).await.unwrap();
        assert_eq!(
            got.memories
                .first()
                .map(|found| found.record.content.as_str()),
            expected,
            "{as_of:?}"
        );
    }
    let future = session
        .recall(RecallRequest {
            as_of: Some(AsOf::Position(99)),
            ..query("lives")
        })
        .await
        .unwrap_err();
    assert_eq!(future.field(), Some("as_of"));
}

#[tokio::test(start_paused = true)]
async fn history_pages_through_versions_with_what_changed_and_why() {
    let world = World::new();
    let session = acme(&world.database());
    let made = remember(&session, note("v1")).await;
    for n in 2..=5 {
        let update = UpdateRequest {
            content: Some(format!("v{n}")),
            reason: Some(format!("because {n}")),
            ..UpdateRequest::new(by_id(&made.id))
        };
        session.update(update).await.unwrap();
    }
    let mut request = HistoryRequest {
        limit: Some(2),
        ..history(by_id(&made.id))
    };
    let mut seen = Vec::new();
    loop {
        let reply = session.history(request.clone()).await.unwrap();
        seen.extend(
            reply
                .versions
                .iter()
                .map(|v| (v.record.version, v.reason.clone(), v.changed.clone())),
        );
        match reply.next_cursor {
            Some(cursor) => request.cursor = Some(cursor),
            None => break,
        }
    }
    assert_eq!(
        seen.iter().map(|v| v.0).collect::<Vec<_>>(),
        [5, 4, 3, 2, 1]
    );
    assert_eq!(seen[0].1.as_deref(), Some("because 5"));
    assert_eq!(seen[0].2, ["content"]);
    assert!(seen[4].2.is_empty());
}

async fn export(session: &Session) -> Vec<String> {
    let reply = session
        .export(ExportRequest {
            scope: ScopeSelector::all(),
            limit: None,
            cursor: None,
        })
        .await
        .unwrap();
    reply
        .records
        .iter()
        .map(|record| record.content.clone())
        .collect()
}
