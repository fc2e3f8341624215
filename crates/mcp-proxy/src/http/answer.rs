//! Responses that the proxy gives on behalf of the server.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use mcp_core::{Era, Json, Refusal, RefusalReason, Revision, Side};
use mcp_json::{Limits, Node, Tape};
use mcp_jsonrpc::{Envelope, ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind};
use mcp_transport::SourceNotAllowed;

use super::{
    body::{ProxyBody, full},
    upstream::{CROWDED_OUT, Failure},
};

/// A response that can be recorded before it is sent.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(super) fn json(status: StatusCode, body: Bytes) -> Answer {
        let kind = HeaderValue::from_static("application/json");
        Answer { status, headers: HeaderMap::from_iter([(CONTENT_TYPE, kind)]), body }
    }

    /// An error response to a request that was not read.
    pub(crate) fn error(status: StatusCode, code: ErrorCode, message: &str) -> Answer {
        let error = JsonRpcError::new(code.code(), message);
        Answer::json(status, JsonRpcResponse { id: None, outcome: Err(error) }.to_bytes())
    }

    pub(crate) fn unauthorized() -> Answer {
        let status = StatusCode::UNAUTHORIZED;
        let mut answer = Answer::error(status, ErrorCode::InvalidRequest, "a token is required");
        answer.headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        answer
    }

    /// The request is addressed to a foreign host, or comes from a foreign origin.
    pub(crate) fn foreign(foreign: &SourceNotAllowed) -> Answer {
        Answer::error(StatusCode::FORBIDDEN, ErrorCode::InvalidRequest, &foreign.to_string())
    }

    /// There is no server at the path of the request.
    pub(crate) fn no_such_prefix(prefixes: &[&str]) -> Answer {
        let message = format!("no server has this path; use one of {}", prefixes.join(", "));
        let data = serde_json::json!({ "prefixes": prefixes });
        let error = JsonRpcError {
            code: ErrorCode::InvalidRequest.code(),
            message,
            data: Json::parse(data.to_string()).ok(),
        };
        let body = JsonRpcResponse { id: None, outcome: Err(error) }.to_bytes();
        Answer::json(StatusCode::NOT_FOUND, body)
    }

    /// The maximum number of connections is open.
    pub(crate) fn full() -> Answer {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Answer::error(
            status,
            ErrorCode::InternalError,
            "too many connections are open; try again later",
        )
    }

    /// There is no memory left for the message at the moment.
    pub(super) fn crowded_out() -> Answer {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let mut answer = Answer::error(status, ErrorCode::InternalError, CROWDED_OUT);
        answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        answer
    }

    /// Tells a client why its request was not passed on.
    pub(crate) fn refused(
        request: &HeaderMap,
        refusals: &[Refusal],
        answer: Option<Bytes>,
    ) -> Answer {
        let statuses = refusals.iter().map(|refusal| status_of(request, refusal.reason));
        let status = statuses.max().unwrap_or(StatusCode::BAD_REQUEST);
        let Some(body) = answer else {
            // A notification or a response expects no answer, but HTTP needs a response.
            let message = reason_of(refusals);
            return Answer::error(StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest, message);
        };
        Answer::json(status, body)
    }

    /// Replaces a response that was held back.
    pub(crate) fn instead(refusals: &[Refusal], answer: Option<Bytes>) -> Answer {
        let Some(body) = answer else {
            let message = reason_of(refusals);
            return Answer::error(StatusCode::BAD_GATEWAY, ErrorCode::InternalError, message);
        };
        Answer::json(StatusCode::OK, body)
    }

    /// Tells a client that the server did not answer the request, or the batch, in `text`.
    pub(crate) fn failed(failure: &Failure, text: &[u8]) -> Answer {
        let status = match failure {
            Failure::TimedOut(_) => StatusCode::GATEWAY_TIMEOUT,
            Failure::Unreachable(_) | Failure::Broken(_) | Failure::Unjudged(_) => {
                StatusCode::BAD_GATEWAY
            }
            Failure::Stopped | Failure::CrowdedOut => StatusCode::SERVICE_UNAVAILABLE,
            Failure::Unfinished => StatusCode::BAD_REQUEST,
        };
        let code = match failure {
            Failure::Unfinished => ErrorCode::ParseError,
            _ => ErrorCode::InternalError,
        };
        let error = JsonRpcError::new(code.code(), failure.to_string());
        Answer::json(status, error_for(text, &error))
    }

    /// Tells a client that its request, or the response to it, could not be judged because the
    /// session store is unavailable. `text` was sent by `from`.
    pub(super) fn unavailable(from: Side, text: &[u8]) -> Answer {
        let message =
            "the session cannot be judged at the moment: the session store is unavailable";
        let error = JsonRpcError::new(ErrorCode::InternalError.code(), message);
        let body = match from {
            Side::Client => error_for(text, &error),
            Side::Server => {
                JsonRpcResponse { id: response_id(text), outcome: Err(error) }.to_bytes()
            }
        };
        let mut answer = Answer::json(StatusCode::SERVICE_UNAVAILABLE, body);
        answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        answer
    }

    pub(crate) fn into_response(self) -> Response<ProxyBody> {
        let mut response = Response::new(full(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

fn reason_of(refusals: &[Refusal]) -> &str {
    refusals.first().map_or("invalid", |refusal| &refusal.message)
}

/// The HTTP status of a refused request. Up to 2025-11-25, clients treat every status but 200 as a
/// transport failure.
fn status_of(request: &HeaderMap, reason: RefusalReason) -> StatusCode {
    let version = request.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    let revision = version.and_then(|version| version.parse::<Revision>().ok());
    let is_modern = revision.is_some_and(|revision| revision.era() == Era::Modern);
    match reason {
        RefusalReason::UnknownMethod if is_modern => StatusCode::NOT_FOUND,
        RefusalReason::UnknownMethod | RefusalReason::InvalidParams if !is_modern => StatusCode::OK,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// An error for each request in `text`; a single one without an id if there are none.
fn error_for(text: &[u8], error: &JsonRpcError) -> Bytes {
    let mut tape = Tape::new();
    let answer = |id| JsonRpcResponse { id, outcome: Err(error.clone()) }.to_bytes();
    let Ok(document) = tape.parse(text, Limits::default()) else { return answer(None) };
    let root = document.root();
    if !root.is_array() {
        return answer(id_of(root, MessageKind::Request));
    }
    let answers: Vec<Bytes> = root
        .elements()
        .filter_map(|entry| id_of(entry, MessageKind::Request))
        .map(|id| answer(Some(id)))
        .collect();
    if answers.is_empty() {
        return answer(None);
    }
    [b"[", &*answers.join(&b","[..]), b"]"].concat().into()
}

/// The id of the request in `text`, if it is a single one.
pub(super) fn request_id(text: &[u8], max_bytes: usize) -> Option<JsonRpcId> {
    let mut tape = Tape::new();
    let document = tape.parse(text, Limits { max_bytes, ..Limits::default() }).ok()?;
    id_of(document.root(), MessageKind::Request)
}

/// The id of the response in `text`, if it is one.
fn response_id(text: &[u8]) -> Option<JsonRpcId> {
    let mut tape = Tape::new();
    let document = tape.parse(text, Limits::default()).ok()?;
    id_of(document.root(), MessageKind::Response)
}

/// The id of a message, if it has this kind.
fn id_of(message: Node<'_>, kind: MessageKind) -> Option<JsonRpcId> {
    let envelope = Envelope::of(message);
    envelope.readable_id().filter(|_| envelope.kind() == Some(kind))
}
