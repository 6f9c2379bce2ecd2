//! The one table from what went wrong to what a caller sees: HTTP status, JSON-RPC
//! code and public code name. REST and MCP both answer from here; nothing else in
//! the service picks a status for a domain error.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use ostraca_memory::{Error, ErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// JSON-RPC: the params are at fault.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the server is at fault.
pub(crate) const INTERNAL_ERROR: i32 = -32603;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Presentation {
    /// The HTTP status of a REST answer.
    pub(crate) status: StatusCode,
    /// The JSON-RPC code where an error is a protocol error.
    pub(crate) rpc_code: i32,
    /// The stable name that programs compare.
    pub(crate) code: &'static str,
}

/// The row of an error kind.
pub(crate) fn present(kind: ErrorKind) -> Presentation {
    let row = |status, rpc_code, code| Presentation {
        status,
        rpc_code,
        code,
    };
    match kind {
        ErrorKind::Invalid => row(StatusCode::BAD_REQUEST, INVALID_PARAMS, "invalid"),
        ErrorKind::Unauthorized => row(StatusCode::UNAUTHORIZED, INVALID_PARAMS, "unauthorized"),
        ErrorKind::Forbidden => row(StatusCode::FORBIDDEN, INVALID_PARAMS, "forbidden"),
        ErrorKind::NotFound => row(StatusCode::NOT_FOUND, INVALID_PARAMS, "not_found"),
        ErrorKind::Conflict => row(StatusCode::CONFLICT, INVALID_PARAMS, "conflict"),
        ErrorKind::TooLarge => row(StatusCode::PAYLOAD_TOO_LARGE, INVALID_PARAMS, "too_large"),
        ErrorKind::RateLimited { .. } => row(
            StatusCode::TOO_MANY_REQUESTS,
            INTERNAL_ERROR,
            "rate_limited",
        ),
        ErrorKind::Unavailable { .. } => row(
            StatusCode::SERVICE_UNAVAILABLE,
            INTERNAL_ERROR,
            "unavailable",
        ),
        ErrorKind::Corrupt => row(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR, "corrupt"),
        ErrorKind::Internal => row(
            StatusCode::INTERNAL_SERVER_ERROR,
            INTERNAL_ERROR,
            "internal",
        ),
    }
}

/// The body of every failure: `{"error": {…}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDetail {
    /// The stable name of the kind of failure, such as `not_found`.
    pub code: String,
    /// The argument at fault, such as `items[2].content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong and what helps.
    pub message: String,
}

impl ErrorBody {
    /// A failure outside the domain, such as an unknown path.
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            error: ErrorDetail {
                code: code.to_owned(),
                field: None,
                message: message.into(),
            },
        }
    }
}

impl From<&Error> for ErrorBody {
    fn from(error: &Error) -> Self {
        Self {
            error: ErrorDetail {
                code: present(error.kind()).code.to_owned(),
                field: error.field().map(str::to_owned),
                message: error.message().to_owned(),
            },
        }
    }
}

/// A domain error on its way out. It is logged here, once, with its causes.
#[derive(Debug)]
pub(crate) struct ApiError(pub(crate) Error);

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        log(&self.0);
        let mut response = (
            present(self.0.kind()).status,
            Json(ErrorBody::from(&self.0)),
        )
            .into_response();
        if let Some(seconds) = retry_after_seconds(self.0.kind()) {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// How long the caller should wait, in whole seconds, where waiting helps.
pub(crate) fn retry_after_seconds(kind: ErrorKind) -> Option<u64> {
    match kind {
        ErrorKind::RateLimited { retry_after } | ErrorKind::Unavailable { retry_after } => Some(
            retry_after
                .as_secs()
                .saturating_add(u64::from(retry_after.subsec_nanos() > 0))
                .max(1),
        ),
        _ => None,
    }
}

/// Writes the failures that an operator has to know of, with their causes, to the log.
pub(crate) fn log(error: &Error) {
    if present(error.kind()).status.is_server_error() {
        tracing::error!(code = present(error.kind()).code, causes = %Causes(error), "{error}");
    } else {
        tracing::debug!(
            code = present(error.kind()).code,
            field = error.field(),
            "refused"
        );
    }
}

struct Causes<'a>(&'a Error);

impl std::fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut cause = std::error::Error::source(self.0);
        while let Some(error) = cause {
            write!(f, "{error}; ")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_kind_has_its_row() {
        let wait = Duration::from_millis(1500);
        let table = [
            (ErrorKind::Invalid, 400, -32602, "invalid"),
            (ErrorKind::Unauthorized, 401, -32602, "unauthorized"),
            (ErrorKind::Forbidden, 403, -32602, "forbidden"),
            (ErrorKind::NotFound, 404, -32602, "not_found"),
            (ErrorKind::Conflict, 409, -32602, "conflict"),
            (ErrorKind::TooLarge, 413, -32602, "too_large"),
            (
                ErrorKind::RateLimited { retry_after: wait },
                429,
                -32603,
                "rate_limited",
            ),
            (
                ErrorKind::Unavailable { retry_after: wait },
                503,
                -32603,
                "unavailable",
            ),
            (ErrorKind::Corrupt, 500, -32603, "corrupt"),
            (ErrorKind::Internal, 500, -32603, "internal"),
        ];
        for (kind, status, rpc_code, code) in table {
            let row = present(kind);
            assert_eq!(
                (row.status.as_u16(), row.rpc_code, row.code),
                (status, rpc_code, code),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn waiting_is_told_in_whole_seconds_and_never_as_none() {
        let response = ApiError(Error::new(
            ErrorKind::Unavailable {
                retry_after: Duration::from_millis(1500),
            },
            "storage did not answer; try again",
        ))
        .into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        assert_eq!(
            retry_after_seconds(ErrorKind::RateLimited {
                retry_after: Duration::ZERO
            }),
            Some(1)
        );
        assert_eq!(retry_after_seconds(ErrorKind::Conflict), None);
    }

    #[test]
    fn the_body_names_the_field() {
        let body = ErrorBody::from(&Error::invalid("items[2].content", "must not be empty"));
        assert_eq!(
            serde_json::to_value(body).unwrap(),
            serde_json::json!({"error": {"code": "invalid", "field": "items[2].content", "message": "must not be empty"}}),
        );
    }
}
