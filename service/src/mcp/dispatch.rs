//! One request in, one result out, with no transport: the seam between what carries
//! messages (HTTP, stdio) and what answers them. rmcp shapes the result for the
//! revision that the client speaks.

use std::sync::Arc;

use ostraca_memory::Session;
use rmcp::model::{ErrorCode, ErrorData, MetaObject, NumberOrString, RequestMetaObject};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, Service};
use serde_json::{Map, Value, json};

use crate::mcp::envelope::Call;
use crate::mcp::era::Era;
use crate::mcp::request;
use crate::mcp::selection::Selection;
use crate::mcp::server::MemoryServer;

const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Who asks, and what it may see. It travels in rmcp's request extensions.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The caller's session.
    pub(crate) session: Arc<Session>,
    /// The tools it may see.
    pub(crate) selection: Arc<Selection>,
}

/// Answers one request. It takes the params, which may be large, out of the call.
pub(crate) async fn dispatch(
    server: &MemoryServer,
    view: View,
    era: &Era,
    call: &mut Call,
) -> Result<Value, ErrorData> {
    let modern = matches!(era, Era::Modern(_));
    if modern && call.method == "initialize" {
        let message = "method not found: initialize is not part of 2026-07-28; without _meta it opens an older revision";
        return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
    }
    let context = context(server, view, era, call)?;
    let request = request::typed(&call.method, std::mem::take(&mut call.params))?;
    let result = Service::<RoleServer>::handle_request(server, request, context).await?;
    let mut result = serde_json::to_value(&result).map_err(|error| {
        tracing::error!(method = call.method, "result is not JSON: {error}");
        ErrorData::internal_error("the result could not be written", None)
    })?;
    if modern && let Some(result) = result.as_object_mut() {
        let meta = result
            .entry("_meta")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(META_SERVER.to_owned(), json!(server.identity()));
        }
    }
    Ok(result)
}

fn context(
    server: &MemoryServer,
    view: View,
    era: &Era,
    call: &Call,
) -> Result<RequestContext<RoleServer>, ErrorData> {
    let peer = server
        .peer()
        .ok_or_else(|| ErrorData::internal_error("the server could not be set up", None))?;
    // The answer carries the id as it was sent; rmcp's own would not hold every integer.
    let mut context = RequestContext::new(NumberOrString::Number(0), peer);
    if let Some(Value::Object(meta)) = call.params.get("_meta") {
        context.meta = RequestMetaObject(MetaObject(meta.clone()));
    }
    // A legacy request says nothing about its revision, and rmcp looks here first.
    if call.method != "initialize" && context.meta.protocol_version().is_none() {
        context.meta.set_protocol_version(era.version());
    }
    context.extensions.insert(view);
    Ok(context)
}
