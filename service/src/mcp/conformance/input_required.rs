//! The suite's tools that ask the client for input and are called again with it. They
//! keep nothing between the calls; the state goes through the client.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    ErrorData, InputRequiredResult, InputResponses,
};
use serde_json::{Map, Value, json};

use super::typed;

pub(super) const TOOLS: [&str; 8] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

const FIRST: &str = "round-1";
const SECOND: &str = "round-2";

/// One step of a tool.
pub(super) fn call(
    name: &str,
    request: &CallToolRequestParams,
    client: &ClientCapabilities,
) -> Result<CallToolResponse, ErrorData> {
    let state = request.request_state.as_deref();
    let (inputs, next_state) = match name {
        "test_input_required_result_sampling" => (
            json!({"capital_question": sampling("What is the capital of France?")}),
            None,
        ),
        "test_input_required_result_list_roots" => (json!({"client_roots": roots()}), None),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => (
            json!({"confirm": elicitation("Please confirm", "ok", "boolean")}),
            Some(FIRST),
        ),
        "test_input_required_result_multiple_inputs" => (
            json!({
                "user_name": elicitation("What is your name?", "name", "string"),
                "greeting": sampling("Generate a greeting"),
                "client_roots": roots(),
            }),
            Some(FIRST),
        ),
        "test_input_required_result_multi_round" if state == Some(SECOND) => (
            json!({"step2": elicitation("Step 2: What is your favorite color?", "color", "string")}),
            Some(SECOND),
        ),
        "test_input_required_result_multi_round" => {
            let first =
                json!({"step1": elicitation("Step 1: What is your name?", "name", "string")});
            if state == Some(FIRST) && answered(&first, request.input_responses.as_ref()) {
                let second = json!({"step2": elicitation("Step 2: What is your favorite color?", "color", "string")});
                return required(&second, Some(SECOND)).map(CallToolResponse::from);
            }
            (first, Some(FIRST))
        }
        "test_input_required_result_capabilities" => (for_client(client), None),
        _ => (
            json!({"user_name": elicitation("What is your name?", "name", "string")}),
            None,
        ),
    };
    if let (Some(sent), Some(expected)) = (state, next_state)
        && sent != expected
    {
        return Err(ErrorData::invalid_params(
            "requestState is not one of ours",
            None,
        ));
    }
    if answered(&inputs, request.input_responses.as_ref()) && state == next_state {
        let text = if state.is_some() {
            "state-ok"
        } else {
            "Hello, with your input."
        };
        return Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
    }
    required(&inputs, next_state).map(CallToolResponse::from)
}

/// Asks for inputs.
pub(super) fn required(
    inputs: &Value,
    state: Option<&str>,
) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({"resultType": "input_required", "inputRequests": inputs});
    if let (Some(state), Some(result)) = (state, result.as_object_mut()) {
        result.insert("requestState".to_owned(), json!(state));
    }
    typed(result)
}

/// Whether every input has come, as an object. More than was asked for is ignored.
pub(super) fn answered(inputs: &Value, responses: Option<&InputResponses>) -> bool {
    let Some(responses) = responses else {
        return false;
    };
    inputs.as_object().is_some_and(|inputs| {
        !inputs.is_empty()
            && inputs
                .keys()
                .all(|key| responses.get(key).is_some_and(Value::is_object))
    })
}

/// Only what the client says it can do.
fn for_client(client: &ClientCapabilities) -> Value {
    let mut inputs = Map::new();
    if client.elicitation.is_some() {
        inputs.insert(
            "user_name".to_owned(),
            elicitation("What is your name?", "name", "string"),
        );
    }
    if client.sampling.is_some() {
        inputs.insert("greeting".to_owned(), sampling("Generate a greeting"));
    }
    Value::Object(inputs)
}

pub(super) fn elicitation(message: &str, property: &str, kind: &str) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {"type": "object", "properties": {property: {"type": kind}}, "required": [property]},
    }})
}

fn sampling(text: &str) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        "maxTokens": 100,
    }})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}
