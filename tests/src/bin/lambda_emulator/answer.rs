//! What a function answered, as an HTTP response: the reverse of the event, with the front's
//! own messages where the function gave no proper answer.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::event::Front;
use crate::invocation::Outcome;

/// The response that the caller sees.
pub(crate) fn response(front: Front, outcome: Outcome) -> Response<Body> {
    match outcome {
        Outcome::Answer(answer) => translate(&answer).unwrap_or_else(|| failure(front)),
        Outcome::Failed | Outcome::TooLarge => failure(front),
        Outcome::TimedOut => match front {
            Front::HttpApi => message(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
            Front::FunctionUrl => message(StatusCode::GATEWAY_TIMEOUT, "Gateway Timeout"),
        },
    }
}

/// An event over the limit never reaches the function.
pub(crate) fn request_too_large() -> Response<Body> {
    message(StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long")
}

fn failure(front: Front) -> Response<Body> {
    match front {
        Front::HttpApi => message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        Front::FunctionUrl => message(StatusCode::BAD_GATEWAY, "Internal Server Error"),
    }
}

fn message(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(format!(r#"{{"message":"{text}"}}"#)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("application/json"));
    response
}

/// `None` when the document is not what the format asks for.
fn translate(answer: &Value) -> Option<Response<Body>> {
    let status = answer.get("statusCode")?.as_u64()?;
    let mut builder = Response::builder().status(u16::try_from(status).ok()?);
    for (name, value) in answer
        .get("headers")
        .and_then(Value::as_object)
        .unwrap_or(&Map::new())
    {
        // The length is that of the decoded body, which the server sets.
        if !name.eq_ignore_ascii_case("content-length") {
            builder = builder.header(name, value.as_str()?);
        }
    }
    for cookie in answer
        .get("cookies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        builder = builder.header("set-cookie", cookie.as_str()?);
    }
    let text = answer
        .get("body")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let encoded = answer
        .get("isBase64Encoded")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let body = if encoded {
        STANDARD.decode(text).ok()?
    } else {
        text.as_bytes().to_vec()
    };
    builder.body(Body::from(body)).ok()
}
