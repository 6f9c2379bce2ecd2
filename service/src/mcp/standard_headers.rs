//! The headers that mirror the body since 2026-07-28 (`Mcp-Method`, `Mcp-Name`), so
//! that intermediaries can route without parsing. As we do parse, a header that
//! disagrees with its body is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use serde_json::Value;

use crate::mcp::envelope::{Call, Failure};
use crate::mcp::era::mismatch;

/// Compares the mirrored headers with the request.
pub(crate) fn check(call: &Call, headers: &HeaderMap) -> Result<(), Failure> {
    match text(headers, "mcp-method") {
        None => return Err(mismatch(call, "the Mcp-Method header is missing")),
        Some(method) if method != call.method => {
            return Err(mismatch(
                call,
                format!(
                    "Mcp-Method is {method:?}, but the body says {:?}",
                    call.method
                ),
            ));
        }
        Some(_) => {}
    }
    let Some(name) = mirrored(call) else {
        return Ok(());
    };
    match text(headers, "mcp-name").map(decoded) {
        None => Err(mismatch(call, "the Mcp-Name header is missing")),
        Some(header) if header.as_deref() == Some(name) => Ok(()),
        Some(_) => Err(mismatch(
            call,
            format!("Mcp-Name is not {name:?}, as the body says"),
        )),
    }
}

/// The param that `Mcp-Name` repeats.
fn mirrored(call: &Call) -> Option<&str> {
    let param = match call.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    call.params.get(param).and_then(Value::as_str)
}

/// The value of a header without the white space around it.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get(name)?
        .to_str()
        .ok()
        .map(|value| value.trim_matches([' ', '\t']))
}

/// A header value, which clients wrap in Base64 when it is not plain ASCII.
fn decoded(value: &str) -> Option<String> {
    match value
        .strip_prefix("=?base64?")
        .and_then(|value| value.strip_suffix("?="))
    {
        Some(wrapped) => String::from_utf8(STANDARD.decode(wrapped).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}
