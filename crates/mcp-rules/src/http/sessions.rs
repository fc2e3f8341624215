//! Session ids: who assigns them, who must send them, and when they end.

use mcp_core::{Era, Revision, Revisions, Side};
use serde::{Deserialize, Serialize};

use super::{
    Exchange, HeaderName, Headers, HttpFamily, HttpPart, Observation, method::HttpMethod,
    requests::is_other_refusal, session_id,
};
use crate::{
    Level, Severity,
    conversation::{Bounded, Known, Moment, Notes},
    findings::Fault,
};

const WITH_SESSIONS: Revisions = Revisions::between(Revision::V2025_03_26, Revision::LATEST_LEGACY);
const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    ID_MISSING: "session-id-missing", Http, Level::Error, WITH_SESSIONS, "basic/transports#session-management";
    ID_MISMATCH: "session-id-mismatch", Http, Level::Error, WITH_SESSIONS, "basic/transports#session-management";
    ID_ON_INITIALIZE: "session-id-on-initialize", Http, Level::Error, WITH_SESSIONS, "basic/transports#session-management";
    REUSED_AFTER_404: "session-reused-after-404", Http, Level::Error, WITH_SESSIONS, "basic/transports#session-management";
    ID_CHARSET: "session-id-charset", Http, Level::Error, WITH_SESSIONS, "basic/transports#session-management";
    ID_CHANGED: "session-id-changed", Http, Level::Warning, WITH_SESSIONS, "basic/transports#session-management";
    NOT_TERMINATED: "session-not-terminated", Http, Level::Error, WITH_SESSIONS, "basic/transports#session-management";
    ID_MINTED: "session-id-minted", Http, Level::Warning, MODERN, "basic/transports/streamable-http#earlier-streamable-http-revisions";
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sessions {
    /// The id that came with the last `initialize` result.
    current: Option<Box<str>>,
    /// Whether traffic from before the recording was observed, so that older sessions may exist.
    has_older: bool,
    /// Every id the server has assigned or rejected.
    ids: Bounded<Box<str>, IdHistory>,
}

/// What is known of a session id.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct IdHistory {
    assigned: Option<Moment>,
    ended: Option<Ended>,
    /// Whether a GET that may have been in flight when the session ended was already excused.
    crossed: bool,
}

/// When a session ended, and how.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Ended {
    at: Moment,
    by: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum End {
    /// The client deleted it.
    Deleted,
    /// The server answered 404.
    NotFound,
}

/// State kept per exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Whether it belongs to another session than that of the last observed handshake, or may.
    pub(crate) is_of_another: bool,
    /// Whether its request names a session whose assignment was not observed.
    is_foreign: bool,
    /// Set if the session that its request names had already ended.
    after: Option<Ended>,
    /// The id in the response to `initialize`, which counts once the result arrives.
    offered: Option<Box<str>>,
    /// An id in the response to a request of a revision without sessions, and where.
    minted: Option<(Box<str>, Moment)>,
}

impl HttpFamily for Sessions {
    fn follow(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let goes_on = exchange.session_id.is_none() && !known.from_start;
        self.has_older |= !exchange.seen || goes_on && exchange.requests().next().is_some();
        if !exchange.request.at_endpoint() {
            return;
        }
        let era = exchange.revision.unwrap_or(event.revision).era();
        match event.part {
            HttpPart::Request { .. } => self.judge_request(exchange, notes),
            HttpPart::Response { status, headers } => {
                match era {
                    Era::Legacy => {
                        self.judge_foreign(status, exchange, known, notes);
                        self.judge_response(status, headers, exchange, notes);
                        self.note_end(status, event, exchange, known);
                    }
                    Era::Modern => note_minted(headers, event.at, exchange),
                }
                self.note_answer(event, exchange, known);
                judge_minted(exchange, notes);
            }
            HttpPart::Event(_) => {
                self.note_answer(event, exchange, known);
                judge_minted(exchange, notes);
            }
            HttpPart::End => {}
        }
    }
}

impl Sessions {
    /// Whether this is the id of the current session.
    pub(super) fn is_current(&self, id: &str) -> bool {
        self.current.as_deref() == Some(id.trim()) && self.ended(id.trim()).is_none()
    }

    /// Whether the server has assigned no id.
    pub(super) fn are_unnamed(&self) -> bool {
        self.current.is_none()
    }

    /// Whether the client has ended the current session.
    pub(super) fn is_deleted(&self) -> bool {
        let ended = self.current.as_deref().and_then(|id| self.ended(id));
        ended.is_some_and(|ended| ended.by == End::Deleted)
    }

