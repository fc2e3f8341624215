//! Streams that the server ends before the response they were opened for.

use mcp_core::{Era, RequestId, Revision, Side};
use serde::{Deserialize, Serialize};

use super::{ENDED_EARLY, RETRY};
use crate::{
    RuleMeta,
    conversation::{Bounded, Known, Notes, Request},
    findings::Fault,
    http::{Exchange, Observation},
};

/// Maximum endings held until it is known whether the session is still alive.
const MAX_WAITING: usize = 64;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Endings {
    /// The streams of POSTs, by exchange.
    streams: Bounded<u64, Stream>,
    waiting: Vec<Ending>,
    /// Whether the session was deleted or has expired, which ends its streams.
    over: bool,
    /// Number of requests so far.
    order: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stream {
    requests: Vec<RequestId>,
    /// The exchange that currently carries it.
    connection: u64,
}

/// A premature ending, unless the session has expired.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ending {
    line: Option<u64>,
    order: u64,
    revision: Revision,
    asked: Box<str>,
    asked_at: Option<u64>,
}

impl Endings {
    /// Records a request of the client and returns its position; `source` is the exchange whose
    /// stream it resumes, if any.
    pub(super) fn note_request(&mut self, exchange: &Exchange, source: Option<u64>) -> u64 {
        self.order += 1;
        self.over |= exchange.is_delete();
        if let Some(stream) = source.and_then(|source| self.streams.get_mut(&source)) {
            stream.connection = exchange.number;
        }
        self.order
    }

    /// Records the status of a response, which shows whether the session is alive.
    pub(super) fn note_head(
        &mut self,
        status: u16,
        exchange: &Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if status == 404 && exchange.session_id.is_some() {
            self.over = true;
            self.waiting.clear();
        } else if exchange.is_delete() && status == 405 {
            self.over = false;
        } else if status < 400 {
            let order = exchange.stream.order;
            for ending in self.waiting.extract_if(.., |ending| ending.order < order) {
                notes.always(ending.fault());
            }
        }
        if exchange.is_sse && exchange.response.carries_requests() {
            let requests = exchange.requests().filter_map(|asked| asked.id.clone()).collect();
            let stream = Stream { requests, connection: exchange.number };
            self.streams.insert(exchange.number, stream, known.limits.remembered);
        }
    }

    /// Judges the end of a stream.
    pub(super) fn judge(
        &mut self,
        event: &Observation<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if !event.settled || self.over || exchange.stream.unreadable {
            return;
        }
        let Some((id, due)) = self.due(exchange, known) else { return };
        let lacks_retry = lacks_retry(event.revision);
        if lacks_retry && exchange.stream.retry {
            return;
        }
        if !lacks_retry && !exchange.is_post() {
            return; // Reported when the stream that it resumes ended.
        }
        let ending = Ending {
            line: event.at.line(),
            order: self.order,
            revision: event.revision,
            asked: due.name().into(),
            asked_at: due.at.line(),
        };
        // It may still be answered on another stream.
        notes.lose(id.clone());
        if event.revision.era() == Era::Modern {
            notes.always(ending.fault());
        } else {
            self.waiting.push(ending);
            self.waiting.truncate(MAX_WAITING);
        }
    }

    /// A request still awaiting its response on the stream that ends with this exchange.
    fn due<'k>(&self, exchange: &Exchange, known: &Known<'k>) -> Option<(&RequestId, &'k Request)> {
        let source = exchange.stream.source?;
        let stream = self.streams.get(&source)?;
        if stream.connection != exchange.number {
            return None; // It continues elsewhere.
        }
        let open = |id| Some((id, known.requests.open(Side::Client, id)?));
        stream.requests.iter().filter_map(open).find(|(_, request)| {
            request.at.stream() == Some(source)
                && request.cancelled.is_none()
                && request.name() != "subscriptions/listen"
        })
    }

    /// Reports the remaining endings: nothing more will arrive.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        for ending in self.waiting.drain(..) {
            notes.always(ending.fault());
        }
    }
}

impl Ending {
    fn fault(&self) -> Fault {
        let Ending { line, asked, asked_at, .. } = self;
        let (rule, message, help): (&'static RuleMeta, _, _) = if lacks_retry(self.revision) {
            (
                &RETRY,
                format!("closed before the response to `{asked}`, without a `retry` field"),
                "send the response before closing, or at least an event with `retry`",
            )
        } else {
            (
                &ENDED_EARLY,
                format!("the stream ends without the response to `{asked}`"),
                "send the response before the stream ends, even if it is an error",
            )
        };
        Fault::new(rule, message)
            .under(self.revision)
            .earlier(*line, Side::Server)
            .related(*asked_at, "the request was here")
            .help(help)
    }
}

/// Whether the fault is a missing `retry` rather than the ending itself.
fn lacks_retry(revision: Revision) -> bool {
    revision == Revision::V2025_11_25
}
