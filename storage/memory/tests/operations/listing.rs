//! `list`, `scopes` and `export`: pages that neither repeat nor skip.

use std::collections::BTreeSet;

use ostraca_memory::*;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a27_pages_are_stable_while_memories_are_added() {
    let world = World::new();
    let session = acme(&world.database());
    let items = (0..250).map(|n| note(&format!("item {n:03}"))).collect();
    session
        .remember(RememberRequest {
            items,
            idempotency_key: None,
        })
        .await
        .unwrap();
    for order in [Order::NewestFirst, Order::OldestFirst] {
        let mut request = ListRequest {
            limit: Some(100),
            order,
            ..ListRequest::default()
        };
        let mut seen: Vec<String> = Vec::new();
        let mut added = 0;
        loop {
            let reply = session.list(request.clone()).await.unwrap();
            seen.extend(
                reply
                    .memories
                    .iter()
                    .map(|found| found.record.content.clone()),
            );
            for n in 0..5 {
                remember(&session, note(&format!("added {order:?} {added} {n}"))).await;
            }
            added += 1;
            match reply.next_cursor {
                Some(cursor) if added < 20 => request.cursor = Some(cursor),
                _ => break,
            }
        }
        let distinct: BTreeSet<&String> = seen
            .iter()
            .filter(|content| content.starts_with("item"))
            .collect();
        assert_eq!(distinct.len(), 250, "{order:?}");
        assert_eq!(
            seen.iter().collect::<BTreeSet<_>>().len(),
            seen.len(),
            "no repeats, {order:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a39_a_page_is_bounded_in_bytes_and_says_where_to_go_on() {
    let world = World::new();
    let session = acme(&world.database());
    for batch in 0..4 {
        let items = (0..200)
            .map(|n| note(&format!("{batch}-{n} {}", "lorem ipsum ".repeat(170))))
            .collect();
        session
            .remember(RememberRequest {
                items,
                idempotency_key: None,
            })
            .await
            .unwrap();
    }
    let reply = session
        .list(ListRequest {
            limit: Some(100_000),
            ..ListRequest::default()
        })
        .await
        .unwrap();
    let bytes: usize = reply
        .memories
        .iter()
        .map(|found| found.excerpt.text.len())
        .sum();
    assert!(
        bytes < 60_000 && reply.next_cursor.is_some() && reply.total == 800,
        "{bytes}"
    );
    let reply = session
        .recall(RecallRequest {
            limit: Some(1000),
            ..query("lorem")
        })
        .await
        .unwrap();
    let bytes: usize = reply.hits.iter().map(|hit| hit.excerpt.text.len()).sum();
    assert!(bytes < 60_000 && reply.truncated, "{bytes}");
}

#[tokio::test(start_paused = true)]
async fn a39_one_large_memory_is_read_part_by_part() {
    let world = World::new();
    let session = acme(&world.database());
    let content = "abcdefghé ".repeat(190_000);
    let made = remember(&session, note(&content)).await;
    let (mut whole, mut offset) = (String::new(), Some(0));
    while let Some(content_offset) = offset {
        let request = GetRequest {
            references: vec![by_id(&made.id)],
            content_offset,
            ..GetRequest::default()
        };
        let part = session
            .get(request)
            .await
            .unwrap()
            .memories
            .remove(0)
            .excerpt;
        assert!(part.text.len() < 60_000);
        whole.push_str(&part.text);
        offset = part.next_offset();
    }
    assert_eq!(whole, content);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_belongs_to_its_arguments() {
    let world = World::new();
    let session = acme(&world.database());
    for n in 0..3 {
        remember(&session, note(&format!("n {n}"))).await;
    }
    let cursor = session
        .list(ListRequest {
            limit: Some(1),
            ..ListRequest::default()
        })
        .await
        .unwrap()
        .next_cursor;
    for request in [
        ListRequest {
            cursor: cursor.clone(),
            order: Order::OldestFirst,
            ..ListRequest::default()
        },
        ListRequest {
            cursor: cursor.clone(),
            scope: ScopeSelector::all(),
            ..ListRequest::default()
        },
        ListRequest {
            cursor: Some("garbage".into()),
            ..ListRequest::default()
        },
        ListRequest {
            cursor: Some(String::new()),
            ..ListRequest::default()
        },
    ] {
        assert_eq!(
            session.list(request).await.unwrap_err().field(),
            Some("cursor")
        );
    }
    let other = acme(&world.database()).db_tenant("globex");
    assert!(
        other
            .list(ListRequest {
                cursor,
                limit: Some(1),
                ..ListRequest::default()
            })
            .await
            .is_err()
    );
}

trait OtherTenant {
    fn db_tenant(&self, name: &str) -> Session;
}

impl OtherTenant for Session {
    fn db_tenant(&self, name: &str) -> Session {
        World::new()
            .database()
            .session(Caller::unrestricted(tenant(name)))
    }
}

#[tokio::test(start_paused = true)]
async fn scopes_are_counted_and_described() {
    let world = World::new();
    let session = acme(&world.database());
    for (path, content) in [
        ("", "root"),
        ("work", "w1"),
        ("work", "w2"),
        ("work/api", "a"),
        ("home", "h"),
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
    let describe = DescribeScopeRequest {
        scope: scope("work"),
        guidance: Some("Decisions about work".into()),
    };
    session.describe_scope(describe).await.unwrap();
    let reply = session.scopes(ScopesRequest::default()).await.unwrap();
    let counts: Vec<(&str, u64)> = reply
        .scopes
        .iter()
        .map(|scope| (scope.path.as_str(), scope.memories))
        .collect();
    assert_eq!(counts, [("", 1), ("home", 1), ("work", 2), ("work/api", 1)]);
    assert_eq!(
        reply.scopes[2].guidance.as_deref(),
        Some("Decisions about work")
    );
    let below = session
        .scopes(ScopesRequest {
            below: scope("work"),
            limit: Some(1),
            ..ScopesRequest::default()
        })
        .await
        .unwrap();
    assert_eq!(below.scopes.len(), 1);
    let rest = ScopesRequest {
        below: scope("work"),
        limit: Some(1),
        cursor: below.next_cursor,
        ..ScopesRequest::default()
    };
    let rest = session.scopes(rest).await.unwrap();
    assert_eq!(
        (rest.scopes[0].path.as_str(), rest.next_cursor),
        ("work/api", None)
    );
}
