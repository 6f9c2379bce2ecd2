//! What the golden bucket holds: each kind of row and each kind of field, written with
//! a fixed clock and counted ids, so that the bytes are the same on every machine.

use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use ostraca_memory::*;
use ostraca_object::port::simulated::{CountingIds, VirtualClock};
use serde_json::{Value as Json, json};

fn database(store: &Arc<InMemory>) -> Arc<Database> {
    database_with(store, Settings::default())
}

fn database_with(store: &Arc<InMemory>, settings: Settings) -> Arc<Database> {
    let store: Arc<dyn object_store::ObjectStore> = Arc::<InMemory>::clone(store);
    let ports = Ports {
        store,
        clock: VirtualClock::new(),
        ids: Arc::new(CountingIds::default()),
        embedder: None,
        background: None,
    };
    Database::new(ports, settings)
}

fn memory(tenant: &str) -> CollectionKey {
    CollectionKey::new(tenant.parse().unwrap(), CollectionId::memory())
}

fn session(db: &Arc<Database>) -> Session {
    db.session(Caller {
        author: Some("key:golden".into()),
        ..Caller::unrestricted("golden".parse().unwrap())
    })
}

/// Writes the golden bucket.
pub async fn write(store: &Arc<InMemory>) {
    let db = database(store);
    let session = session(&db);
    db.create_tenant(&"golden".parse().unwrap()).await.unwrap();
    let key = NewKey {
        tenant: "golden".parse().unwrap(),
        name: "golden".into(),
        permissions: [Permission::Read, Permission::Write].into_iter().collect(),
        expires: Some(Timestamp(4_000_000_000_000)),
    };
    db.create_key(key).await.unwrap();
    let metadata = json!({
        "text": "ü", "whole": 9_007_199_254_740_993_i64, "float": 1.5, "yes": true, "none": null,
        "texts": ["a", "b"], "wholes": [1, 2], "floats": [0.5], "nested": {"deep": [1, "x"]}, "empty": []
    });
    let full = NewMemory {
        content: "a memory with a key and every field".into(),
        scope: ScopePath::parse("work/api").unwrap(),
        key: Some("full".into()),
        title: Some("Everything".into()),
        kind: Some("decision".into()),
        metadata: metadata.as_object().unwrap().clone(),
        expires: Some(Expiry::At(Timestamp(4_000_000_000_000))),
        expected_version: None,
        source: Some("golden test".into()),
        confidence: Some(0.75),
        sensitivity: Some("internal".into()),
        vector: Some(vec![0.6, 0.8]),
        created: Some(Timestamp(1_600_000_000_000)),
    };
    let plain = NewMemory {
        content: "语言 مرحبا 🟡 plain".into(),
        ..NewMemory::default()
    };
    let items = vec![full, plain];
    session
        .remember(RememberRequest {
            items,
            idempotency_key: Some("golden-1".into()),
        })
        .await
        .unwrap();
    for n in 0..18 {
        tokio::time::advance(Duration::from_secs(1)).await;
        let item = NewMemory {
            content: format!("single {n}"),
            key: Some(format!("k{}", n % 3)),
            ..NewMemory::default()
        };
        session
            .remember(RememberRequest {
                items: vec![item],
                idempotency_key: None,
            })
            .await
            .unwrap();
    }
    let by_key = |key: &str| Reference::Key {
        scope: ScopePath::root(),
        key: key.into(),
    };
    let forget = ForgetRequest {
        reason: Some("golden reason".into()),
        ..ForgetRequest::soft(vec![by_key("k0")])
    };
    let forgotten = session
        .forget(forget)
        .await
        .unwrap()
        .items
        .remove(0)
        .id
        .unwrap();
    let restore = RestoreRequest {
        target: Reference::Id(forgotten),
        version: Some(2),
        expected_version: None,
        reason: None,
        idempotency_key: None,
    };
    session.restore(restore).await.unwrap();
    let purge = ForgetRequest {
        mode: ForgetMode::Purge,
        ..ForgetRequest::soft(vec![by_key("k1")])
    };
    session.forget(purge).await.unwrap();
    let guidance = DescribeScopeRequest {
        scope: ScopePath::parse("work").unwrap(),
        guidance: Some("What we decided".into()),
    };
    session.describe_scope(guidance).await.unwrap();
    db.compact(&memory("golden"), Effort::SMALL).await.unwrap();
    let after = NewMemory {
        content: "single after the fold".into(),
        key: Some("k2".into()),
        ..NewMemory::default()
    };
    remember(&session, vec![after]).await;
    write_large(store).await;
}

async fn remember(session: &Session, items: Vec<NewMemory>) {
    let request = RememberRequest {
        items,
        idempotency_key: None,
    };
    for item in session.remember(request).await.unwrap().items {
        item.unwrap();
    }
}

