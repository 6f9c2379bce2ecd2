//! Processes on one store that fails, and calls that are repeated until they are
//! acknowledged, as a client with an idempotency key does.

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use ostraca_memory::*;
use ostraca_object::decorator::fault::{Fault, FaultStore, Rule};
use ostraca_object::error::Operation;
use ostraca_object::port::simulated::{CountingIds, VirtualClock};

pub struct World {
    store: Arc<InMemory>,
    failing: Arc<FaultStore>,
    clock: Arc<VirtualClock>,
    ids: Arc<CountingIds>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        use Operation::{Create, Get, List};
        let store = Arc::new(InMemory::new());
        let clock = VirtualClock::new();
        let rules = vec![
            Rule::new(Fault::LostAnswer, &[Create], 60),
            Rule::new(Fault::ErrorBefore, &[Create], 40),
            Rule::new(Fault::EmptyConflict, &[Create], 30),
            Rule::new(Fault::Duplicate { after_ms: 700 }, &[Create], 60),
            Rule::new(Fault::LateDelivery { after_ms: 400 }, &[Create], 40),
            Rule::new(Fault::ErrorBefore, &[Get, List], 20),
            Rule::new(
                Fault::Delay {
                    from_ms: 1,
                    to_ms: 90,
                },
                &[Create, Get, List],
                500,
            ),
            Rule::new(
                Fault::SlowAnswer {
                    from_ms: 1,
                    to_ms: 90,
                },
                &[Create, Get, List],
                300,
            ),
        ];
        let inner: Arc<dyn ObjectStore> = store.clone();
        let failing = Arc::new(FaultStore::new(inner, clock.clone(), seed, rules));
        Self {
            store,
            failing,
            clock,
            ids: Arc::default(),
        }
    }

    pub fn process(&self, tenant: &str) -> Process {
        self.start(self.failing.clone(), tenant)
    }

    /// A process on storage that works.
    pub fn calm_process(&self, tenant: &str) -> Process {
        self.start(self.store.clone(), tenant)
    }

    fn start(&self, store: Arc<dyn ObjectStore>, tenant: &str) -> Process {
        let ports = Ports {
            store,
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            embedder: None,
            background: None,
        };
        let db = Database::new(ports, Settings::default());
        let session = db.session(Caller::unrestricted(tenant.parse().unwrap()));
        Process {
            session,
            clock: self.clock.clone(),
        }
    }

    /// Lets everything that is still on its way arrive.
    pub async fn settle(&self) {
        self.clock.sleep(Duration::from_secs(60)).await;
    }
}

pub struct Process {
    pub session: Session,
    clock: Arc<VirtualClock>,
}

impl Process {
    /// Repeats a call until it is not for want of storage that it fails.
    async fn until<T, F: Future<Output = Result<T>>>(&self, call: impl Fn() -> F) -> T {
        for _ in 0..200 {
            match call().await {
                Ok(value) => return value,
                Err(error) => match error.kind() {
                    ErrorKind::Unavailable { retry_after } => self.clock.sleep(retry_after).await,
                    other => panic!("{other:?}: {error}"),
                },
            }
        }
        panic!("storage never came back");
    }

    pub async fn remember(&self, contents: &[String], name: &str) -> Vec<String> {
        let items = || {
            contents
                .iter()
                .map(|content| NewMemory {
                    content: content.clone(),
                    ..NewMemory::default()
                })
                .collect()
        };
        let reply = self
            .until(|| {
                self.session.remember(RememberRequest {
                    items: items(),
                    idempotency_key: Some(name.to_owned()),
                })
            })
            .await;
        reply
            .items
            .into_iter()
            .map(|item| item.unwrap().id)
            .collect()
    }

    pub async fn update(&self, id: &str, content: &str, name: &str) {
        let request = || UpdateRequest {
            content: Some(content.to_owned()),
            idempotency_key: Some(name.to_owned()),
            ..UpdateRequest::new(Reference::Id(id.to_owned()))
        };
        let changed = self.until(|| self.session.update(request())).await;
        assert_eq!(changed.outcome, Outcome::Updated);
    }

    pub async fn forget(&self, id: &str, mode: ForgetMode, name: &str) {
        let request = || ForgetRequest {
            mode,
            idempotency_key: Some(name.to_owned()),
            ..ForgetRequest::soft(vec![Reference::Id(id.to_owned())])
        };
        let reply = self.until(|| self.session.forget(request())).await;
        assert_ne!(reply.items[0].outcome, ForgetOutcome::Missing);
    }

    pub async fn content(&self, id: &str) -> Option<String> {
        let request = || GetRequest {
            references: vec![Reference::Id(id.to_owned())],
            ..GetRequest::default()
        };
        let reply = self.until(|| self.session.get(request())).await;
        reply
            .memories
            .first()
            .map(|found| found.record.content.clone())
    }

    pub async fn listed(&self) -> Vec<String> {
        let request = || ListRequest {
            scope: ScopeSelector::all(),
            limit: Some(500),
            ..ListRequest::default()
        };
        let reply = self.until(|| self.session.list(request())).await;
        assert!(reply.next_cursor.is_none());
        reply
            .memories
            .iter()
            .map(|found| found.record.content.clone())
            .collect()
    }

    pub async fn recalled(&self, query: &str, position: Option<u64>) -> Vec<String> {
        let request = || RecallRequest {
            query: Some(query.to_owned()),
            as_of: position.map(AsOf::Position),
            limit: Some(100),
            ..RecallRequest::default()
        };
        let reply = self.until(|| self.session.recall(request())).await;
        reply
            .hits
            .iter()
            .map(|hit| hit.record.content.clone())
            .collect()
    }

    pub async fn exported(&self) -> Vec<String> {
        let request = || ExportRequest {
            scope: ScopeSelector::all(),
            limit: None,
            cursor: None,
        };
        let reply = self.until(|| self.session.export(request())).await;
        reply
            .records
            .iter()
            .map(|record| record.content.clone())
            .collect()
    }

    pub async fn position(&self) -> u64 {
        self.until(|| self.session.list(ListRequest::default()))
            .await
            .receipt
            .position
    }
}