    /// Whether a request names an earlier session.
    pub(super) fn is_of_another(&self, exchange: &Exchange) -> bool {
        let id = exchange.session_id.as_deref().map(trimmed);
        id.is_some_and(|id| self.current.as_deref() != Some(id) && self.assigned_at(id).is_some())
    }

    fn judge_request(&mut self, exchange: &mut Exchange, notes: &mut Notes) {
        let judged = exchange.is_post() || exchange.is_get() || exchange.is_delete();
        if !judged || !exchange.request.headers_known {
            return;
        }
        let id = exchange.session_id.as_deref().map(trimmed);
        if exchange.initializes() {
            if let Some(id) = id {
                notes.always(self.on_initialize(id));
            }
            return;
        }
        let Some(id) = id else {
            if let Some(current) = self.current.as_deref().filter(|id| self.ended(id).is_none()) {
                notes.always(
                    Fault::new(
                        &ID_MISSING,
                        format!(
                            "the {} request names no session, although `{current}` was assigned",
                            exchange.method
                        ),
                    )
                    .related(self.assigned(current), "the session was assigned here")
                    .help("send `Mcp-Session-Id` with every request after `initialize`"),
                );
            }
            return;
        };
        self.has_older |= self.current.is_none();
        let ended = self.ended(id);
        // Ending a session twice does no harm.
        if let Some(Ended { at, by: End::NotFound }) = ended
            && !exchange.is_delete()
            && !self.crosses(id, exchange)
        {
            notes.always(
                Fault::new(
                    &REUSED_AFTER_404,
                    format!("the request names the session `{id}`, which no longer exists"),
                )
                .related(at.line(), "the server answered 404 here")
                .help("start a new session: `initialize` without a session id"),
            );
        }
        exchange.session.is_foreign = ended.is_none() && self.is_foreign(id);
        exchange.session.after = ended;
    }

    /// Whether a request for a session that has ended may have been in flight when it ended: clients
    /// open the server's stream in parallel with their first requests.
    fn crosses(&mut self, id: &str, exchange: &Exchange) -> bool {
        let may_cross = exchange.is_get() && self.current.as_deref() == Some(id);
        let history = self.ids.get_mut(id).filter(|_| may_cross);
        history.is_some_and(|history| !std::mem::replace(&mut history.crossed, true))
    }

    /// Judges a session id that was not assigned. A server that accepts the request knows the
    /// session, which may be older than the recording.
    fn judge_foreign(
        &self,
        status: u16,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let foreign = std::mem::take(&mut exchange.session.is_foreign);
        let current = self.current.as_deref();
        if foreign
            && let Some(id) = exchange.session_id.as_deref().map(trimmed)
            && (matches!(status, 400 | 404)
                || known.is_all_seen
                || !self.has_older
                || current.is_some_and(|current| current.eq_ignore_ascii_case(id)))
        {
            notes.always(
                Fault::new(&ID_MISMATCH, format!("the server never assigned the session `{id}`"))
                    .earlier(exchange.at.line(), Side::Client)
                    .related(
                        current.and_then(|id| self.assigned(id)),
                        "the session was assigned here",
                    )
                    .help("send the id of the `initialize` response, byte for byte"),
            );
        }
    }

    fn on_initialize(&self, id: &str) -> Fault {
        let gone = self.ended(id).filter(|ended| ended.by == End::NotFound);
        let fault = Fault::new(&ID_ON_INITIALIZE, format!("`initialize` names the session `{id}`"))
            .help("a new session has no id yet: omit the header");
        match gone {
            Some(ended) => fault.related(ended.at.line(), "the server answered 404 here"),
            None => fault.severity(Severity::Warning),
        }
    }

    fn judge_response(
        &self,
        status: u16,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        notes: &mut Notes,
    ) {
        if let Some(id) = session_id(headers) {
            if exchange.initializes() {
                let whole = headers.value(HeaderName::McpSessionId).unwrap_or_default();
                check_charset(whole.trim_matches([' ', '\t']), notes);
                exchange.session.offered = Some((*id).into());
            } else {
                self.check_unchanged(&id, exchange, notes);
            }
        }
        if let Some(ended) = exchange.session.after.take()
            && status != 404
            && !is_other_refusal(status)
            // Ending a session twice does no harm.
            && !(exchange.is_delete() && (200..300).contains(&status))
        {
            let reason = match ended.by {
                End::Deleted => "the session was deleted here",
                End::NotFound => "the server answered 404 here",
            };
            notes.always(
                Fault::new(
                    &NOT_TERMINATED,
                    format!("a request for a session that has ended gets status {status}"),
                )
                .related(ended.at.line(), reason)
                .help("answer 404 to every request with the id of a session that has ended"),
            );
        }
    }

