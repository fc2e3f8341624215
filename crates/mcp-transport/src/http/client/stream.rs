//! One stream of events, over as many connections as needed.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use mcp_core::{Ticket, TransportError};

use super::{
    endpoint::chain,
    inbox::{Abandoned, Inbox, Skipped},
    watched::WatchedStream,
};
use crate::http::sse::{Decoded, Decoder};

#[derive(Debug)]
pub(super) struct Stream {
    decoder: Decoder,
    ticket: Option<Ticket>,
}

/// How a connection ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Why it broke; `None` if the server ended it.
    pub(super) broken: Option<TransportError>,
    /// Whether any event arrived, even one without data.
    pub(super) events: bool,
    /// The length of an event that was too long, if there was one.
    pub(super) skipped: Option<u64>,
    /// Why an event was blocked, if one was.
    pub(super) blocked: Option<TransportError>,
}

impl Stream {
    pub(super) fn new(ticket: Option<Ticket>, max_message: usize) -> Stream {
        Stream { decoder: Decoder::new(max_message), ticket }
    }

    /// Puts the events of a connection into the inbox until it ends.
    pub(super) async fn read(
        &mut self,
        (mut body, mut watched): (Incoming, WatchedStream),
        inbox: &Inbox,
    ) -> Result<Ended, Abandoned> {
        self.decoder.restart();
        let mut ended = Ended::default();
        while let Some(frame) = body.frame().await {
            match frame.map(http_body::Frame::into_data) {
                Ok(Ok(chunk)) => self.take(chunk, &watched, inbox, &mut ended).await?,
                Ok(Err(_trailers)) => {}
                Err(error) => {
                    ended.broken = Some(TransportError::Lost(chain(&error)));
                    break;
                }
            }
            if ended.blocked.is_some() {
                return Ok(ended);
            }
        }
        watched.ended();
        Ok(ended)
    }

    async fn take(
        &mut self,
        chunk: Bytes,
        watched: &WatchedStream,
        inbox: &Inbox,
        ended: &mut Ended,
    ) -> Result<(), Abandoned> {
        self.decoder.push(chunk);
        while let Some(decoded) = self.decoder.next_event() {
            ended.events = true;
            match decoded {
                Decoded::Event(event) => {
                    let is_empty = event.data.is_empty();
                    match watched.event(event) {
                        Ok(_) if is_empty => {}
                        Ok(message) => inbox.message(self.ticket, message).await?,
                        Err(error) => {
                            ended.blocked = Some(error);
                            return Ok(());
                        }
                    }
                }
                Decoded::Skipped { length, ends } => {
                    ended.skipped = Some(length);
                    let limit = self.decoder.limit() as u64;
                    inbox.skipped(self.ticket, Skipped { length, limit, ends }).await?;
                }
            }
        }
        Ok(())
    }

    /// Where to resume, if the server has said so and the id can be sent in a header.
    pub(super) fn last_id(&self) -> Option<HeaderValue> {
        HeaderValue::from_bytes(self.decoder.last_id()?).ok()
    }

    /// How long the server wants the client to wait.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.decoder.retry()
    }
}
