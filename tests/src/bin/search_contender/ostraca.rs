//! What the benchmark asks, through the operations that every surface uses.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use ostraca_memory::{
    Caller, CollectionId, CollectionKey, Database, Effort, Filter, ForgetRequest, Freshness, Mode,
    NewMemory, Ports, Reach, RecallRequest, Reference, RememberRequest, ScopePath, ScopeSelector,
    SearchEffort, Session, Settings, TenantId,
};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::s3::{S3Settings, Transport, open};
use serde_json::{Map, Value, json};

use crate::Arguments;
use crate::data::{Rows, Text, texts};

const DIMENSION: usize = 384;
/// Memories in one commit.
const BATCH: usize = 500;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) struct Ostraca {
    database: Arc<Database>,
    session: Session,
    collection: CollectionKey,
    data: PathBuf,
    name: String,
}

impl Ostraca {
    pub(crate) fn new(arguments: &Arguments) -> Result<Self> {
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(OsIds));
        let settings = S3Settings {
            bucket: arguments.bucket.clone(),
            endpoint: Some(arguments.endpoint.clone()),
            region: "us-east-1".to_owned(),
            access_key_id: Some("test".to_owned()),
            secret_access_key: Some("testsecret".to_owned()),
            transport: Transport::PlainAllowed,
            ..S3Settings::default()
        };
        let store = open(&settings, Arc::clone(&clock) as _, Arc::clone(&ids) as _)?;
        let ports = Ports {
            store,
            clock,
            ids,
            embedder: None,
            background: None,
        };
        let database = Database::new(ports, Settings::default());
        let tenant: TenantId = "bench".parse()?;
        let session = database.session(Caller::unrestricted(tenant.clone()));
        Ok(Self {
            database,
            session,
            collection: CollectionKey::new(tenant, CollectionId::memory()),
            data: arguments.data.clone(),
            name: format!("{}k", arguments.count / 1000),
        })
    }

    pub(crate) fn settings() -> Value {
        json!([{ "effort": 1 }, { "effort": 2 }, { "effort": 8 }])
    }

    pub(crate) async fn answer(&self, asked: &Value) -> Result<Value> {
        match asked["op"].as_str() {
            Some("build") => self.build().await,
            Some("query") => self.query(asked).await,
            Some("change") => self.change().await,
            Some("compact") => self.compact().await,
            other => Err(format!("unknown: {other:?}").into()),
        }
    }

    async fn build(&self) -> Result<Value> {
        let began = Instant::now();
        let texts = texts(&self.data.join(format!("texts-{}.jsonl", self.name)))?;
        let rows = texts.len();
        self.store(texts, &format!("texts-{}-minilm.npy", self.name))
            .await?;
        let load = began.elapsed().as_millis();
        self.fold().await?;
        let index = began.elapsed().as_millis() - load;
        Ok(json!({ "ms": { "load": load, "compact": index }, "rows": rows }))
    }

    async fn change(&self) -> Result<Value> {
        let began = Instant::now();
        let updates = texts(&self.data.join(format!("updates-{}.jsonl", self.name)))?;
        let rows = updates.len();
        self.store(updates, &format!("updates-{}-minilm.npy", self.name))
            .await?;
        let scopes: BTreeMap<String, String> =
            texts(&self.data.join(format!("texts-{}.jsonl", self.name)))?
                .into_iter()
                .map(|text| (text.id, text.scope))
                .collect();
        let deletes = std::fs::read(self.data.join(format!("deletes-{}.json", self.name)))?;
        let deletes: Vec<String> = serde_json::from_slice(&deletes)?;
        for batch in deletes.chunks(BATCH) {
            let references = batch.iter().map(|id| {
                Ok(Reference::Key {
                    scope: ScopePath::parse(scopes.get(id).map_or("", String::as_str))?,
                    key: id.clone(),
                })
            });
            let references = references.collect::<Result<Vec<_>>>()?;
            self.session.forget(ForgetRequest::soft(references)).await?;
        }
        Ok(json!({ "ms": { "change": began.elapsed().as_millis() }, "rows": rows + deletes.len() }))
    }

    async fn compact(&self) -> Result<Value> {
        let began = Instant::now();
        self.fold().await?;
        Ok(json!({ "ms": { "compact": began.elapsed().as_millis() }, "rows": 0 }))
    }

    async fn fold(&self) -> Result<()> {
        self.database
            .compact(&self.collection, Effort::Major)
            .await?;
        self.database.clean_up(&self.collection).await?;
        Ok(())
    }

    async fn store(&self, texts: Vec<Text>, vectors: &str) -> Result<()> {
        let mut vectors = Rows::open(&self.data.join(vectors), DIMENSION)?;
        let mut items = Vec::new();
        for text in texts {
            let mut metadata = Map::new();
            metadata.insert("permille".to_owned(), json!(text.permille));
            items.push(NewMemory {
                content: text.text,
                scope: ScopePath::parse(&text.scope)?,
                key: Some(text.id),
                metadata,
                vector: Some(vectors.next()?),
                ..NewMemory::default()
            });
            if items.len() == BATCH {
                self.remember(std::mem::take(&mut items)).await?;
            }
        }
        if !items.is_empty() {
            self.remember(items).await?;
        }
        Ok(())
    }

    async fn remember(&self, items: Vec<NewMemory>) -> Result<()> {
        let reply = self
            .session
            .remember(RememberRequest {
                items,
                idempotency_key: None,
            })
            .await?;
        for item in reply.items {
            item?;
        }
        Ok(())
    }

    async fn query(&self, asked: &Value) -> Result<Value> {
        let mode = match asked["mode"].as_str() {
            Some("vector") => Mode::Semantic,
            Some("keyword") => Mode::Keyword,
            _ => Mode::Hybrid,
        };
        let vector = match &asked["vector"] {
            Value::Null => None,
            values => Some(serde_json::from_value(values.clone())?),
        };
        let mut scope = ScopeSelector::all();
        let mut filter = None;
        if let Some(path) = asked["filter"]["scope"].as_str() {
            scope = ScopeSelector {
                path: ScopePath::parse(path)?,
                reach: Reach::Exact,
            };
        }
        if let Some(below) = asked["filter"]["permille_below"].as_i64() {
            let json = json!({ "op": "lt", "field": "permille", "value": below });
            filter = Some(Filter::parse(&json)?);
        }
        let request = RecallRequest {
            query: asked["text"]
                .as_str()
                .map(str::to_owned)
                .filter(|_| mode != Mode::Semantic),
            vector: vector.filter(|_| mode != Mode::Keyword),
            mode: Some(mode),
            scope,
            filter,
            limit: asked["limit"]
                .as_u64()
                .and_then(|limit| u32::try_from(limit).ok()),
            freshness: match asked["consistency"].as_str() {
                Some("any") => Freshness::Bounded(u64::MAX),
                _ => Freshness::Strong,
            },
            effort: match asked["setting"].as_u64() {
                Some(0) => SearchEffort::Fast,
                Some(2) => SearchEffort::Thorough,
                _ => SearchEffort::Balanced,
            },
            ..RecallRequest::default()
        };
        let reply = self.session.recall(request).await?;
        let hits: Vec<Value> = reply
            .hits
            .iter()
            .map(|hit| json!({ "id": hit.record.key, "text": hit.record.content }))
            .collect();
        Ok(json!({ "hits": hits, "receipt": {
            "steps": reply.receipt.steps,
            "gets": reply.receipt.gets,
            "bytes": reply.receipt.bytes_read,
        }}))
    }
}
