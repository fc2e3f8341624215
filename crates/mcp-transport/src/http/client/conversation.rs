//! State shared by all requests of a conversation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderValue};
use mcp_core::{Era, MessageHeaders, OutboundRole, Revision, TransportError};

use crate::http::headers::{PROTOCOL_VERSION, SESSION_ID};

/// The negotiated revision and the session the server has opened.
#[derive(Debug, Default)]
pub(super) struct Conversation(Mutex<State>);

#[derive(Default)]
struct State {
    revision: Option<Revision>,
    session: Session,
}

#[derive(Default)]
enum Session {
    /// The server has not opened one (yet).
    #[default]
    None,
    Open(HeaderValue),
    /// The server no longer knows it: its id must not be used again.
    Expired,
}

impl Conversation {
    /// Returns whether it was unknown before.
    pub(super) fn establish(&self, revision: Revision) -> bool {
        self.state().revision.replace(revision) != Some(revision)
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.state().revision
    }

    /// The era of a message with these headers.
    pub(super) fn era(&self, mirrored: Option<&MessageHeaders>) -> Era {
        mirrored
            .and_then(|mirrored| mirrored.revision)
            .or(self.revision())
            .map_or(Era::Legacy, Revision::era)
    }

    pub(super) fn check(&self) -> Result<(), TransportError> {
        match self.state().session {
            Session::Expired => Err(TransportError::SessionExpired),
            _ => Ok(()),
        }
    }

    /// Adds revision and session to the headers of a message.
    pub(super) fn write(
        &self,
        mirrored: Option<&MessageHeaders>,
        role: OutboundRole,
        headers: &mut HeaderMap,
    ) {
        let state = self.state();
        let stated = mirrored.and_then(|mirrored| mirrored.revision);
        let method = mirrored.and_then(|mirrored| mirrored.method.as_deref());
        let modern = stated.or(state.revision).is_some_and(|stated| stated.era() == Era::Modern);
        // Before negotiation, the server may not know the revision the client offers.
        let opening = !modern
            && role == OutboundRole::Request
            && (method == Some("initialize") || (method.is_none() && state.revision.is_none()));
        if opening {
            return;
        }
        if let Some(revision) = stated.or(state.revision) {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
        if let (false, Session::Open(id)) = (modern, &state.session) {
            headers.insert(SESSION_ID, id.clone());
        }
    }

    /// Adds them to the headers of a request without a message.
    pub(super) fn write_bare(&self, headers: &mut HeaderMap) {
        self.write(None, OutboundRole::Notification, headers);
    }

    /// Whether there is a session that the server still knows.
    pub(super) fn has_session(&self) -> bool {
        matches!(self.state().session, Session::Open(_))
    }

    /// Takes the session that the server opens in its answer to the handshake. Later ones are
    /// ignored.
    pub(super) fn open_session(&self, era: Era, headers: &HeaderMap) {
        let mut state = self.state();
        if era == Era::Modern || state.revision.is_some() {
            return;
        }
        if let Some(id) = headers.get(SESSION_ID).filter(|id| !id.is_empty()) {
            let mut id = id.clone();
            id.set_sensitive(true);
            state.session = Session::Open(id);
        }
    }

    pub(super) fn expire(&self) {
        self.state().session = Session::Expired;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let session = match self.session {
            Session::None => "none",
            Session::Open(_) => "open",
            Session::Expired => "expired",
        };
        f.debug_struct("State")
            .field("revision", &self.revision)
            .field("session", &session)
            .finish()
    }
}
