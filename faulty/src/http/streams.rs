//! Bodies: a single message, or an event stream that can be read from any position.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;

use super::{Answer, page};
use crate::{faults::Fault, outbox::MessageLog, server::Faults};

/// A reader of a stream.
pub(super) struct Reading {
    pub(super) log: Arc<MessageLog>,
    /// The number of the stream in its session.
    pub(super) number: usize,
    pub(super) from: usize,
    /// The id of an initial event without data.
    pub(super) primed: Option<String>,
    pub(super) is_stateless: bool,
    pub(super) faults: Faults,
    /// Called when the reader is gone; the argument tells whether that is before the end.
    pub(super) gone: Option<Gone>,
}

pub(super) type Gone = Box<dyn FnOnce(bool) + Send>;

impl Drop for Reading {
    fn drop(&mut self) {
        let state = *self.log.watch().borrow();
        if let Some(gone) = self.gone.take() {
            gone(!state.ended || self.from < state.length);
        }
    }
}

/// A body with the first message.
pub(super) fn json(log: &MessageLog, status: StatusCode, faults: Faults) -> Answer {
    let kind =
        if faults.has(Fault::HttpContentTypeWrong) { "text/plain" } else { "application/json" };
    let mut answer = page(status, kind, &log.get(0).unwrap_or_default());
    if faults.has(Fault::HttpSessionInStateless) {
        answer
            .headers_mut()
            .insert("mcp-session-id", HeaderValue::from_static("a-session-of-its-own"));
    }
    answer
}

/// A stream of events.
pub(super) fn events(mut reading: Reading) -> Answer {
    let (faults, is_stateless) = (reading.faults, reading.is_stateless);
    let repeats = faults.has(Fault::HttpEventIdsRepeat);
    let primed = reading.primed.take().map(|id| {
        let id = if repeats { "1-0".to_owned() } else { id };
        Ok::<_, Infallible>(Frame::data(Bytes::from(format!("id: {id}\ndata: \n\n"))))
    });
    let rest = stream::unfold(reading, |mut reading| async move {
        let mut state = reading.log.watch();
        let from = reading.from;
        // The log outlives its readers, so the wait cannot fail.
        let _ = state.wait_for(|state| state.length > from || state.ended).await;
        let text = reading.log.get(from)?;
        let is_answer = text.contains("\"result\":") || text.contains("\"error\":");
        if reading.faults.has(Fault::HttpStreamCut) && is_answer {
            return None;
        }
        reading.from += 1;
        let event = reading.event(&text);
        Some((Ok(Frame::data(Bytes::from(event))), reading))
    });
    let body = StreamBody::new(futures_util::StreamExt::chain(stream::iter(primed), rest));
    let mut answer = Response::new(body.boxed_unsync());
    let headers = answer.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("text/event-stream"));
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    if is_stateless && !faults.has(Fault::HttpBufferingUnset) {
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    }
    answer
}

/// The stream and the position after an event.
pub(super) fn place(id: &str) -> Option<(usize, usize)> {
    let mut parts = id.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

impl Reading {
    /// The id of the event after `after` messages.
    fn id(&self, after: usize) -> String {
        let number = if self.faults.has(Fault::HttpEventIdsRepeat) { 1 } else { self.number };
        format!("{number}-{after}")
    }

    fn event(&self, text: &str) -> String {
        if self.faults.has(Fault::HttpSseBroken) {
            return format!("{text}\n\n");
        }
        let named = !self.is_stateless || self.faults.has(Fault::HttpEventIdInStateless);
        let id = if named { format!("id: {}\n", self.id(self.from)) } else { String::new() };
        let stranger = if self.faults.has(Fault::HttpStreamStranger) {
            "data: {\"jsonrpc\":\"2.0\",\"id\":\"somebody-elses\",\"result\":{}}\n\n"
        } else {
            ""
        };
        format!("{stranger}{id}data: {text}\n\n")
    }
}
