//! Memory as resources, for clients that attach context rather than call tools: the
//! newest memories, the scopes, and each memory by its id. They answer the same JSON
//! as the tools and are never cached, since any call may change them.

use ostraca_memory::{GetRequest, ListRequest, Reference, ScopeSelector, ScopesRequest, Session};
use rmcp::model::{CacheScope, ErrorCode, ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde::Serialize;
use serde_json::json;

use crate::error::{ErrorBody, INTERNAL_ERROR, log, present};
use crate::wire::{GetReply, ListReply, ScopesReply};

const RECENT: &str = "memory://recent";
const SCOPES: &str = "memory://scopes";
const ITEM: &str = "memory://item/";
const JSON: &str = "application/json";
/// How many memories `memory://recent` shows.
const RECENT_ITEMS: u32 = 20;

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
        RECENT => {
            let request = ListRequest { scope: ScopeSelector::all(), limit: Some(RECENT_ITEMS), ..ListRequest::default() };
            text(&ListReply::from(session.list(request).await.map_err(failed)?))
        }
        SCOPES => text(&ScopesReply::from(session.scopes(ScopesRequest::default()).await.map_err(failed)?)),
        _ => {
            let id = uri.strip_prefix(ITEM).filter(|id| !id.is_empty()).ok_or_else(|| not_found(uri))?;
            let request = GetRequest { references: vec![Reference::Id(id.to_owned())], ..GetRequest::default() };
            let mut reply = GetReply::from(session.get(request).await.map_err(failed)?);
            text(&reply.memories.pop().ok_or_else(|| not_found(uri))?)
        }
    }?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)])
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private))
}

fn text(reply: &impl Serialize) -> Result<String, ErrorData> {
    serde_json::to_string(reply).map_err(|error| {
        tracing::error!("resource is not JSON: {error}");
        ErrorData::internal_error("the resource could not be written", None)
    })
}

fn not_found(uri: &str) -> ErrorData {
    ErrorData::invalid_params("resource not found", Some(json!({"uri": uri})))
}

/// A failed operation as an error of the protocol.
pub(crate) fn failure(error: &ostraca_memory::Error, uri: &str) -> ErrorData {
    log(error);
    let code = ErrorCode(present(error.kind()).rpc_code);
    let mut data = json!(ErrorBody::from(error).error);
    if code.0 != INTERNAL_ERROR && let Some(data) = data.as_object_mut() {
        data.insert("uri".to_owned(), json!(uri));
    }
    ErrorData::new(code, error.to_string(), Some(data))
}
