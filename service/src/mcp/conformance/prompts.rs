//! The suite's prompts.

use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, PromptArgument,
};
use serde_json::{Value, json};

use super::input_required::{answered, elicitation, required};
use super::{PNG, typed};

const DESCRIPTION: &str = "A fixture of the conformance suite";

/// Their definitions.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str| {
        PromptArgument::new(name)
            .with_description("A text")
            .with_required(true)
    };
    vec![
        Prompt::new("test_simple_prompt", Some(DESCRIPTION), None),
        Prompt::new(
            "test_prompt_with_arguments",
            Some(DESCRIPTION),
            Some(vec![argument("arg1"), argument("arg2")]),
        ),
        Prompt::new(
            "test_prompt_with_embedded_resource",
            Some(DESCRIPTION),
            Some(vec![argument("resourceUri")]),
        ),
        Prompt::new("test_prompt_with_image", Some(DESCRIPTION), None),
        Prompt::new("test_input_required_result_prompt", Some(DESCRIPTION), None),
    ]
}

/// The messages of a fixture; `None` for any other prompt.
pub(crate) fn get(
    request: &GetPromptRequestParams,
) -> Option<Result<GetPromptResponse, ErrorData>> {
    let argument = |name: &str| {
        request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get(name)?.as_str())
            .unwrap_or_default()
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let blocks: Vec<Value> = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))]
        }
        "test_prompt_with_embedded_resource" => vec![
            json!({"type": "resource", "resource": {
                "uri": argument("resourceUri"), "mimeType": "text/plain", "text": "Embedded resource content for testing.",
            }}),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            json!({"type": "image", "data": PNG, "mimeType": "image/png"}),
            text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let inputs = json!({"user_context": elicitation("What context should the prompt use?", "context", "string")});
            if !answered(&inputs, request.input_responses.as_ref()) {
                return Some(required(&inputs, None).map(GetPromptResponse::from));
            }
            vec![text("With the context that was given.")]
        }
        _ => return None,
    };
    let messages: Vec<Value> = blocks
        .into_iter()
        .map(|content| json!({"role": "user", "content": content}))
        .collect();
    let result = typed::<GetPromptResult>(json!({"resultType": "complete", "messages": messages}));
    Some(result.map(GetPromptResponse::from))
}
