//! Reads the relevant parts of a HAR 1.2 capture.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_json::Node;
use mcp_rules::{Headers, rfc3339_millis};

/// A request and its response.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    pub(super) started: Option<Cow<'a, str>>,
    /// When it started, in milliseconds since 1970, and how long it took.
    pub(super) start: Option<f64>,
    pub(super) time: f64,
    pub(super) method: Cow<'a, str>,
    pub(super) url: Cow<'a, str>,
    pub(super) request: Part<'a>,
    /// 0 if there was no response.
    pub(super) status: u16,
    pub(super) response: Part<'a>,
}

/// Headers and body of one direction.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) headers: Headers<'a>,
    pub(super) body: Cow<'a, [u8]>,
    /// The media type that the capture gives for the body, in case headers are missing.
    kind: Option<Cow<'a, str>>,
    /// Byte offset in the capture.
    pub(super) offset: usize,
}

impl<'a> Exchange<'a> {
    /// Reads an entry; `None` if it is not one.
    pub(super) fn of(entry: Node<'a>) -> Option<Exchange<'a>> {
        let (request, response) = (entry.get("request")?, entry.get("response"));
        let started = entry.get("startedDateTime").and_then(Node::as_str);
        let millis = started.as_ref().and_then(|text| rfc3339_millis(text.as_bytes()));
        let time = entry.get("time").and_then(Node::as_f64).filter(|time| *time > 0.0);
        let status = response.and_then(|response| response.get("status")).and_then(Node::as_u64);
        Some(Exchange {
            started,
            #[expect(clippy::cast_precision_loss, reason = "exact for the next 200,000 years")]
            start: millis.map(|millis| millis as f64),
            time: time.unwrap_or_default(),
            method: request.get("method").and_then(Node::as_str)?,
            url: request.get("url").and_then(Node::as_str)?,
            request: Part::of(request, request.get("postData")),
            status: status.and_then(|status| status.try_into().ok()).unwrap_or_default(),
            response: match response {
                Some(response) => Part::of(response, response.get("content")),
                None => Part::nothing(entry),
            },
        })
    }

    /// The URL without query and fragment.
    pub(super) fn endpoint(&self) -> &str {
        self.url.split(['?', '#']).next().unwrap_or_default()
    }
}

impl<'a> Part<'a> {
    fn of(part: Node<'a>, content: Option<Node<'a>>) -> Part<'a> {
        let text = content.and_then(|content| content.get("text"));
        let encoding = content.and_then(|content| content.get("encoding"));
        let body = text.and_then(Node::str_bytes).unwrap_or_default();
        let body = match encoding {
            Some(encoding) if encoding.str_eq("base64") => {
                BASE64_STANDARD.decode(&body).map_or(body, Cow::Owned)
            }
            _ => body,
        };
        let kind = content.and_then(|content| content.get("mimeType")).and_then(Node::as_str);
        let offset = text.unwrap_or(part).span().start;
        Part { headers: headers_of(part), body, kind, offset }
    }

    fn nothing(entry: Node<'a>) -> Part<'a> {
        let (headers, body) = (Headers::unrecorded(), Cow::default());
        Part { headers, body, kind: None, offset: entry.span().start }
    }

    /// Whether the body is declared to be of that type.
    pub(super) fn is_of_type(&self, wanted: &str) -> bool {
        let header = self.headers.get("content-type");
        let unseen = || self.kind.clone().filter(|_| !self.headers.are_recorded());
        let kind = header.or_else(unseen).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case(wanted)
    }
}

/// Browsers omit headers that they did not see, so an empty list counts as not recorded.
fn headers_of(part: Node<'_>) -> Headers<'_> {
    let mut headers = Headers::new();
    let mut is_empty = true;
    for header in part.get("headers").into_iter().flat_map(Node::elements) {
        let field = |name| header.get(name).and_then(Node::as_str);
        if let (Some(name), Some(value)) = (field("name"), field("value")) {
            is_empty = false;
            // HTTP/2 has the request line among its headers.
            if !name.starts_with(':') {
                headers.push(name, value);
            }
        }
    }
    if is_empty { Headers::unrecorded() } else { headers }
}
