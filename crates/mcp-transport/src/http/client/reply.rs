//! What the head of a response says about its body, and reading bodies within limits.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, Response, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION},
};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use mcp_core::TransportError;

use super::{
    endpoint::chain,
    watched::{WatchedResponse, WatchedStream},
};
use crate::http::{arrived::Arrived, watch::WatchedExchange};

/// How much of an unexpected body is read and shown.
const SHOWN_BYTES: usize = 2000;
const SHOWN_CHARS: usize = 500;
const SHOWN_OF_PAGE: usize = 80;
const SHOWN_WAIT: Duration = Duration::from_secs(2);

/// The kind of a response, by its head.
#[derive(Debug)]
pub(super) enum Reply {
    Json(Incoming, WatchedResponse),
    Events(Incoming, WatchedStream),
    /// Accepted, without a body.
    Accepted(Incoming),
    ErrorStatus(ErrorResponse),
    /// It claims success but cannot be read.
    Unreadable(TransportError),
}

#[derive(Debug)]
pub(super) struct ErrorResponse {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    watched: WatchedResponse,
}

impl Reply {
    pub(super) fn of(response: Response<Incoming>) -> Reply {
        let (mut head, body) = response.into_parts();
        let exchange = head.extensions.remove::<WatchedExchange>();
        let watched = WatchedResponse::new(exchange, head.status, &head.headers);
        if !head.status.is_success() {
            let (status, headers) = (head.status, head.headers);
            return Reply::ErrorStatus(ErrorResponse { status, headers, body, watched });
        }
        if matches!(head.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Reply::Accepted(body);
        }
        if let Some(coding) = foreign_coding(&head.headers) {
            let text =
                format!("the response has the content coding `{coding}`, which was not requested");
            return Reply::Unreadable(TransportError::Framing(text));
        }
        match media_type(&head.headers).as_str() {
            "application/json" => Reply::Json(body, watched),
            "text/event-stream" => match watched.events() {
                Ok(stream) => Reply::Events(body, stream),
                Err(error) => Reply::Unreadable(error),
            },
            other => {
                let text = format!("status {} with content type `{other}`", head.status.as_u16());
                Reply::Unreadable(TransportError::Framing(text))
            }
        }
    }
}

impl ErrorResponse {
    /// The body if it may be a message, and the error to report.
    pub(super) async fn read(self, limit: usize) -> (Option<Arrived>, TransportError) {
        let status = self.status.as_u16();
        if self.status.is_redirection() {
            let target = self.headers.get(LOCATION).map(|target| shown(target.as_bytes()));
            let body = match target {
                Some(target) => format!("redirects to {target}, which is not followed"),
                None => String::new(),
            };
            return (None, TransportError::Status { status, body });
        }
        let readable = foreign_coding(&self.headers).is_none();
        // For 401 and 403 the status is enough; the body need not be a message.
        let is_barred = matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        if readable && !is_barred && media_type(&self.headers) == "application/json" {
            return match read_whole(self.body, limit).await {
                Ok(bytes) => {
                    let body = shown(&bytes);
                    let is_empty = bytes.is_empty();
                    // A refusal remains one, even if the watch blocks it.
                    let message = self.watched.body(bytes).ok().filter(|_| !is_empty);
                    (message, TransportError::Status { status, body })
                }
                Err(error) => {
                    let body = error.to_string();
                    (None, TransportError::Status { status, body })
                }
            };
        }
        let body = if readable { read_excerpt(self.body).await } else { String::new() };
        (None, TransportError::Status { status, body })
    }
}

/// The whole body, if it is not longer than `limit`.
pub(super) async fn read_whole(mut body: Incoming, limit: usize) -> Result<Bytes, TransportError> {
    let too_long = |length: u64| TransportError::TooLong { length, limit: limit as u64 };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_long(body.size_hint().lower()));
    }
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| TransportError::Lost(chain(&error)))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = first.len() + whole.len() + data.len();
        if length > limit {
            return Err(too_long(length as u64));
        }
        if first.is_empty() && whole.is_empty() {
            // Most bodies arrive in one piece, which need not be copied.
            first = data;
            continue;
        }
        if whole.is_empty() {
            let expected = usize::try_from(body.size_hint().lower()).unwrap_or(0);
            whole.reserve((length + expected).min(limit));
            whole.extend_from_slice(&std::mem::take(&mut first));
        }
        whole.extend_from_slice(&data);
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}

/// Lets the connection be reused if the rest is short and of known length.
pub(super) async fn drain(body: Incoming) {
    let known = body.size_hint().exact().is_some_and(|length| length <= SHOWN_BYTES as u64);
    if known && !body.is_end_stream() {
        let _ = read_excerpt(body).await;
    }
}

async fn read_excerpt(mut body: Incoming) -> String {
    let mut start = BytesMut::new();
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            if let Ok(data) = frame.into_data() {
                let room = SHOWN_BYTES.saturating_sub(start.len());
                start.extend(data.iter().take(room));
            }
            if start.len() >= SHOWN_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(SHOWN_WAIT, reading).await;
    shown(&start)
}

fn shown(bytes: &[u8]) -> String {
    let start = bytes.get(..SHOWN_BYTES).unwrap_or(bytes);
    let text = String::from_utf8_lossy(start);
    let text = text.trim();
    if text.starts_with('<') {
        return gist(text);
    }
    text.chars().take(SHOWN_CHARS).collect()
}

/// A web page in one short line: its title, if it has one.
fn gist(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|start| {
        let start = start + lower.get(start..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find('<')?;
        page.get(start..end)
    });
    let words: Vec<&str> = title.unwrap_or_default().split_whitespace().collect();
    if words.is_empty() {
        return "a web page".to_owned();
    }
    let title: String = words.join(" ").chars().take(SHOWN_OF_PAGE).collect();
    format!("a web page, {title:?}")
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    String::from_utf8_lossy(essence.trim_ascii()).to_ascii_lowercase()
}

fn foreign_coding(headers: &HeaderMap) -> Option<String> {
    let coding = headers.get(CONTENT_ENCODING)?;
    let coding = String::from_utf8_lossy(coding.as_bytes()).trim().to_ascii_lowercase();
    Some(coding).filter(|coding| !coding.is_empty() && coding != "identity")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_for_people_is_shown_in_one_short_line() {
        let page = b"<!DOCTYPE html>\n<html><head><title>502\n Bad Gateway</title></head><body>x";
        assert_eq!(shown(page), "a web page, \"502 Bad Gateway\"");
        assert_eq!(shown(b"<p>no</p>"), "a web page");
        assert_eq!(shown(b" plain text "), "plain text");
    }
}