    fn check_unchanged(&self, id: &str, exchange: &Exchange, notes: &mut Notes) {
        let named = exchange.session_id.as_deref().map(trimmed);
        if named == Some(id) && self.current.as_deref() == Some(id) {
            return; // As nearly always: nothing has to be looked up.
        }
        let named = named.filter(|named| self.assigned_at(named).is_some());
        let Some(expected) = named.or(self.current.as_deref()) else { return };
        if id != expected {
            notes.always(
                Fault::new(
                    &ID_CHANGED,
                    format!("the response names the session `{id}`, but `{expected}` was assigned"),
                )
                .related(self.assigned(expected), "the session was assigned here")
                .help("assign session ids only in the response to `initialize`"),
            );
        }
    }

    /// Records that a session has ended, or that it has not, whatever the server said before.
    fn note_end(
        &mut self,
        status: u16,
        event: &Observation<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
    ) {
        let Some(id) = exchange.session_id.as_deref().map(trimmed) else { return };
        let is_known = !matches!(exchange.method, HttpMethod::Other(_));
        let by = match status {
            200..=299 if exchange.is_delete() => End::Deleted,
            200..=299 => {
                self.revive(id);
                return;
            }
            // Routers answer 404 to unknown HTTP methods, and some servers to unknown RPC methods.
            404 if is_known && event.error_code() != Some(-32601) => End::NotFound,
            _ => return,
        };
        let ended = Some(Ended { at: event.at, by });
        if let Some(history) = self.ids.get_mut(id) {
            history.ended = ended;
        } else {
            let history = IdHistory { ended, ..IdHistory::default() };
            self.ids.insert(id.into(), history, known.limits.remembered);
        }
    }

    /// Records that a session that was not found is served again, so that it is reported once.
    fn revive(&mut self, id: &str) {
        if let Some(history) = self.ids.get_mut(id) {
            history.ended = history.ended.filter(|ended| ended.by == End::Deleted);
        }
    }

    /// Records the session that an `initialize` result opens.
    fn note_answer(&mut self, event: &Observation<'_>, exchange: &mut Exchange, known: &Known<'_>) {
        let opens = event.from == Side::Server
            && exchange.initializes()
            && event.any_message(|message| message.envelope.result.is_some());
        if opens {
            self.current = exchange.session.offered.take();
            if let Some(id) = &self.current {
                let history = IdHistory { assigned: Some(event.at), ..IdHistory::default() };
                self.ids.insert(id.clone(), history, known.limits.remembered);
            }
        }
    }

    /// Whether the server has assigned ids, but never this one.
    fn is_foreign(&self, id: &str) -> bool {
        let other = self.current.as_deref().filter(|current| *current != id);
        other.is_some_and(|current| self.ended(current).is_none())
            && self.assigned_at(id).is_none()
            && !self.ids.forgot()
    }

    fn ended(&self, id: &str) -> Option<Ended> {
        self.ids.get(id)?.ended
    }

    fn assigned_at(&self, id: &str) -> Option<Moment> {
        self.ids.get(id)?.assigned
    }

    fn assigned(&self, id: &str) -> Option<u64> {
        self.assigned_at(id)?.line()
    }
}

/// Only ids with something to trim, which are rare, are decoded.
fn trimmed(id: &str) -> &str {
    match id.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => id,
        _ => id.trim(),
    }
}

fn check_charset(id: &str, notes: &mut Notes) {
    if let Some(character) = id.chars().find(|character| !character.is_ascii_graphic()) {
        notes.always(
            Fault::new(
                &ID_CHARSET,
                format!("the session id `{id}` has the character {character:?}"),
            )
            .help("use visible ASCII characters only, as in a UUID"),
        );
    }
}

fn note_minted(headers: &Headers<'_>, at: Moment, exchange: &mut Exchange) {
    if let Some(id) = session_id(headers).filter(|_| !exchange.initializes()) {
        exchange.session.minted = Some((id.trim().into(), at));
    }
}

/// Judges an unexpected session id. A possible legacy server is not to blame.
fn judge_minted(exchange: &mut Exchange, notes: &mut Notes) {
    if !exchange.request.server_is_modern {
        return;
    }
    let Some((id, at)) = exchange.session.minted.take() else { return };
    let fault = Fault::new(&ID_MINTED, format!("the response names the session `{id}`"))
        .earlier(at.line(), Side::Server)
        .help("2026-07-28 has no sessions: omit `Mcp-Session-Id`");
    notes.always(fault);
}
