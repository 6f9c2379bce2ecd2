//! Which protocol revision a request speaks. Since 2026-07-28 every request says it
//! in `_meta` and there is no handshake; before, `initialize` settled it once. One
//! endpoint serves both, so each request is judged on its own.

use http::StatusCode;
use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion};
use serde_json::{Value, json};

use crate::mcp::envelope::{Call, Failure};

/// `_meta`: the revision that a request speaks.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// `_meta`: what the client can do.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The revisions that we advertise. Older ones are still accepted in `initialize`,
/// because some clients give up when their version is not echoed.
pub(crate) const ADVERTISED: [ProtocolVersion; 3] = [
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// What a client speaks that has said nothing, by the rules of the older revisions.
const UNSAID: ProtocolVersion = ProtocolVersion::V_2025_03_26;

/// The revision of one request and the rules that come with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Era {
    /// Self-contained requests.
    Modern(ProtocolVersion),
    /// Requests after an `initialize` handshake.
    Legacy(ProtocolVersion),
}

impl Era {
    /// The revision.
    pub(crate) fn version(&self) -> ProtocolVersion {
        match self {
            Self::Modern(version) | Self::Legacy(version) => version.clone(),
        }
    }
}

/// What a transport knows about the revision besides the message itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Announced<'a> {
    /// The `MCP-Protocol-Version` header of an HTTP request, if there was one.
    Header(Option<&'a str>),
    /// The outcome of the handshake on a lasting connection, if there was one.
    Handshake(Option<&'a ProtocolVersion>),
}

impl<'a> Announced<'a> {
    fn header(self) -> Option<&'a str> {
        match self {
            Self::Header(header) => header,
            Self::Handshake(_) => None,
        }
    }
}

/// The era of a request, or why it has none.
pub(crate) fn judge(call: &Call, announced: Announced<'_>) -> Result<Era, Failure> {
    let header = announced.header();
    let in_meta = call.meta(META_VERSION).and_then(Value::as_str);
    let modern = in_meta.is_some()
        || call.meta(META_CAPABILITIES).is_some()
        || call.method == "server/discover"
        || (call.method != "initialize"
            && header.is_some_and(|header| header >= ProtocolVersion::V_2026_07_28.as_str()));
    if modern {
        judge_modern(call, announced, in_meta)
    } else {
        judge_legacy(call, announced)
    }
}

fn judge_modern(
    call: &Call,
    announced: Announced<'_>,
    in_meta: Option<&str>,
) -> Result<Era, Failure> {
    // A request without `_meta` under a header that nobody here knows comes from a
    // later revision; telling it what we speak helps more than naming a field.
    if let (None, Some(header)) = (in_meta, announced.header())
        && advertised(header).is_none()
    {
        return Err(unsupported(call, header));
    }
    let mut missing = Vec::new();
    if in_meta.is_none() {
        missing.push(META_VERSION);
    }
    if !call.meta(META_CAPABILITIES).is_some_and(Value::is_object) {
        missing.push(META_CAPABILITIES);
    }
    let (Some(version), true) = (in_meta, missing.is_empty()) else {
        let message = format!("request _meta lacks {}", missing.join(" and "));
        return Err(call.fail(
            StatusCode::BAD_REQUEST,
            ErrorData::invalid_params(message, None),
        ));
    };
    if let Announced::Header(header) = announced {
        match header {
            None => return Err(mismatch(call, "the MCP-Protocol-Version header is missing")),
            Some(header) if header != version => {
                return Err(mismatch(
                    call,
                    format!("MCP-Protocol-Version is {header:?}, but _meta says {version:?}"),
                ));
            }
            Some(_) => {}
        }
    }
    advertised(version)
        .map(Era::Modern)
        .ok_or_else(|| unsupported(call, version))
}

fn judge_legacy(call: &Call, announced: Announced<'_>) -> Result<Era, Failure> {
    match announced {
        Announced::Header(Some(header)) if call.method != "initialize" => {
            ProtocolVersion::KNOWN_VERSIONS
                .iter()
                .find(|version| version.as_str() == header)
                .cloned()
                .map(Era::Legacy)
                .ok_or_else(|| {
                    let message = format!("MCP-Protocol-Version {header:?} is not supported");
                    let data = json!({"supported": ADVERTISED, "requested": header});
                    call.fail(
                        StatusCode::BAD_REQUEST,
                        ErrorData::invalid_request(message, Some(data)),
                    )
                })
        }
        Announced::Header(_) => Ok(Era::Legacy(UNSAID)),
        Announced::Handshake(agreed) => Ok(Era::Legacy(
            agreed
                .cloned()
                .unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE),
        )),
    }
}

/// The refusal of a request whose headers and body disagree.
pub(crate) fn mismatch(call: &Call, message: impl Into<String>) -> Failure {
    let message = format!("header mismatch: {}", message.into());
    call.fail(
        StatusCode::BAD_REQUEST,
        ErrorData::new(ErrorCode::HEADER_MISMATCH, message, None),
    )
}

fn unsupported(call: &Call, requested: &str) -> Failure {
    let data = json!({"supported": ADVERTISED, "requested": requested});
    let error = ErrorData::new(
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
        "unsupported protocol version",
        Some(data),
    );
    call.fail(StatusCode::BAD_REQUEST, error)
}

fn advertised(version: &str) -> Option<ProtocolVersion> {
    ADVERTISED
        .into_iter()
        .find(|known| known.as_str() == version)
}
