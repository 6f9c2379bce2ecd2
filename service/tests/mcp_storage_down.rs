//! What a client sees while storage does not answer, and that it ends when storage
//! is back.

#![allow(
    clippy::clone_on_ref_ptr,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test may fail where it stands"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use object_store::memory::InMemory;
use ostraca_memory::{Clock, Database, Permission, Ports, Settings, Timestamp};
use ostraca_object::decorator::fault::{Fault, FaultStore, Rule};
use ostraca_object::error::Operation;
use ostraca_object::port::native::OsIds;
use ostraca_service::{AuthMode, router};
use serde_json::{Value, json};

use support::{Ask, key, public, tenant};

/// Time that passes only where somebody waits.
#[derive(Debug)]
struct JumpingClock(AtomicI64);

#[async_trait]
impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap();
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

struct Bucket {
    store: Arc<FaultStore>,
    clock: Arc<JumpingClock>,
}

impl Bucket {
    fn new() -> Self {
        let clock = Arc::new(JumpingClock(AtomicI64::new(1_800_000_000_000)));
        let store = FaultStore::new(Arc::new(InMemory::new()), clock.clone(), 1, Vec::new());
        Self {
            store: Arc::new(store),
            clock,
        }
    }

    /// A process that has read nothing yet.
    fn database(&self) -> Arc<Database> {
        let ports = Ports {
            store: self.store.clone(),
            clock: self.clock.clone(),
            ids: Arc::new(OsIds),
            embedder: None,
            background: None,
        };
        Database::new(ports, Settings::default())
    }

    fn fail(&self) {
        let all = [
            Operation::Get,
            Operation::Range,
            Operation::List,
            Operation::Create,
            Operation::Put,
        ];
        self.store
            .set_rules(vec![Rule::new(Fault::ErrorBefore, &all, 1000)]);
    }

    fn heal(&self) {
        self.store.set_rules(Vec::new());
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_looked_up_is_not_called_wrong() {
    let bucket = Bucket::new();
    let key = key(&bucket.database(), "acme", &[Permission::Read]).await;
    let router = router(public(&bucket.database(), AuthMode::Keys));
    bucket.fail();
    let list = || Ask::modern("tools/list", json!({})).bearer(&key);
    let reply = list().send(&router).await;
    assert_eq!(reply.status, 503, "{}", reply.text);
    assert!(reply.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert!(!reply.headers.contains_key("www-authenticate"));
    assert_eq!(reply.json()["error"]["code"], "unavailable");
    bucket.heal();
    assert_eq!(list().send(&router).await.status, 200);
}

#[tokio::test]
async fn tools_say_that_it_may_work_later() {
    let bucket = Bucket::new();
    let router = router(public(
        &bucket.database(),
        AuthMode::Open { tenant: tenant() },
    ));
    bucket.fail();
    for (name, arguments) in [
        ("remember", json!({"content": "x"})),
        ("recall", json!({"query": "x"})),
        ("list", json!({})),
    ] {
        let result = Ask::tool(name, arguments).send(&router).await.result();
        assert_eq!(result["isError"], true, "{name}");
        let body: Value =
            serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
        assert_eq!(body["error"]["code"], "unavailable", "{name}: {body}");
        assert!(
            body["error"]["retry_after_seconds"].as_u64().unwrap() >= 1,
            "{name}: {body}"
        );
    }
    let reply = Ask::modern("resources/read", json!({"uri": "memory://recent"}))
        .send(&router)
        .await;
    assert_eq!(reply.outcome(), (200, -32603));
    assert_eq!(reply.json()["error"]["data"]["code"], "unavailable");
    // What needs no storage goes on.
    assert_eq!(
        Ask::modern("server/discover", json!({}))
            .send(&router)
            .await
            .status,
        200
    );

    bucket.heal();
    let stored = Ask::tool("remember", json!({"content": "x"}))
        .send(&router)
        .await
        .result();
    assert_eq!(stored["structuredContent"]["failed"], 0, "{stored}");
    let listed = Ask::tool("list", json!({})).send(&router).await.result();
    assert_eq!(listed["structuredContent"]["total"], 1);
}
