//! A service over a bucket in memory, and requests to it without a socket. Shared by
//! the tests of this crate; it asserts nothing itself.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each test file uses a part of it"
)]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use object_store::memory::InMemory;
use ostraca_memory::{Database, NewKey, Permission, Ports, Settings, TenantId};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_service::{App, AuthMode, Exposure, ServiceSettings, router};
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub const MODERN: &str = "2026-07-28";

pub fn database() -> Arc<Database> {
    let ports = Ports {
        store: Arc::new(InMemory::new()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(OsIds),
        embedder: None,
        background: None,
    };
    Database::new(ports, Settings::default())
}

pub fn tenant() -> TenantId {
    "acme".parse().unwrap()
}

pub fn app(database: &Arc<Database>, auth: AuthMode) -> App {
    App {
        database: Arc::clone(database),
        auth,
        public_url: None,
        version: "0.0.0-test".to_owned(),
        settings: ServiceSettings::default(),
    }
}

pub fn public(database: &Arc<Database>, auth: AuthMode) -> App {
    let mut app = app(database, auth);
    app.settings.exposure = Exposure::Public {
        hosts: Vec::new(),
        origins: Vec::new(),
    };
    app
}

/// A local service without keys.
pub fn open() -> Router {
    router(app(&database(), AuthMode::Open { tenant: tenant() }))
}

/// A key of a new tenant, and the service that knows it.
pub async fn keyed(permissions: &[Permission]) -> (Router, String) {
    let database = database();
    let key = key(&database, "acme", permissions).await;
    (router(public(&database, AuthMode::Keys)), key)
}

pub async fn key(database: &Arc<Database>, tenant: &str, permissions: &[Permission]) -> String {
    let tenant: TenantId = tenant.parse().unwrap();
    if let Err(error) = database.create_tenant(&tenant).await {
        assert_eq!(error.kind(), ostraca_memory::ErrorKind::Conflict, "{error}");
    }
    let key = NewKey {
        tenant,
        name: "test".to_owned(),
        permissions: permissions.iter().copied().collect(),
        expires: None,
    };
    database.create_key(key).await.unwrap().secret
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {:?}", self.text))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .unwrap_or_else(|| panic!("no header {name}"))
            .to_str()
            .unwrap()
    }

    /// Status and JSON-RPC error code, 0 for none.
    pub fn outcome(&self) -> (u16, i64) {
        let code = if self.text.is_empty() {
            0
        } else {
            self.json()["error"]["code"].as_i64().unwrap_or(0)
        };
        (self.status.as_u16(), code)
    }

    /// The result of a tool call.
    pub fn result(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        let result = self.json()["result"].clone();
        assert!(result.is_object(), "{}", self.text);
        result
    }
}

/// A request in the making. It starts as a well-formed one to a loopback server.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: Method,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Ask {
    pub fn new(method: Method, path: &str) -> Self {
        Self {
            method,
            path: path.to_owned(),
            headers: vec![("host".to_owned(), "localhost:7700".to_owned())],
            body: Vec::new(),
        }
    }

    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut ask = Self::new(Method::POST, path).with("content-type", "application/json");
        ask.body = body.into();
        ask
    }

    /// A request of the handshake revisions.
    pub fn legacy(method: &str, params: &Value) -> Self {
        Self::post(
            "/mcp",
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string(),
        )
        .with("mcp-protocol-version", "2025-11-25")
    }

    /// A self-contained request, with every header it needs.
    pub fn modern(method: &str, params: Value) -> Self {
        let mut params = params;
        let name = params
            .get("name")
            .or_else(|| params.get("uri"))
            .and_then(Value::as_str)
            .map(str::to_owned);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut ask = Self::post(
            "/mcp",
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string(),
        )
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", method);
        if let Some(name) = name {
            ask = ask.with("mcp-name", &name);
        }
        ask
    }

    pub fn tool(name: &str, arguments: Value) -> Self {
        Self::modern("tools/call", json!({"name": name, "arguments": arguments}))
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub fn at(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.with("authorization", &format!("Bearer {token}"))
    }

    pub async fn send(self, router: &Router) -> Reply {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let response: Response = router
            .clone()
            .oneshot(request.body(Body::from(self.body)).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Reply {
            status: parts.status,
            headers: parts.headers,
            text,
        }
    }
}
