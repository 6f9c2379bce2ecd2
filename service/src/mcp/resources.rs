//! Memory as resources, for clients that attach context rather than call tools: the
//! newest memories, the scopes, and each memory by its id. They answer the same JSON
//! as the tools and are never cached, since any call may change them.

use ostraca_memory::{
    Error, ErrorKind, GetRequest, ListRequest, Reference, ScopeSelector, ScopesRequest, Session,
};
use rmcp::model::{
    CacheScope, ErrorCode, ErrorData, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde::Serialize;
use serde_json::json;

use crate::error::{ErrorBody, INTERNAL_ERROR, log, present};
use crate::mcp::bounded::fewer;
use crate::wire::{GetReply, ListReply, ScopesReply};

const RECENT: &str = "memory://recent";
const SCOPES: &str = "memory://scopes";
const ITEM: &str = "memory://item/";
const JSON: &str = "application/json";
/// How many memories `memory://recent` shows.
const RECENT_ITEMS: u32 = 20;
/// How many scopes `memory://scopes` shows.
const SCOPES_ITEMS: u32 = 100;

/// The resources with a fixed address.
pub(crate) fn list() -> Vec<Resource> {
    vec![
        Resource::new(RECENT, "recent")
            .with_title("Recent memories")
            .with_description("The memories written last, in all scopes, newest first.")
            .with_mime_type(JSON),
        Resource::new(SCOPES, "scopes")
            .with_title("Scopes")
            .with_description("The scopes that hold memories, with counts and what belongs there.")
            .with_mime_type(JSON),
    ]
}

/// The resources with an address to fill in.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("memory://item/{id}", "item")
            .with_title("One memory")
            .with_description("The memory with this id; a long text is cut and says so.")
            .with_mime_type(JSON),
    ]
}

/// Reads one resource.
pub(crate) async fn read(session: &Session, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let failed = |error| failure(&error, uri);
    let text = match uri {
        RECENT => recent(session).await.map_err(failed),
        SCOPES => scopes(session).await.map_err(failed),
        _ => {
            let id = uri
                .strip_prefix(ITEM)
                .filter(|id| !id.is_empty())
                .ok_or_else(|| not_found(uri))?;
            let request = GetRequest {
                references: vec![Reference::Id(id.to_owned())],
                ..GetRequest::default()
            };
            let mut reply = GetReply::from(session.get(request).await.map_err(failed)?);
            text(&reply.memories.pop().ok_or_else(|| not_found(uri))?).map_err(failed)
        }
    }?;
    Ok(
        ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)])
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private),
    )
}

/// The newest memories, as many as one answer holds.
async fn recent(session: &Session) -> Result<String, Error> {
    let mut limit = RECENT_ITEMS;
    loop {
        let request = ListRequest {
            scope: ScopeSelector::all(),
            limit: Some(limit),
            ..ListRequest::default()
        };
        let reply = ListReply::from(session.list(request).await?);
        let text = text(&reply)?;
        match fewer(reply.memories.len(), text.len()) {
            Some(next) => limit = next,
            None => return Ok(text),
        }
    }
}

/// The scopes, as many as one answer holds.
async fn scopes(session: &Session) -> Result<String, Error> {
    let mut limit = SCOPES_ITEMS;
    loop {
        let request = ScopesRequest {
            limit: Some(limit),
            ..ScopesRequest::default()
        };
        let reply = ScopesReply::from(session.scopes(request).await?);
        let text = text(&reply)?;
        match fewer(reply.scopes.len(), text.len()) {
            Some(next) => limit = next,
            None => return Ok(text),
        }
    }
}

fn text(reply: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(reply).map_err(|error| {
        Error::new(ErrorKind::Internal, "the resource could not be written").with_source(error)
    })
}

fn not_found(uri: &str) -> ErrorData {
    ErrorData::invalid_params("resource not found", Some(json!({"uri": uri})))
}

/// A failed operation as an error of the protocol.
fn failure(error: &Error, uri: &str) -> ErrorData {
    log(error);
    let code = ErrorCode(present(error.kind()).rpc_code);
    let mut data = json!(ErrorBody::from(error).error);
    if code.0 != INTERNAL_ERROR
        && let Some(data) = data.as_object_mut()
    {
        data.insert("uri".to_owned(), json!(uri));
    }
    ErrorData::new(code, error.to_string(), Some(data))
}
