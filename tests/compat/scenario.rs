//! What the golden bucket holds: each kind of row and each kind of field, written with
//! a fixed clock and counted ids, so that the bytes are the same on every machine.

use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use ostraca_memory::*;
use ostraca_object::port::simulated::{CountingIds, VirtualClock};
use serde_json::{Value as Json, json};

fn database(store: &Arc<InMemory>) -> Arc<Database> {
    let store: Arc<dyn object_store::ObjectStore> = Arc::<InMemory>::clone(store);
    let ports = Ports {
        store,
        clock: VirtualClock::new(),
        ids: Arc::new(CountingIds::default()),
        embedder: None,
        background: None,
    };
    Database::new(ports, Settings::default())
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