/// A collection whose segments are searched in place: two of them, the newer one replacing
/// rows of the older, and a tail that replaces rows of both.
async fn write_large(store: &Arc<InMemory>) {
    let settings = Settings {
        whole_bytes: 0,
        ..Settings::default()
    };
    let db = database_with(store, settings);
    let session = large(&db);
    let numbered = |n: u16, content: &str| NewMemory {
        content: format!("{content} {n}"),
        key: Some(format!("n{n}")),
        scope: ScopePath::parse(["", "work"][usize::from(n % 2)]).unwrap(),
        metadata: json!({ "number": n }).as_object().unwrap().clone(),
        expires: (n == 5).then_some(Expiry::At(Timestamp(4_000_000_000_000))),
        vector: Some(vec![f32::from(n), 1.0, 0.5]),
        ..NewMemory::default()
    };
    let keyed = |n: u16| Reference::Key {
        scope: ScopePath::parse(["", "work"][usize::from(n % 2)]).unwrap(),
        key: format!("n{n}"),
    };
    remember(&session, (0..24).map(|n| numbered(n, "first")).collect()).await;
    db.compact(&memory("large"), Effort::SMALL).await.unwrap();
    remember(&session, vec![numbered(3, "second"), numbered(4, "second")]).await;
    let purge = ForgetRequest {
        mode: ForgetMode::Purge,
        ..ForgetRequest::soft(vec![keyed(6)])
    };
    session.forget(purge).await.unwrap();
    db.compact(&memory("large"), Effort::SMALL).await.unwrap();
    remember(&session, vec![numbered(3, "third"), numbered(7, "third")]).await;
    session
        .forget(ForgetRequest::soft(vec![keyed(8)]))
        .await
        .unwrap();
}

fn large(db: &Arc<Database>) -> Session {
    db.session(Caller::unrestricted("large".parse().unwrap()))
}

/// What a reader makes of the collection that is searched in place.
pub async fn read_large(store: &Arc<InMemory>) -> Json {
    let session = large(&database(store));
    let mut answers = serde_json::Map::new();
    for (name, mode) in [
        ("keyword", Mode::Keyword),
        ("semantic", Mode::Semantic),
        ("hybrid", Mode::Hybrid),
    ] {
        let request = RecallRequest {
            query: Some("second third 3".into()),
            vector: (mode != Mode::Keyword).then(|| vec![3.0, 1.0, 0.5]),
            mode: Some(mode),
            scope: ScopeSelector::all(),
            limit: Some(6),
            filter: Some(
                Filter::parse(&json!({"op": "lt", "field": "number", "value": 9})).unwrap(),
            ),
            ..RecallRequest::default()
        };
        let reply = session.recall(request).await.unwrap();
        let hits = reply.hits.iter();
        let hits = hits.map(|hit| json!([hit.record.content, format!("{:.4}", hit.score)]));
        answers.insert(name.to_owned(), hits.collect());
    }
    let got = session
        .get(GetRequest {
            references: vec![Reference::Key {
                scope: ScopePath::root(),
                key: "n4".into(),
            }],
            ..GetRequest::default()
        })
        .await
        .unwrap();
    let id = got.memories[0].record.id.clone();
    answers.insert("got".to_owned(), json!(got.memories[0].record.content));
    let history = HistoryRequest {
        target: Reference::Id(id),
        limit: None,
        cursor: None,
        freshness: Freshness::Strong,
    };
    let history = session.history(history).await.unwrap();
    let versions = history.versions.iter();
    let versions = versions.map(|version| json!([version.record.version, version.record.content]));
    answers.insert("history".to_owned(), versions.collect());
    let list = ListRequest {
        scope: ScopeSelector::all(),
        order: Order::OldestFirst,
        ..ListRequest::default()
    };
    let listed = session.list(list).await.unwrap();
    let contents = listed.memories.iter();
    let contents = contents.map(|found| json!(found.record.content));
    answers.insert("listed".to_owned(), contents.collect());
    Json::Object(answers)
}

/// What a reader makes of a bucket.
pub async fn read(store: &Arc<InMemory>) -> Json {
    let db = database(store);
    let session = session(&db);
    let list = ListRequest {
        scope: ScopeSelector::all(),
        order: Order::OldestFirst,
        ..ListRequest::default()
    };
    let listed = session.list(list).await.unwrap();
    let memories: Vec<Json> = listed
        .memories
        .iter()
        .map(|found| json!(format!("{:?}", found.record)))
        .collect();
    let query = RecallRequest {
        query: Some("single".into()),
        scope: ScopeSelector::all(),
        ..RecallRequest::default()
    };
    let recalled = session.recall(query).await.unwrap();
    let scopes = session.scopes(ScopesRequest::default()).await.unwrap();
    let keys = db.list_keys(&"golden".parse().unwrap()).await.unwrap();
    json!({
        "position": listed.receipt.position,
        "memories": memories,
        "recalled": recalled.hits.iter().map(|hit| json!([hit.record.content, format!("{:.4}", hit.score)])).collect::<Vec<_>>(),
        "scopes": scopes.scopes.iter().map(|scope| format!("{scope:?}")).collect::<Vec<_>>(),
        "keys": keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>(),
    })
}
