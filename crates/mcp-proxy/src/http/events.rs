//! Event streams: observed as they pass, or judged event by event.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use mcp_core::{BoxFuture, MemoryShare, MessageEnds, Side};
use mcp_jsonrpc::{ErrorCode, JsonRpcId};
use mcp_transport::http::sse::{self, Decoded, Decoder};

use super::{
    body::BoxError,
    encoding::{Encoding, StreamDecoder},
    exchange::Exchange,
    tee::{End, Watch},
    upstream::CROWDED_OUT,
};
use crate::{
    Verdict,
    bridge::{overlong, text::failure},
    respond::Replacement,
    tap::{Event, Judgement, Part},
};

/// Observes an event stream that is being forwarded.
#[derive(Debug)]
pub(super) struct PassingEvents {
    seen: SeenEvents,
    text: Text,
}

/// How to read the text of a stream.
#[derive(Debug)]
enum Text {
    Plain,
    Compressed(Box<StreamDecoder>),
    /// It could not be decoded.
    Unreadable,
}

impl PassingEvents {
    pub(super) fn new(exchange: Exchange, encoding: Option<Encoding>) -> PassingEvents {
        let text = match encoding {
            Some(encoding) => Text::Compressed(Box::new(StreamDecoder::new(encoding))),
            None => Text::Plain,
        };
        PassingEvents { seen: SeenEvents::new(exchange), text }
    }
}

impl Watch for PassingEvents {
    fn data(&mut self, data: &Bytes) {
        let PassingEvents { seen, text } = self;
        let stream = match text {
            Text::Plain => return seen.take(data.clone()),
            Text::Compressed(stream) => stream,
            Text::Unreadable => return,
        };
        if let Err(error) = stream.push(data, |text| seen.take(text)) {
            tracing::warn!(?error, "the rest of an event stream cannot be decoded or judged");
            *text = Text::Unreadable;
        }
    }

    fn end(&mut self, end: End) {
        self.seen.exchange.observe_end(end);
    }
}

/// Parses the events in a text, as far as there is memory for them.
#[derive(Debug)]
struct SeenEvents {
    exchange: Exchange,
    decoder: Decoder,
    held: MemoryShare,
    /// Whether the current event is not kept, for lack of memory.
    crowded_out: bool,
}

impl SeenEvents {
    fn new(exchange: Exchange) -> SeenEvents {
        let (decoder, held) = (Decoder::new(exchange.limit()), exchange.room().share());
        SeenEvents { exchange, decoder, held, crowded_out: false }
    }

    fn take(&mut self, text: Bytes) {
        self.decoder.push(text);
        while let Some(decoded) = self.decoder.next_event() {
            let crowded_out = std::mem::take(&mut self.crowded_out);
            match decoded {
                Decoded::Event(event) => {
                    let (event, data) = split(event);
                    self.exchange.observe_event(event, data);
                }
                Decoded::Skipped { .. } if crowded_out => {
                    self.exchange.lose(Side::Server, Part::Event(Event::default()));
                }
                Decoded::Skipped { length, .. } => self.exchange.observe_overlong_event(length),
            }
        }
        if !resize(&mut self.held, self.decoder.held()) {
            self.decoder.skip_event();
            self.held.clear();
            self.crowded_out = true;
        }
    }
}

/// Resizes a share to `needed` bytes; `false` if there is too little memory.
fn resize(held: &mut MemoryShare, needed: usize) -> bool {
    if let Some(more) = needed.checked_sub(held.bytes()) {
        return held.grow(more);
    }
    held.shrink(held.bytes() - needed);
    true
}

fn split(event: sse::Event) -> (Event, Bytes) {
    let sse::Event { event, data, id, retry } = event;
    let retry = retry.map(|retry| u64::try_from(retry.as_millis()).unwrap_or(u64::MAX));
    (Event { id, name: event, retry }, data)
}

/// An event with a message of the proxy.
pub(super) fn event_with(data: Bytes) -> Bytes {
    let mut out = BytesMut::new();
    sse::Event { event: None, data, id: None, retry: None }.encode(&mut out);
    out.freeze()
}

/// An event stream whose events are judged before they pass.
pub(super) struct JudgedEvents<B> {
    body: B,
    exchange: Exchange,
    /// The request that the stream answers, if it is a single one.
    asked: Option<JsonRpcId>,
    blocks: Blocks,
    judging: Option<Judging>,
    /// Events that may pass, not yet sent.
    ready: VecDeque<Bytes>,
    held: MemoryShare,
    ended: bool,
}

