//! MCP over lines: the same server for one local client, one JSON-RPC message a line.
//! The caller owns the streams; nothing here reads or writes them.

use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use ostraca_memory::{Caller, Session};
use rmcp::model::{ErrorData, ProtocolVersion};
use serde_json::Value;

use crate::app::{App, AuthMode};
use crate::mcp::dispatch::{View, dispatch};
use crate::mcp::envelope::{Call, Message, answer, read};
use crate::mcp::era::{Announced, judge};
use crate::mcp::selection::{Reachable, Selection};
use crate::mcp::server::MemoryServer;

/// One client on a lasting connection.
#[derive(Debug)]
pub struct Connection {
    server: MemoryServer,
    view: View,
    agreed: Mutex<Option<ProtocolVersion>>,
}

impl Connection {
    /// A connection that speaks for one caller. In the open mode no key is needed.
    ///
    /// # Errors
    /// `Unauthorized` when the key is missing or not valid.
    pub async fn open(app: &App, key: Option<&str>) -> ostraca_memory::Result<Self> {
        let caller = match (&app.auth, key) {
            (AuthMode::Open { tenant }, _) => Caller::unrestricted(tenant.clone()),
            (AuthMode::Keys, key) => app.database.authenticate(key.unwrap_or_default()).await?,
        };
        Ok(Self::of(app, app.database.session(caller)))
    }

    fn of(app: &App, session: Session) -> Self {
        let view = View {
            session: Arc::new(session),
            selection: Arc::new(Selection::default()),
        };
        Self {
            server: MemoryServer::new(&app.version),
            view,
            agreed: Mutex::new(None),
        }
    }

    /// The same connection without the tools that change anything.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        // Without headers no name can be unknown.
        if let Ok(selection) =
            Selection::of_request(Reachable::Reads, &HeaderMap::new(), self.server.tools())
        {
            self.view.selection = Arc::new(selection);
        }
        self
    }

    /// Answers one line; `None` where the protocol wants no answer. The answer has no
    /// line break in it. Several lines may be in work at once.
    pub async fn handle_line(&self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return None;
        }
        let mut call = match read(line.as_bytes()) {
            Ok(Message::Request(call)) => call,
            Ok(Message::Notification) => return None,
            Err(failure) => return Some(failure.message().to_string()),
        };
        let agreed = self
            .agreed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let era = match judge(&call, Announced::Handshake(agreed.as_ref())) {
            Ok(era) => era,
            Err(failure) => return Some(failure.message().to_string()),
        };
        let outcome = dispatch(&self.server, self.view.clone(), &era, &mut call).await;
        self.note_handshake(&call, &outcome);
        Some(answer(call.id, outcome).to_string())
    }

    fn note_handshake(&self, call: &Call, outcome: &Result<Value, ErrorData>) {
        if call.method != "initialize" {
            return;
        }
        let version = outcome
            .as_ref()
            .ok()
            .and_then(|result| result.get("protocolVersion")?.as_str());
        let agreed = ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .find(|known| Some(known.as_str()) == version);
        *self.agreed.lock().unwrap_or_else(PoisonError::into_inner) = agreed.cloned();
    }
}
