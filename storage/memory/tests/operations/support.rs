//! What the tests stand on, and short ways to say the usual things.

use std::sync::Arc;

use async_trait::async_trait;
use object_store::memory::InMemory;
use ostraca_memory::embed::{EmbedError, Embedder};
use ostraca_memory::*;
use ostraca_object::decorator::count::{CountStore, Keep};

pub use ostraca_object::port::simulated::{CountingIds, START_MS, VirtualClock};

/// Places texts by the words they share: enough for nearness to mean something.
#[derive(Debug, Default)]
pub struct WordEmbedder {
    pub fails_on: Option<&'static str>,
    pub hangs: bool,
    pub dimensions: usize,
}

#[async_trait]
impl Embedder for WordEmbedder {
    fn model(&self) -> &str {
        if self.dimensions == 64 {
            "words-64"
        } else {
            "words"
        }
    }

    fn window_bytes(&self) -> usize {
        1_000
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        if let Some(word) = self.fails_on
            && texts.iter().any(|text| text.contains(word))
        {
            return Err(EmbedError::Status(500));
        }
        let dimensions = if self.dimensions == 0 {
            256
        } else {
            self.dimensions
        };
        Ok(texts
            .iter()
            .map(|text| {
                let mut vector = vec![0.0; dimensions];
                for word in text
                    .to_lowercase()
                    .split(|c: char| !c.is_alphanumeric())
                    .filter(|word| !word.is_empty())
                {
                    let hash = word.bytes().fold(7_usize, |hash, byte| {
                        hash.wrapping_mul(31).wrapping_add(usize::from(byte))
                    });
                    vector[hash % dimensions] += 1.0;
                }
                vector
            })
            .collect())
    }
}

pub struct World {
    pub store: Arc<InMemory>,
    pub clock: Arc<VirtualClock>,
    pub ids: Arc<CountingIds>,
    pub settings: Settings,
}

impl World {
    pub fn new() -> Self {
        Self {
            store: Arc::new(InMemory::new()),
            clock: VirtualClock::new(),
            ids: Arc::default(),
            settings: Settings::default(),
        }
    }

    /// A world whose collections are searched in place however small they are.
    pub fn in_place() -> Self {
        Self {
            settings: Settings {
                whole_bytes: 0,
                ..Settings::default()
            },
            ..Self::new()
        }
    }

    /// A new process on the same store, and what it asks of it.
    pub fn counted_database(&self) -> (Arc<Database>, Arc<CountStore>) {
        let counted = Arc::new(CountStore::new(self.store.clone(), Keep::Counts));
        let ports = Ports {
            store: counted.clone(),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            embedder: None,
            background: None,
        };
        (Database::new(ports, self.settings.clone()), counted)
    }

    /// A new process on the same store.
    pub fn database(&self) -> Arc<Database> {
        self.database_with(None)
    }

    /// A new process on a store of the caller's own.
    pub fn database_on(&self, store: Arc<dyn object_store::ObjectStore>) -> Arc<Database> {
        let ports = Ports {
            store,
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            embedder: None,
            background: None,
        };
        Database::new(ports, self.settings.clone())
    }

    pub fn database_with(&self, embedder: Option<WordEmbedder>) -> Arc<Database> {
        let embedder = embedder.map(|embedder| -> Arc<dyn Embedder> { Arc::new(embedder) });
        let store: Arc<dyn object_store::ObjectStore> = self.store.clone();
        Database::new(
            Ports {
                store,
                clock: self.clock.clone(),
                ids: self.ids.clone(),
                embedder,
                background: None,
            },
            self.settings.clone(),
        )
    }
}

pub fn tenant(name: &str) -> TenantId {
    name.parse().unwrap()
}

pub fn acme(db: &Arc<Database>) -> Session {
    db.session(Caller::unrestricted(tenant("acme")))
}

pub fn note(content: &str) -> NewMemory {
    NewMemory {
        content: content.to_owned(),
        ..NewMemory::default()
    }
}

pub fn keyed(key: &str, content: &str) -> NewMemory {
    NewMemory {
        key: Some(key.to_owned()),
        ..note(content)
    }
}

pub fn scope(path: &str) -> ScopePath {
    ScopePath::parse(path).unwrap()
}

pub async fn remember(session: &Session, item: NewMemory) -> Remembered {
    try_remember(session, item).await.unwrap()
}

pub async fn try_remember(session: &Session, item: NewMemory) -> Result<Remembered> {
    let reply = session
        .remember(RememberRequest {
            items: vec![item],
            idempotency_key: None,
        })
        .await?;
    reply.items.into_iter().next().unwrap()
}

pub fn query(text: &str) -> RecallRequest {
    RecallRequest {
        query: Some(text.to_owned()),
        ..RecallRequest::default()
    }
}

pub async fn recall(session: &Session, text: &str) -> Vec<String> {
    contents(&session.recall(query(text)).await.unwrap())
}

pub fn contents(reply: &RecallReply) -> Vec<String> {
    reply
        .hits
        .iter()
        .map(|hit| hit.record.content.clone())
        .collect()
}

pub async fn list_all(session: &Session) -> Vec<String> {
    let request = ListRequest {
        scope: ScopeSelector::all(),
        limit: Some(500),
        order: Order::OldestFirst,
        ..ListRequest::default()
    };
    session
        .list(request)
        .await
        .unwrap()
        .memories
        .iter()
        .map(|found| found.record.content.clone())
        .collect()
}

pub fn by_id(id: &str) -> Reference {
    Reference::Id(id.to_owned())
}

pub fn by_key(key: &str) -> Reference {
    Reference::Key {
        scope: ScopePath::root(),
        key: key.to_owned(),
    }
}

pub async fn get(session: &Session, reference: Reference) -> Option<Arc<Record>> {
    let reply = session
        .get(GetRequest {
            references: vec![reference],
            ..GetRequest::default()
        })
        .await
        .unwrap();
    reply.memories.into_iter().next().map(|found| found.record)
}