/// An event that waits for its verdict.
struct Judging {
    block: Bytes,
    event: sse::Event,
    judgement: BoxFuture<'static, Judgement>,
}

impl<B> JudgedEvents<B> {
    pub(super) fn new(body: B, exchange: Exchange, asked: Option<JsonRpcId>) -> JudgedEvents<B> {
        let blocks = Blocks::new(exchange.limit());
        let (ready, held) = (VecDeque::new(), exchange.room().share());
        JudgedEvents { body, exchange, asked, blocks, judging: None, ready, held, ended: false }
    }

    fn take(&mut self, block: Block) {
        match block {
            Block::Whole(text) => self.judge(text),
            Block::TooLong { length, ends } => self.skip(length, &ends),
        }
    }

    fn judge(&mut self, block: Bytes) {
        let mut decoder = Decoder::new(self.exchange.limit());
        decoder.push(block.clone());
        let event = match decoder.next_event() {
            Some(Decoded::Event(event)) => event,
            Some(Decoded::Skipped { length, ends }) => return self.skip(length, &ends),
            // Comments and blank lines.
            None => return self.ready.push_back(block),
        };
        let exchange = self.exchange.clone();
        let (shown, data) = split(event.clone());
        let judgement = Box::pin(async move { exchange.judge_event(shown, data).await });
        self.judging = Some(Judging { block, event, judgement });
    }

    /// Drops an event beyond the limit, since it cannot be judged, and answers the request it is for.
    fn skip(&mut self, length: u64, ends: &MessageEnds) {
        self.exchange.observe_overlong_event(length);
        let Some(id) = overlong::id_of(ends).filter(|id| Some(id) == self.asked.as_ref()) else {
            return;
        };
        let limit = self.exchange.limit();
        let reason = format!("the answer has {length} bytes, more than the limit of {limit}");
        let answer = failure(Some(id), ErrorCode::InternalError, &reason);
        self.exchange.observe_own_event(answer.clone());
        self.ready.push_back(event_with(answer));
    }

    /// Passes an event or its replacement.
    fn pass(&mut self, block: Bytes, event: sse::Event, verdict: &Verdict) {
        if verdict.passes() {
            self.ready.push_back(block);
            return;
        }
        if let Some(rest) = Replacement::of(&event.data, verdict).to_receiver {
            let (shown, _) = split(event.clone());
            self.exchange.observe_replaced_event(shown, verdict, rest.clone());
            let mut out = BytesMut::new();
            sse::Event { data: rest, ..event }.encode(&mut out);
            self.ready.push_back(out.freeze());
        }
    }

    fn end(&mut self, end: End) {
        if !std::mem::replace(&mut self.ended, true) {
            self.exchange.observe_end(end);
        }
    }
}

impl<B> Body for JudgedEvents<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        loop {
            if let Some(bytes) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if let Some(judging) = &mut this.judging {
                let judgement = ready!(judging.judgement.as_mut().poll(context));
                let Some(Judging { block, event, .. }) = this.judging.take() else { continue };
                let Ok(verdict) = judgement else {
                    // The client can resume the stream once judging works again.
                    this.end(End::Broken);
                    return Poll::Ready(Some(Err("the session store is unavailable".into())));
                };
                this.pass(block, event, &verdict);
                continue;
            }
            if let Some(block) = this.blocks.next() {
                this.take(block);
                continue;
            }
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        this.blocks.push(&data);
                    }
                    // Everything else has been sent by now.
                    if !resize(&mut this.held, this.blocks.held()) {
                        // The client can resume the stream once there is memory again.
                        this.exchange.lose(Side::Server, Part::Event(Event::default()));
                        this.end(End::Broken);
                        return Poll::Ready(Some(Err(CROWDED_OUT.into())));
                    }
                }
                Some(Err(error)) => {
                    this.end(End::Broken);
                    return Poll::Ready(Some(Err(error.into())));
                }
                None => {
                    this.end(End::Complete);
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl<B> Drop for JudgedEvents<B> {
    fn drop(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.exchange.observe_end(End::Unread);
        }
    }
}

/// A block of an event stream, ending with a blank line.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    Whole(Bytes),
    /// An event that was too long to be kept.
    TooLong {
        length: u64,
        ends: MessageEnds,
    },
}

