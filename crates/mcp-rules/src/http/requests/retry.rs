//! How soon a client resumes a stream (2025-11-25).

use mcp_core::Side;
use serde::{Deserialize, Serialize};

use super::{Exchange, Observation, RETRY_IGNORED};
use crate::{
    conversation::{Bounded, Moment, Notes, digest::kept},
    findings::Fault,
    http::SseEvent,
};

/// Timers and clocks are not exact.
const SLACK_MILLIS: i64 = 10;

/// Connections closed by the server, by the last event id on them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Retries {
    closed: Bounded<Box<str>, Closed>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Closed {
    at: Moment,
    retry: u64,
}

/// State kept per stream.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Seen {
    last_id: Option<String>,
    retry: Option<u64>,
}

impl Seen {
    pub(super) fn note(&mut self, sse: SseEvent<'_>) {
        if let Some(id) = sse.id {
            let id = kept(id.into());
            (*id).clone_into(self.last_id.get_or_insert_default());
        }
        self.retry = sse.retry.or(self.retry);
    }
}

impl Retries {
    /// Records the end of a connection: if the server closed it, it may have sent `retry`.
    pub(super) fn note_end(
        &mut self,
        event: &Observation<'_>,
        exchange: &Exchange,
        capacity: usize,
    ) {
        let Seen { last_id: Some(id), retry: Some(retry) } = &exchange.request.retry else {
            return;
        };
        if event.from == Side::Server && event.at.millis().is_some() {
            self.closed.insert(
                id.as_str().into(),
                Closed { at: event.at, retry: *retry },
                capacity,
            );
        }
    }

    /// Judges a request that resumes a stream.
    pub(super) fn judge(&self, event: &Observation<'_>, exchange: &Exchange, notes: &mut Notes) {
        let id = exchange.last_event_id.as_deref();
        let Some(Closed { at, retry }) = id.and_then(|id| self.closed.get(id)) else { return };
        let (Some(closed), Some(now)) = (at.millis(), event.at.millis()) else { return };
        let waited = now.saturating_sub(closed);
        let asked = i64::try_from(*retry).unwrap_or(i64::MAX);
        // With a clock that runs backwards, nothing is certain.
        if waited >= 0 && waited.saturating_add(SLACK_MILLIS) < asked {
            notes.always(
                Fault::new(
                    &RETRY_IGNORED,
                    format!(
                        "the client reconnects after {waited} ms, but the server asked for {retry} ms"
                    ),
                )
                .related(at.line(), "the server closed the connection here")
                .help("wait as long as the last `retry` field says"),
            );
        }
    }
}
