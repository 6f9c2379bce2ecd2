//! An HTTP request as the function sees it: payload format 2.0, which HTTP APIs and function
//! URLs share but for a few fields. Source: the published format with its examples.

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// What stands before the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Front {
    /// API Gateway, HTTP API with stage `$default`.
    HttpApi,
    /// A function URL.
    FunctionUrl,
}

/// The event for one request. `now_ms` is in milliseconds since 1970.
pub(crate) fn event(front: Front, id: &str, parts: &Parts, body: &Bytes, now_ms: u64) -> Value {
    let uri = &parts.uri;
    let query = uri.query().unwrap_or_default();
    let host = text(&parts.headers, "host");
    let prefix = host.split('.').next().unwrap_or_default();
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": uri.path(),
        "rawQueryString": query,
        "headers": headers(&parts.headers),
        "requestContext": {
            "accountId": "123456789012",
            "apiId": match front { Front::HttpApi => "httpapi", Front::FunctionUrl => "furl" },
            "domainName": host,
            "domainPrefix": prefix,
            "http": {
                "method": parts.method.as_str(),
                "path": uri.path(),
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": text(&parts.headers, "user-agent"),
            },
            "requestId": id,
            "routeKey": "$default",
            "stage": "$default",
            "timeEpoch": now_ms,
        },
        "isBase64Encoded": false,
    });
    let cookies: Vec<&str> = parts
        .headers
        .get_all("cookie")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split("; "))
        .collect();
    if !cookies.is_empty() {
        set(&mut event, "cookies", json!(cookies));
    }
    if !query.is_empty() {
        set(&mut event, "queryStringParameters", parameters(query));
    }
    if !body.is_empty() {
        match std::str::from_utf8(body) {
            Ok(body) if is_text(&text(&parts.headers, "content-type")) => {
                set(&mut event, "body", json!(body));
            }
            Ok(_) | Err(_) => {
                set(&mut event, "body", json!(STANDARD.encode(body)));
                set(&mut event, "isBase64Encoded", json!(true));
            }
        }
    }
    event
}

/// The types whose bodies arrive as they are; all others arrive as base64, also a missing one.
fn is_text(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.starts_with("text/")
        || matches!(
            essence,
            "application/json" | "application/javascript" | "application/xml"
        )
}

/// Names in lower case, repeated ones joined by a comma, without the cookies.
fn headers(headers: &HeaderMap) -> Value {
    // The front adds how the client spoke to it.
    let mut joined = Map::from_iter([("x-forwarded-proto".to_owned(), json!("http"))]);
    for name in headers.keys().filter(|name| *name != "cookie") {
        let values: Vec<&str> = headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect();
        joined.insert(name.as_str().to_owned(), json!(values.join(",")));
    }
    Value::Object(joined)
}

/// Decoded, repeated names joined by a comma.
fn parameters(query: &str) -> Value {
    let mut joined: Map<String, Value> = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = match joined.get(name.as_ref()).and_then(Value::as_str) {
            Some(before) => format!("{before},{value}"),
            None => value.into_owned(),
        };
        joined.insert(name.into_owned(), Value::String(value));
    }
    Value::Object(joined)
}

fn text(headers: &HeaderMap, name: &str) -> String {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

fn set(event: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = event {
        fields.insert(name.to_owned(), value);
    }
}
