//! The 401 and 403 answers and their `WWW-Authenticate` header (RFC 6750, RFC 9728):
//! they tell a client where the metadata of this resource lies and which scopes to
//! ask for.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use ostraca_memory::{Error, ErrorKind};

use crate::app::App;
use crate::auth::metadata;
use crate::error::{ApiError, ErrorBody};

/// The scopes that ordinary use needs.
pub(crate) const BASELINE_SCOPES: &str = "memories:read memories:write";

/// Why there is no session.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// No credential was presented.
    Missing,
    /// The credential is none of ours, has expired or was revoked.
    Invalid,
    /// The credential is good but may not do this.
    Insufficient(String),
    /// It could not be found out.
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Unauthorized => Self::Invalid,
            ErrorKind::Forbidden => Self::Insufficient(error.message().to_owned()),
            _ => Self::Failed(error),
        }
    }
}

impl Refusal {
    /// The answer, with a challenge where another credential would help.
    pub(crate) fn respond(self, app: &App, parts: &Parts) -> Response {
        let (status, code, message, error) = match self {
            Self::Failed(error) => return ApiError(error).into_response(),
            Self::Missing => (
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "no API key; send one as Authorization: Bearer <key>".to_owned(),
                "",
            ),
            Self::Invalid => (
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "this credential is not valid; present another".to_owned(),
                ", error=\"invalid_token\"",
            ),
            Self::Insufficient(message) => (
                StatusCode::FORBIDDEN,
                "forbidden",
                message,
                ", error=\"insufficient_scope\"",
            ),
        };
        let metadata = metadata::location(app, parts);
        let challenge = format!(
            "Bearer realm=\"ostraca\", resource_metadata=\"{metadata}\", scope=\"{BASELINE_SCOPES}\"{error}"
        );
        let mut response = (status, Json(ErrorBody::new(code, message))).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Ok(challenge) = HeaderValue::try_from(challenge) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
