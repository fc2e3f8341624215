//! Responses as event streams.

use std::{
    convert::Infallible,
    fmt::Write as _,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use mcp_core::Side;
use mcp_rules::{HttpEvent, HttpPart, SseEvent, TraceEntry};
use tokio::sync::mpsc;

use crate::client::{act::Act, play::Play};

/// Reconnection time for the client, in milliseconds.
const RETRY: u64 = 100;

/// The event stream of one response.
#[derive(Debug)]
pub(crate) struct EventStream {
    exchange: u64,
    sender: Option<mpsc::Sender<Bytes>>,
}

/// The body of an event stream.
#[derive(Debug)]
pub(super) struct EventBody(mpsc::Receiver<Bytes>);

impl EventStream {
    pub(super) fn new(play: &Arc<Play>, exchange: u64) -> (EventStream, EventBody) {
        let (sender, receiver) = mpsc::channel(64);
        play.touch();
        (EventStream { exchange, sender: Some(sender) }, EventBody(receiver))
    }

    /// Sends what precedes messages. False if the stream ends there.
    pub(super) async fn begin(&mut self, play: &Play, acts: &[Act]) -> bool {
        if play.scenario.manner.is_ornate {
            self.write(": a comment\r\n\r\nretry: 3000\r\n\r\n").await;
        }
        let owes = acts.iter().find_map(|act| match act {
            Act::Owe(message) => Some(message.clone()),
            _ => None,
        });
        if owes.is_none() && !play.scenario.manner.primes {
            return true;
        }
        let id = next_id(play);
        self.write(&format!("id: {id}\nretry: {RETRY}\ndata: \n\n")).await;
        let primed = SseEvent { id: Some(&id), event: None, data: Some(b""), retry: Some(RETRY) };
        self.record(play, primed, b"");
        let goes_on = owes.is_none();
        play.state().http.owed = owes.map(|message| (id, message));
        goes_on
    }

    /// Sends texts as events, `piece` bytes at a time.
    pub(crate) async fn send(&mut self, play: &Play, texts: &[String], piece: usize) -> u64 {
        let has_ids = play.scenario.manner.primes;
        let mut bytes = String::new();
        let mut line = 0;
        for text in texts {
            let id = has_ids.then(|| next_id(play));
            let is_ornate = play.scenario.manner.is_ornate;
            bytes +=
                &if is_ornate { ornate(text, id.as_deref()) } else { plain(text, id.as_deref()) };
            let name = is_ornate.then_some("message");
            let event = SseEvent { id: id.as_deref(), event: name, data: None, retry: None };
            line = self.record(play, event, text.as_bytes());
        }
        for part in bytes.as_bytes().chunks(piece) {
            self.write_bytes(Bytes::copy_from_slice(part)).await;
        }
        line
    }

    /// Ends the stream.
    pub(super) fn end(&mut self, play: &Play) {
        if self.sender.take().is_some() {
            let end = HttpEvent::new(self.exchange, Side::Server, HttpPart::End);
            play.recording.add(&TraceEntry::http(end));
            play.touch();
        }
    }

    fn record(&self, play: &Play, event: SseEvent<'_>, data: &[u8]) -> u64 {
        let event = HttpEvent::new(self.exchange, Side::Server, HttpPart::Event(event));
        play.recording.add_http(event, data, !data.is_empty())
    }

    async fn write(&self, text: &str) {
        self.write_bytes(Bytes::copy_from_slice(text.as_bytes())).await;
    }

    async fn write_bytes(&self, bytes: Bytes) {
        if let Some(sender) = &self.sender {
            // Nothing to do if the client is gone.
            let _ = sender.send(bytes).await;
        }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn next_id(play: &Play) -> String {
    let mut state = play.state();
    state.http.events += 1;
    format!("event-{}", state.http.events)
}

fn plain(text: &str, id: Option<&str>) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}data: {text}\n\n")
}

/// Uses every feature of the format: a comment, an unknown field, data over several lines, no space
/// after a colon, carriage returns.
fn ornate(text: &str, id: Option<&str>) -> String {
    let mut event = String::from(":keep-alive\r\nevent: message\r\nflavour: plain\r\n");
    if let Some(id) = id {
        let _ = write!(event, "id:{id}\r\n");
    }
    // JSON allows white space after a comma between members.
    let (first, rest) = text.split_once(',').unwrap_or((text, ""));
    if rest.is_empty() {
        let _ = write!(event, "data:{first}\r\n\r\n");
    } else {
        let _ = write!(event, "data:{first},\r\ndata: {rest}\r\n\r\n");
    }
    event
}