/// Splits an event stream after each blank line, and keeps every byte.
#[derive(Debug)]
struct Blocks {
    limit: usize,
    text: BytesMut,
    /// Bytes of the text scanned so far.
    seen: usize,
    /// Whether the current line is still empty.
    at_line_start: bool,
    /// Whether the last byte was a carriage return that ended a line.
    after_return: bool,
    /// The current block, if it is too long to be kept.
    overlong: Option<Overlong>,
}

/// The part received so far of a block that is too long to be kept.
#[derive(Debug)]
struct Overlong {
    length: u64,
    /// Finds the beginning and end of its data.
    decoder: Box<Decoder>,
}

impl Overlong {
    fn new(limit: usize) -> Overlong {
        Overlong { length: 0, decoder: Box::new(Decoder::new(limit)) }
    }

    fn push(&mut self, text: Bytes) -> Option<Decoded> {
        self.length += text.len() as u64;
        self.decoder.push(text);
        self.decoder.next_event()
    }

    /// Takes the rest; `None` if the block has only comments.
    fn finish(mut self, rest: Bytes) -> Option<Block> {
        let ends = match self.push(rest)? {
            Decoded::Skipped { ends, .. } => ends,
            Decoded::Event(event) => MessageEnds::of(&event.data),
        };
        Some(Block::TooLong { length: self.length, ends })
    }
}

impl Blocks {
    fn new(limit: usize) -> Blocks {
        Blocks {
            // Allow for field names and line breaks besides the data.
            limit: limit.saturating_add(1024),
            text: BytesMut::new(),
            seen: 0,
            at_line_start: true,
            after_return: false,
            overlong: None,
        }
    }

    fn push(&mut self, data: &Bytes) {
        self.text.extend_from_slice(data);
    }

    /// The next block, up to and including its blank line. A line feed that follows the carriage
    /// return of a blank line begins the next block.
    fn next(&mut self) -> Option<Block> {
        while let Some(byte) = self.text.get(self.seen) {
            let byte = *byte;
            self.seen += 1;
            let continues = byte == b'\n' && std::mem::take(&mut self.after_return);
            if continues {
                continue;
            }
            self.after_return = byte == b'\r';
            let breaks = matches!(byte, b'\n' | b'\r');
            if breaks && self.at_line_start {
                let block = self.text.split_to(std::mem::take(&mut self.seen)).freeze();
                let Some(overlong) = self.overlong.take() else {
                    return Some(Block::Whole(block));
                };
                match overlong.finish(block) {
                    Some(block) => return Some(block),
                    None => continue,
                }
            }
            self.at_line_start = breaks;
        }
        if self.text.len() > self.limit || self.overlong.is_some() {
            let text = std::mem::take(&mut self.text).freeze();
            let overlong = self.overlong.get_or_insert_with(|| Overlong::new(self.limit));
            // Without a blank line there is no event yet.
            let _ = overlong.push(text);
            self.seen = 0;
        }
        None
    }

    /// Number of bytes kept.
    fn held(&self) -> usize {
        self.text.len() + self.overlong.as_ref().map_or(0, |overlong| overlong.decoder.held())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &[&str]) {
        let mut blocks = Blocks::new(0);
        let mut found = Vec::new();
        for piece in pieces {
            blocks.push(&Bytes::copy_from_slice(piece.as_bytes()));
            while let Some(block) = blocks.next() {
                found.push(match block {
                    Block::Whole(text) => String::from_utf8(text.to_vec()).unwrap(),
                    Block::TooLong { length, .. } => format!("<{length}>"),
                });
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_block_ends_with_a_blank_line() {
        check(&["data: a\n\ndata: b\n", "\n"], &["data: a\n\n", "data: b\n\n"]);
        check(&["a\r\n\r", "\nb\r\r"], &["a\r\n\r", "\nb\r\r"]);
        check(&[": hi\n\n", "\n"], &[": hi\n\n", "\n"]);
        check(&["data: unfinished\n"], &[]);
    }

    #[test]
    fn a_block_over_the_limit_is_only_measured() {
        let long = "x".repeat(2000);
        check(&["data: ", &long, "\n\na\n\n"], &["<2008>", "a\n\n"]);
        check(&[": ", &long, "\ndata: a\n\nb\n\n"], &["<2012>", "b\n\n"]);
        // Comments need no answer.
        check(&[": ", &long, "\n", "\na\n\n"], &["a\n\n"]);
    }
}
