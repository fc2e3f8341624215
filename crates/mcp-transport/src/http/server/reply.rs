use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};

use super::stream::EventStream;

/// The body of a response.
#[derive(Debug)]
pub struct ResponseBody(Content);

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Events(Box<EventStream>),
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) fn json(status: StatusCode, body: Bytes) -> Response<ResponseBody> {
    let mut response = empty(status);
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    *response.body_mut() = ResponseBody(Content::Whole(body));
    response
}

pub(super) fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody(Content::Whole(Bytes::new())));
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
            Content::Whole(bytes) if bytes.is_empty() => None,
            Content::Whole(bytes) => Some(std::mem::take(bytes)),
            Content::Events(stream) => std::task::ready!(stream.poll_next(context)),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Events(_) => SizeHint::default(),
        }
    }
}
