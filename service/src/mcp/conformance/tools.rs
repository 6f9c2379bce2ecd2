//! The suite's tools.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ErrorData, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use super::{PNG, WAV, input_required, typed};

const PLAIN: [&str; 10] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_logging_tool",
    "test_missing_capability",
    "test_streaming_elicitation",
];

/// Their definitions.
pub(crate) fn list() -> Vec<Tool> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("additionalProperties".to_owned(), json!(false));
    let schema = Arc::new(schema);
    PLAIN
        .into_iter()
        .chain(input_required::TOOLS)
        .map(|name| {
            Tool::new(name, "A fixture of the conformance suite; it touches no memory and returns a fixed answer.", Arc::clone(&schema))
                .with_title(name)
                .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
        })
        .collect()
}

/// The answer of a fixture; `None` for any other tool.
pub(crate) fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let client = context.client_capabilities().unwrap_or_default();
    let name: &str = &request.name;
    if input_required::TOOLS.contains(&name) || name == "test_streaming_elicitation" {
        return Some(input_required::call(name, request, &client));
    }
    if name == "test_missing_capability" && client.sampling.is_none() {
        let sampling = typed::<ClientCapabilities>(json!({"sampling": {}}));
        return Some(
            sampling.and_then(|needed| Err(ErrorData::missing_required_client_capability(needed))),
        );
    }
    let result = typed::<CallToolResult>(content(name)?);
    Some(result.map(CallToolResponse::from))
}

fn content(name: &str) -> Option<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let resource = |uri: &str, media: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": media, "text": text}});
    let blocks = match name {
        "test_simple_text" => vec![text("This is a simple text response for testing.")],
        "test_image_content" => vec![image],
        "test_audio_content" => {
            vec![json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]
        }
        "test_embedded_resource" => {
            vec![resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )]
        }
        "test_multiple_content_types" => vec![
            text("Multiple content types test:"),
            image,
            resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ],
        "test_error_handling" => {
            return Some(
                json!({"resultType": "complete", "isError": true, "content": [text("This tool intentionally returns an error for testing")]}),
            );
        }
        "test_tool_with_progress" | "test_logging_tool" | "test_missing_capability" => {
            vec![text("done")]
        }
        _ => return None,
    };
    Some(json!({"resultType": "complete", "isError": false, "content": blocks}))
}
