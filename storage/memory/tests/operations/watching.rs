//! `watch`: a feed that survives restarts and skips nothing.

use std::time::Duration;

use ostraca_memory::*;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_cursor_goes_on_in_another_process_and_skips_nothing() {
    let world = World::new();
    let session = acme(&world.database());
    let start = session
        .watch(WatchRequest {
            scope: ScopeSelector::all(),
            ..WatchRequest::default()
        })
        .await
        .unwrap();
    assert!(start.changes.is_empty() && start.timed_out);
    let made = remember(&session, keyed("k", "one")).await;
    remember(&session, keyed("k", "two")).await;
    session
        .forget(ForgetRequest::soft(vec![by_id(&made.id)]))
        .await
        .unwrap();
    let mut request = WatchRequest {
        cursor: Some(start.next_cursor),
        scope: ScopeSelector::all(),
        limit: Some(1),
        ..WatchRequest::default()
    };
    let mut events = Vec::new();
    for _ in 0..3 {
        let reply = acme(&world.database())
            .watch(request.clone())
            .await
            .unwrap();
        assert_eq!(reply.changes.len(), 1);
        events.push((
            reply.changes[0].event,
            reply.changes[0].version,
            reply.changes[0].record.is_some(),
        ));
        request.cursor = Some(reply.next_cursor);
    }
    // A20: the content of what is forgotten by now is in no answer.
    assert_eq!(
        events,
        [
            (Event::Created, 1, false),
            (Event::Updated, 2, false),
            (Event::Forgotten, 3, false)
        ]
    );
    assert!(
        acme(&world.database())
            .watch(request)
            .await
            .unwrap()
            .timed_out
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_first_change_or_in_time() {
    let world = World::new();
    let (watcher, writer) = (acme(&world.database()), acme(&world.database()));
    let wait = WatchRequest {
        scope: ScopeSelector::all(),
        wait: Duration::from_secs(20),
        ..WatchRequest::default()
    };
    let began = world.clock.now();
    let (seen, ()) = futures::join!(watcher.watch(wait.clone()), async {
        world.clock.sleep(Duration::from_secs(5)).await;
        remember(&writer, note("news")).await;
    });
    let seen = seen.unwrap();
    assert_eq!(seen.changes[0].record.as_ref().unwrap().content, "news");
    let took = world.clock.now().millis_since(began);
    assert!((5_000..8_000).contains(&took), "{took}");
    let began = world.clock.now();
    let quiet = watcher
        .watch(WatchRequest {
            cursor: Some(seen.next_cursor),
            ..wait
        })
        .await
        .unwrap();
    assert!(quiet.timed_out && quiet.changes.is_empty());
    assert_eq!(world.clock.now().millis_since(began), 20_000);
    // Twenty seconds cost about a dozen GETs and no list.
    assert!(
        quiet.receipt.gets < 16 && quiet.receipt.lists == 0,
        "{:?}",
        quiet.receipt
    );
}

#[tokio::test(start_paused = true)]
async fn a_feed_tells_its_scopes_alone() {
    let world = World::new();
    let session = acme(&world.database());
    let begin = |path: &str| WatchRequest {
        scope: ScopeSelector::exact(scope(path)),
        ..WatchRequest::default()
    };
    let cursor = session.watch(begin("a")).await.unwrap().next_cursor;
    remember(
        &session,
        NewMemory {
            scope: scope("b"),
            ..note("b")
        },
    )
    .await;
    remember(
        &session,
        NewMemory {
            scope: scope("a"),
            ..note("a")
        },
    )
    .await;
    let seen = session
        .watch(WatchRequest {
            cursor: Some(cursor.clone()),
            ..begin("a")
        })
        .await
        .unwrap();
    assert_eq!(seen.changes.len(), 1);
    let wrong = session
        .watch(WatchRequest {
            cursor: Some(cursor),
            ..begin("b")
        })
        .await
        .unwrap_err();
    assert_eq!(wrong.field(), Some("cursor"));
}
