//! Watching HTTP traffic: the headers and streams around the messages.

use std::{any::Any, fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, request::Parts};
use mcp_core::{Refusal, Side};
use mcp_json::Parsed;

/// Sees the HTTP traffic of one conversation.
///
/// A request and everything that answers it share the number of their exchange. Through [`Any`], a
/// watch can be downcast to the type that implements it.
pub trait HttpWatch: Any + fmt::Debug + Send + Sync {
    /// Parses a received text; `None` if it is not JSON. It is passed on in this form, so that nothing
    /// parses it again.
    fn parse(&self, text: &Bytes) -> Option<Parsed>;

    /// A request, with its body.
    ///
    /// # Errors
    ///
    /// Why it is blocked. A client's own requests are already sent by then.
    fn request(
        &self,
        exchange: u64,
        head: &Parts,
        body: WatchedBody<'_>,
    ) -> Result<Passed, Blocked>;

    /// A response: its head, and its body unless that is an event stream.
    ///
    /// # Errors
    ///
    /// Why it is blocked. A server's own responses are already sent by then.
    fn response(
        &self,
        exchange: u64,
        status: StatusCode,
        headers: &HeaderMap,
        body: WatchedBody<'_>,
    ) -> Result<Passed, Blocked>;

    /// An event of a stream.
    ///
    /// # Errors
    ///
    /// As for [`HttpWatch::response`].
    fn event(&self, exchange: u64, event: WatchedEvent<'_>) -> Result<Passed, Blocked>;

    /// The end of a stream, closed by this side.
    fn end(&self, exchange: u64, by: Side);
}

/// The body of a request or response, or the data of an event.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to see")]
pub enum WatchedBody<'a> {
    /// There is none, or it was not read.
    Nothing,
    /// Text that is not parsed.
    Text(&'a Bytes),
    /// A message that is already parsed.
    Parsed(&'a Parsed),
}

impl<'a> WatchedBody<'a> {
    pub(crate) fn new(text: &'a Bytes, parsed: Option<&'a Parsed>) -> WatchedBody<'a> {
        match parsed {
            Some(parsed) => WatchedBody::Parsed(parsed),
            None if text.is_empty() => WatchedBody::Nothing,
            None => WatchedBody::Text(text),
        }
    }
}

/// An event of a stream.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "event streams have these fields")]
pub struct WatchedEvent<'a> {
    /// `id`.
    pub id: Option<&'a str>,
    /// `event`: its name.
    pub name: Option<&'a str>,
    /// `retry`, in milliseconds.
    pub retry: Option<u64>,
    /// `data`; empty text if the event has an empty one.
    pub data: WatchedBody<'a>,
}

/// The verdict on something that may pass.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::exhaustive_structs, reason = "watches build it")]
pub struct Passed {
    /// The verdict on the message in it, if that was judged too. Even a rejected message is passed
    /// to the conversation, which answers it.
    pub refusals: Option<Vec<Refusal>>,
}

/// Why something may not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "watches build it")]
pub struct Blocked {
    /// One sentence.
    pub message: String,
    /// The body of a response that reports this, `application/json`.
    pub body: Bytes,
}

/// Makes a watch for each conversation.
#[derive(Clone)]
pub struct WatchFactory(Arc<dyn Fn() -> Arc<dyn HttpWatch> + Send + Sync>);

impl WatchFactory {
    /// Calls `make` for each conversation.
    pub fn new(make: impl Fn() -> Arc<dyn HttpWatch> + Send + Sync + 'static) -> WatchFactory {
        WatchFactory(Arc::new(make))
    }

    pub(crate) fn make(&self) -> Arc<dyn HttpWatch> {
        (self.0)()
    }
}

impl fmt::Debug for WatchFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WatchFactory")
    }
}

/// One exchange of a watched conversation.
#[derive(Debug, Clone)]
pub(crate) struct WatchedExchange {
    watch: Arc<dyn HttpWatch>,
    number: u64,
}

impl WatchedExchange {
    pub(crate) fn new(watch: Arc<dyn HttpWatch>, number: u64) -> WatchedExchange {
        WatchedExchange { watch, number }
    }

    pub(crate) fn parse(&self, text: &Bytes) -> Option<Parsed> {
        self.watch.parse(text)
    }

    pub(crate) fn request(&self, head: &Parts, body: WatchedBody<'_>) -> Result<Passed, Blocked> {
        self.watch.request(self.number, head, body)
    }

    pub(crate) fn response(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: WatchedBody<'_>,
    ) -> Result<Passed, Blocked> {
        self.watch.response(self.number, status, headers, body)
    }

    pub(crate) fn event(&self, event: WatchedEvent<'_>) -> Result<Passed, Blocked> {
        self.watch.event(self.number, event)
    }

    pub(crate) fn end(&self, by: Side) {
        self.watch.end(self.number, by);
    }
}
