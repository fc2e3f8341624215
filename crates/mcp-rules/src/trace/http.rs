//! The `http` member of a record.

use std::borrow::Cow;

use mcp_core::Side;
use mcp_json::{Fingerprint, Node};

use super::{RecordFault, reader::read_base64};
use crate::{
    Headers, HttpEvent, HttpPart, SseEvent,
    http::{HeaderName, is_media_type},
};

const EXCHANGE: Fingerprint = Fingerprint::of("exchange");
const HEADERS: Fingerprint = Fingerprint::of("headers");
const METHOD: Fingerprint = Fingerprint::of("method");
const URL: Fingerprint = Fingerprint::of("url");
const STATUS: Fingerprint = Fingerprint::of("status");
const SSE: Fingerprint = Fingerprint::of("sse");
const BODY: Fingerprint = Fingerprint::of("body");
const BODY_BASE64: Fingerprint = Fingerprint::of("bodyBase64");
const END: Fingerprint = Fingerprint::of("end");

/// The HTTP details of a record.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HttpRecord<'a> {
    /// The number shared by a request and its response.
    pub exchange: Option<u64>,
    /// The method of a request.
    pub method: Option<Cow<'a, str>>,
    /// The URL of a request; empty if not recorded.
    pub url: Cow<'a, str>,
    /// The headers of a request or response.
    pub headers: Headers<'a>,
    /// The status of a response.
    pub status: Option<u16>,
    /// An event of a stream.
    pub sse: Option<SseRecord<'a>>,
    /// The text of a body that is not a message.
    pub body: Option<Cow<'a, [u8]>>,
    /// Whether the stream ends here.
    pub ends: bool,
}

/// An event of a stream in a record.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SseRecord<'a> {
    /// `id`.
    pub id: Option<Cow<'a, str>>,
    /// `event`.
    pub event: Option<Cow<'a, str>>,
    /// `data`.
    pub data: Option<Cow<'a, [u8]>>,
    /// `retry`. A value that is not a number means no wait.
    pub retry: Option<u64>,
}

impl<'a> HttpRecord<'a> {
    pub(super) fn read(http: Node<'a>) -> Result<HttpRecord<'a>, RecordFault> {
        let mut record = HttpRecord { headers: Headers::unrecorded(), ..HttpRecord::default() };
        for (name, value) in http.members() {
            match name.fingerprint() {
                EXCHANGE if name.str_eq("exchange") && !value.is_null() => {
                    let number = value.as_u64().ok_or(RecordFault::ExchangeInvalid)?;
                    record.exchange = Some(number);
                }
                HEADERS if name.str_eq("headers") && !value.is_null() => {
                    record.headers = read_headers(value)?;
                }
                METHOD if name.str_eq("method") => record.method = value.as_str(),
                URL if name.str_eq("url") => record.url = value.as_str().unwrap_or_default(),
                STATUS if name.str_eq("status") => {
                    record.status = value.as_u64().and_then(|status| status.try_into().ok());
                }
                SSE if name.str_eq("sse") => record.sse = Some(SseRecord::read(value)),
                BODY if name.str_eq("body") => record.body = value.str_bytes(),
                BODY_BASE64 if name.str_eq("bodyBase64") => {
                    record.body = Some(Cow::Owned(read_base64("bodyBase64", value)?));
                }
                END if name.str_eq("end") => record.ends = value.as_bool() == Some(true),
                _ => {}
            }
        }
        Ok(record)
    }

    /// The part that the line shows, other than the end of a stream.
    pub(crate) fn part(&self) -> Option<HttpPart<'_>> {
        let headers = &self.headers;
        Some(match (&self.method, self.status, &self.sse) {
            (Some(method), _, _) => HttpPart::Request { method, url: &self.url, headers },
            (None, _, Some(sse)) => HttpPart::Event(sse.event()),
            (None, Some(status), None) => HttpPart::Response { status, headers },
            (None, None, None) => return None,
        })
    }

    /// The observation that was recorded, as far as this member shows it. `None` if the line
    /// belongs to no exchange.
    pub(crate) fn event(&self, from: Side) -> Option<HttpEvent<'_>> {
        let mut event = HttpEvent::new(self.exchange?, from, self.part().unwrap_or(HttpPart::End));
        event.body = self.body.as_deref();
        Some(event)
    }

    /// Whether there is a body declared as JSON.
    pub(super) fn has_json_body(&self) -> bool {
        let content_type = self.headers.values(HeaderName::ContentType).next();
        content_type.is_some_and(|kind| is_media_type(kind, "application/json"))
            && self.body.as_ref().is_some_and(|body| !body.is_empty())
    }
}

impl<'a> SseRecord<'a> {
    fn read(sse: Node<'a>) -> SseRecord<'a> {
        let mut record = SseRecord::default();
        for (name, value) in sse.members() {
            let Some(name) = name.str_bytes() else { continue };
            match &*name {
                b"id" => record.id = value.as_str(),
                b"event" => record.event = value.as_str(),
                b"data" => record.data = value.str_bytes(),
                b"retry" => record.retry = Some(value.as_u64().unwrap_or(0)),
                _ => {}
            }
        }
        record
    }

    fn event(&self) -> SseEvent<'_> {
        SseEvent {
            id: self.id.as_deref(),
            event: self.event.as_deref(),
            data: self.data.as_deref(),
            retry: self.retry,
        }
    }
}

fn read_headers(headers: Node<'_>) -> Result<Headers<'_>, RecordFault> {
    if headers.is_object() {
        Ok(Headers::recorded(headers))
    } else {
        Err(RecordFault::HeadersInvalid)
    }
}
