//! From a method and its params to rmcp's typed request. rmcp's own union is untagged,
//! so a known method with bad params would come out as an unknown one; matching on the
//! method first keeps "bad params" and "no such method" apart.

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientRequest, CompleteRequestParams,
    DiscoverRequestParams, ErrorCode, ErrorData, GetPromptRequestParams, Implementation,
    InitializeRequestParams, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    Request, RequestNoParam, RequestOptionalParam,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The typed request of a method with its params.
pub(crate) fn typed(method: &str, params: Map<String, Value>) -> Result<ClientRequest, ErrorData> {
    Ok(match method {
        "initialize" => ClientRequest::InitializeRequest(Request::new(initialize(&params))),
        "server/discover" => {
            ClientRequest::DiscoverRequest(Request::new(DiscoverRequestParams::default()))
        }
        "ping" => ClientRequest::PingRequest(RequestNoParam::default()),
        "tools/list" => ClientRequest::ListToolsRequest(paginated(params)?),
        "tools/call" => {
            ClientRequest::CallToolRequest(Request::new(read::<CallToolRequestParams>(params)?))
        }
        "resources/list" => ClientRequest::ListResourcesRequest(paginated(params)?),
        "resources/templates/list" => {
            ClientRequest::ListResourceTemplatesRequest(paginated(params)?)
        }
        "resources/read" => ClientRequest::ReadResourceRequest(Request::new(read::<
            ReadResourceRequestParams,
        >(params)?)),
        "prompts/list" => ClientRequest::ListPromptsRequest(paginated(params)?),
        "prompts/get" => {
            ClientRequest::GetPromptRequest(Request::new(read::<GetPromptRequestParams>(params)?))
        }
        "completion/complete" => {
            ClientRequest::CompleteRequest(Request::new(read::<CompleteRequestParams>(params)?))
        }
        _ => {
            return Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("method not found: {method}"),
                None,
            ));
        }
    })
}

/// Only the version matters: nothing here depends on who the client says it is, and a
/// client that leaves its name out is served like any other.
fn initialize(params: &Map<String, Value>) -> InitializeRequestParams {
    let unnamed = Implementation::new("unnamed", "0");
    let requested = params
        .get("protocolVersion")
        .and_then(Value::as_str)
        .and_then(|requested| {
            ProtocolVersion::KNOWN_VERSIONS
                .iter()
                .find(|known| known.as_str() == requested)
        })
        .cloned()
        .unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE);
    InitializeRequestParams::new(ClientCapabilities::default(), unnamed)
        .with_protocol_version(requested)
}

fn paginated<M: Default>(
    params: Map<String, Value>,
) -> Result<RequestOptionalParam<M, PaginatedRequestParams>, ErrorData> {
    Ok(RequestOptionalParam::with_param(read(params)?))
}

fn read<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T, ErrorData> {
    serde_json::from_value(Value::Object(params))
        .map_err(|error| ErrorData::invalid_params(format!("invalid params: {error}"), None))
}
