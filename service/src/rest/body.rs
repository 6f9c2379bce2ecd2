//! JSON bodies. Every way in which a body can be wrong (another media type, broken
//! syntax, too large) is answered in the words of the error table rather than in
//! the framework's.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use ostraca_memory::{Error, ErrorKind};
use serde_json::{Map, Value};

use crate::app::App;
use crate::body_limit;
use crate::error::{ApiError, ErrorBody};
use crate::exact_numbers;

/// A body that is a JSON object.
#[derive(Debug)]
pub(super) struct JsonBody(pub(super) Map<String, Value>);

/// The same, or no body at all, which counts as an empty object.
#[derive(Debug)]
pub(super) struct OptionalJsonBody(pub(super) Map<String, Value>);

/// Why there is no object.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The media type is another one.
    MediaType,
    /// Anything else, as the domain would say it.
    Refused(Error),
}

impl IntoResponse for Unreadable {
    fn into_response(self) -> Response {
        match self {
            Self::MediaType => {
                let body = ErrorBody::new(
                    "unsupported_media_type",
                    "the body must be JSON; send Content-Type: application/json",
                );
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, axum::Json(body)).into_response()
            }
            Self::Refused(error) => ApiError(error).into_response(),
        }
    }
}

impl FromRequest<Arc<App>> for JsonBody {
    type Rejection = Unreadable;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Unreadable> {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            return Err(Unreadable::MediaType);
        }
        let bytes = body_limit::read(body, app.settings.max_body_bytes)
            .await
            .map_err(Unreadable::Refused)?;
        object(&bytes).map(Self)
    }
}

impl FromRequest<Arc<App>> for OptionalJsonBody {
    type Rejection = Unreadable;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Unreadable> {
        let (parts, body) = request.into_parts();
        let bytes = body_limit::read(body, app.settings.max_body_bytes)
            .await
            .map_err(Unreadable::Refused)?;
        if bytes.is_empty() {
            return Ok(Self(Map::new()));
        }
        if !is_json(&parts.headers) {
            return Err(Unreadable::MediaType);
        }
        object(&bytes).map(Self)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(media) = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    let media = media
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    media == "application/json" || (media.starts_with("application/") && media.ends_with("+json"))
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    let refused = |message| Unreadable::Refused(Error::new(ErrorKind::Invalid, message));
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => {
            exact_numbers::check(bytes).map_err(Unreadable::Refused)?;
            Ok(object)
        }
        Ok(_) => Err(refused("the body is not a JSON object".to_owned())),
        Err(error) => Err(refused(format!("the body is not JSON: {error}"))),
    }
}
