use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use mcp_core::MemoryBudget;
use mcp_json::Parsed;

use super::{HttpFault, stream::EventStream, unread::until_read};
use crate::http::watch::{WatchedBody, WatchedExchange};

/// The body of a response.
#[derive(Debug)]
pub struct ResponseBody(Content);

#[derive(Debug)]
enum Content {
    Whole { text: Bytes, message: Option<Parsed> },
    Events(Box<EventStream>),
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) fn json(status: StatusCode, body: Bytes) -> Response<ResponseBody> {
    message(status, body, None)
}

/// A response with a message, which may still be parsed.
pub(super) fn message(
    status: StatusCode,
    text: Bytes,
    message: Option<Parsed>,
) -> Response<ResponseBody> {
    let mut response = empty(status);
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    *response.body_mut() = ResponseBody(Content::Whole { text, message });
    response
}

/// Shows a response to the watch, and all events that follow if it is a stream.
pub(super) fn watch(response: &mut Response<ResponseBody>, watched: WatchedExchange) {
    let body = match &response.body().0 {
        Content::Whole { text, message } => WatchedBody::new(text, message.as_ref()),
        Content::Events(_) => WatchedBody::Nothing,
    };
    // It is sent in any case.
    let _ = watched.response(response.status(), response.headers(), body);
    match &mut response.body_mut().0 {
        Content::Whole { message, .. } => *message = None,
        Content::Events(stream) => stream.watched(watched),
    }
}

/// Counts the body as unread until it is written.
pub(super) fn hold(
    mut response: Response<ResponseBody>,
    budget: &MemoryBudget,
) -> Result<Response<ResponseBody>, HttpFault> {
    match &mut response.body_mut().0 {
        Content::Whole { text, .. } => {
            let held = until_read(std::mem::take(text), budget);
            *text = held.ok_or(HttpFault::TooManyUnread)?;
        }
        Content::Events(stream) => {
            if !stream.count_in(budget) {
                return Err(HttpFault::TooManyUnread);
            }
        }
    }
    Ok(response)
}

pub(super) fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response =
        Response::new(ResponseBody(Content::Whole { text: Bytes::new(), message: None }));
    *response.status_mut() = status;
    response
}

pub(super) fn events(stream: EventStream) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody(Content::Events(Box::new(stream))));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            Content::Whole { text, .. } if text.is_empty() => None,
            Content::Whole { text, .. } => Some(std::mem::take(text)),
            Content::Events(stream) => std::task::ready!(stream.poll_bytes(context)),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Content::Whole { text, .. } if text.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole { text, .. } => SizeHint::with_exact(text.len() as u64),
            Content::Events(_) => SizeHint::default(),
        }
    }
}
