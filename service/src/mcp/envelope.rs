//! The JSON-RPC frame of one message: its id, method and params, and the refusals
//! of whatever is not exactly one request or notification. It knows nothing of
//! protocol revisions; `era` judges those.

use http::StatusCode;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value, json};

use crate::exact_numbers;

/// One message of a client.
#[derive(Debug)]
pub(crate) enum Message {
    /// It expects an answer.
    Request(Call),
    /// It expects none.
    Notification,
}

/// One request.
#[derive(Debug)]
pub(crate) struct Call {
    /// A string or an integer, as it was sent.
    pub(crate) id: Value,
    /// The method.
    pub(crate) method: String,
    /// The params; empty when absent.
    pub(crate) params: Map<String, Value>,
}

impl Call {
    /// The `_meta` member of the params, where modern clients speak about themselves.
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }

    /// A failure of this request.
    pub(crate) fn fail(&self, status: StatusCode, error: ErrorData) -> Failure {
        Failure {
            status,
            id: Some(self.id.clone()),
            error,
        }
    }
}

/// A refused message: the JSON-RPC error and the HTTP status it travels with.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The status, where the transport has one.
    pub(crate) status: StatusCode,
    /// The id of the request, when it could be read.
    pub(crate) id: Option<Value>,
    /// What is wrong.
    pub(crate) error: ErrorData,
}

impl Failure {
    /// A message that is no request at all.
    pub(crate) fn malformed(status: StatusCode, code: ErrorCode, message: &'static str) -> Self {
        Self {
            status,
            id: None,
            error: ErrorData::new(code, message, None),
        }
    }

    /// The JSON-RPC message. The id is left out, never null, when there is none.
    pub(crate) fn message(self) -> Value {
        let mut message = json!({"jsonrpc": "2.0", "error": self.error});
        if let (Some(id), Some(message)) = (self.id, message.as_object_mut()) {
            message.insert("id".to_owned(), id);
        }
        message
    }
}

/// The message that answers a request.
pub(crate) fn answer(id: Value, outcome: Result<Value, ErrorData>) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".to_owned(), json!("2.0"));
    message.insert("id".to_owned(), id);
    match outcome {
        Ok(result) => message.insert("result".to_owned(), result),
        Err(error) => message.insert("error".to_owned(), json!(error)),
    };
    Value::Object(message)
}

/// Reads one message.
pub(crate) fn read(body: &[u8]) -> Result<Message, Failure> {
    let invalid =
        |message| Failure::malformed(StatusCode::BAD_REQUEST, ErrorCode::INVALID_REQUEST, message);
    let value: Value = serde_json::from_slice(body).map_err(|_| {
        Failure::malformed(
            StatusCode::BAD_REQUEST,
            ErrorCode::PARSE_ERROR,
            "the body is not JSON; send one JSON-RPC message",
        )
    })?;
    let Value::Object(mut message) = value else {
        return Err(invalid(if value.is_array() {
            "batches are not part of the protocol; send one message per request"
        } else {
            "a JSON-RPC message is an object"
        }));
    };
    // The id comes first, so that every later refusal can carry it.
    let id = message.remove("id");
    let id = match id {
        None => None,
        Some(id) if id.is_string() || id.is_i64() || id.is_u64() => Some(id),
        Some(_) => return Err(invalid("id must be a string or an integer")),
    };
    let with_id = |mut failure: Failure| {
        failure.id.clone_from(&id);
        failure
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(with_id(invalid("jsonrpc must be \"2.0\"")));
    }
    let Some(Value::String(method)) = message.remove("method") else {
        // A response, for one: nothing of ours is ever pending at a client.
        return Err(with_id(invalid(
            "the message has no method, so it is no request",
        )));
    };
    let params = match message.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(with_id(invalid("params must be an object"))),
    };
    exact_numbers::check(body).map_err(|error| Failure {
        status: StatusCode::BAD_REQUEST,
        id: id.clone(),
        error: ErrorData::invalid_params(error.message().to_owned(), None),
    })?;
    Ok(match id {
        None => Message::Notification,
        Some(id) => Message::Request(Call { id, method, params }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> (i64, Option<Value>) {
        let message = read(body.as_bytes()).unwrap_err().message();
        (
            message["error"]["code"].as_i64().unwrap(),
            message.get("id").cloned(),
        )
    }

    #[test]
    fn reads_requests_and_notifications() {
        let Message::Request(call) =
            read(br#"{"jsonrpc":"2.0","id":7,"method":"ping","params":null}"#).unwrap()
        else {
            panic!("a request")
        };
        assert_eq!(
            (call.id, call.method.as_str(), call.params.len()),
            (json!(7), "ping", 0)
        );
        let notification =
            read(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
        assert!(matches!(notification, Message::Notification));
    }

    #[test]
    fn refuses_what_is_not_one_message() {
        assert_eq!(refusal("{"), (-32700, None));
        assert_eq!(refusal("7"), (-32600, None));
        assert_eq!(
            refusal(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#),
            (-32600, None)
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            (-32600, None)
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#),
            (-32600, None)
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
            (-32600, None)
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#),
            (-32600, Some(json!(1)))
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            (-32600, Some(json!(1)))
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}"#),
            (-32600, Some(json!("a")))
        );
    }
}
