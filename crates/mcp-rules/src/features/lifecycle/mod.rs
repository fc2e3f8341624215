//! The handshake, in revisions that have one: what may be sent when.

mod named_versions;

use mcp_core::{Revisions, Side};

use self::named_versions::check_versions;
pub(crate) use self::named_versions::{UNSUPPORTED_VERSION, unknown_declaration, unknown_revision};
use crate::{
    Level,
    conversation::{
        Event, Lifecycle, Notes, Phase, What,
        lifecycle::{Early, Start},
        request_id,
    },
    findings::Fault,
};

const LEGACY: Revisions = Revisions::LEGACY;

rules! {
    INITIALIZE_NOT_FIRST: "initialize-not-first", Session, Level::Error, LEGACY, "basic/lifecycle#initialization";
    BEFORE_RESPONSE: "request-before-initialize-response", Session, Level::Warning, LEGACY, "basic/lifecycle#initialization";
    INITIALIZED_EARLY: "initialized-before-response", Session, Level::Error, LEGACY, "basic/lifecycle#initialization";
    INITIALIZED_MISSING: "initialized-missing", Session, Level::Error, LEGACY, "basic/lifecycle#initialization";
    SERVER_REQUEST_EARLY: "server-request-before-initialized", Session, Level::Warning, LEGACY, "basic/lifecycle#initialization";
    SERVER_EARLY: "server-message-before-initialize", Session, Level::Warning, LEGACY, "basic/lifecycle#initialization";
    INITIALIZE_DUPLICATE: "initialize-duplicate", Session, Level::Warning, LEGACY, "basic/lifecycle#initialization";
    INITIALIZED_DUPLICATE: "initialized-duplicate", Session, Level::Warning, LEGACY, "basic/lifecycle#initialization";
    PING_NOT_EMPTY: "ping-result-not-empty", Session, Level::Warning, LEGACY, "basic/utilities/ping#behavior-requirements";
    CANCEL_INITIALIZE: "cancel-initialize", Session, Level::Error, LEGACY, "basic/utilities/cancellation#behavior-requirements";
    VERSION_UNKNOWN: "protocol-version-unknown", Session, Level::Warning, Revisions::ALL, "basic/lifecycle#version-negotiation";
    MODERN_VERSION: "initialize-with-modern-version", Session, Level::Error, LEGACY, "basic/versioning#backward-compatibility-with-initialization-based-versions";
    VERSION_INCONSISTENT: "version-negotiation-inconsistent", Session, Level::Error, LEGACY, "basic/lifecycle#version-negotiation";
}

impl Lifecycle {
    pub(crate) fn judge(&self, event: &Event<'_>, notes: &mut Notes) {
        check_versions(event, notes);
        if event.is_modern() {
            return;
        }
        match (event.what, event.from) {
            (What::Request(_), Side::Client) if event.name == "initialize" => {
                self.judge_initialize(event, notes);
            }
            (What::Request(_), Side::Client) => self.judge_request(event, notes),
            (What::Notification, Side::Client) => self.judge_notification(event, notes),
            (What::Request(_), Side::Server) => self.judge_server_request(event, notes),
            (What::Answer(_), _) => check_ping(event, notes),
            (What::Notification, Side::Server) => {}
        }
    }

    /// Over HTTP, `initialize` belongs to this session only if it says so; otherwise it began a new
    /// one.
    fn judge_initialize(&self, event: &Event<'_>, notes: &mut Notes) {
        for early in &self.early {
            notes.always(early.fault(event));
        }
        if matches!(self.phase, Phase::Answered | Phase::Ready) {
            let first = self.initialize_line();
            notes.note(
                Fault::new(&INITIALIZE_DUPLICATE, "the session is already initialised")
                    .at(event.method_span())
                    .related(first, "it was initialised here")
                    .help("keep using the session, or open a new connection for a new one"),
            );
        }
    }

    fn judge_request(&self, event: &Event<'_>, notes: &mut Notes) {
        if event.name == "ping" {
            return;
        }
        match self.phase {
            Phase::Unknown if self.start == Start::Seen => {
                notes.note(not_first(event));
            }
            Phase::Failed => {
                notes.note(not_first(event).related(
                    self.initialize_line(),
                    "this `initialize` was answered with an error",
                ));
            }
            Phase::Initializing if !self.one_sided => notes.note(
                Fault::new(
                    &BEFORE_RESPONSE,
                    format!("`{}` is sent before `initialize` was answered", event.name),
                )
                .at(event.method_span())
                .related(self.initialize_line(), "`initialize` was sent here")
                .help("wait for the result: it says which version and features the server has"),
            ),
            Phase::Answered if event.at.stream().is_none() && self.unannounced.is_none() => notes
                .note(
                    initialized_missing(&format!("`{}`", event.name))
                        .at(event.method_span())
                        .related(self.initialize_line(), "the session was initialised here"),
                ),
            Phase::Unknown | Phase::Initializing | Phase::Answered | Phase::Ready => {}
        }
    }

    fn judge_notification(&self, event: &Event<'_>, notes: &mut Notes) {
        if event.name == "notifications/cancelled"
            && let Some(id) = event.params().and_then(|params| params.get("requestId"))
            && let Some((initialize, at)) = self.initialize.as_deref()
            && request_id(id).as_ref() == Some(initialize)
        {
            notes.note(
                Fault::new(&CANCEL_INITIALIZE, "`initialize` must not be cancelled")
                    .at(id.span())
                    .related(at.line(), "`initialize` was sent here")
                    .help("close the connection instead"),
            );
        }
        let is_initialized = event.name == "notifications/initialized";
        match self.phase {
            Phase::Unknown if self.start == Start::Seen => {
                notes.note(not_first(event));
            }
            Phase::Initializing if self.one_sided => {}
            Phase::Initializing | Phase::Failed if is_initialized => notes.note(
                Fault::new(
                    &INITIALIZED_EARLY,
                    if self.phase == Phase::Failed {
                        "`notifications/initialized` is sent, but `initialize` was answered with an error"
                    } else {
                        "`notifications/initialized` is sent before `initialize` was answered"
                    },
                )
                .at(event.method_span())
                .related(self.initialize_line(), "`initialize` was sent here")
                .help("send it once the `initialize` result has arrived"),
            ),
            Phase::Failed => notes.note(not_first(event)),
            Phase::Ready if is_initialized && !self.may_repeat => notes.note(
                Fault::new(&INITIALIZED_DUPLICATE, "`notifications/initialized` has already been sent")
                    .at(event.method_span())
                    .related(
                        self.initialized.as_ref().and_then(|at| at.line()),
                        "it was sent here",
                    )
                    .help("send it once per session"),
            ),
            _ => {}
        }
    }

    fn judge_server_request(&self, event: &Event<'_>, notes: &mut Notes) {
        if event.name == "ping" || !matches!(self.phase, Phase::Initializing | Phase::Answered) {
            return;
        }
        // A client that was ready stays ready while it asks for another handshake.
        if self.phase == Phase::Initializing && self.before == Phase::Ready {
            return;
        }
        notes.note(
            Fault::new(
                &SERVER_REQUEST_EARLY,
                format!("the server sends `{}` before the client is ready", event.name),
            )
            .at(event.method_span())
            .related(self.initialize_line(), "`initialize` was sent here")
            .help("wait for `notifications/initialized`; until then only `ping` is expected"),
        );
    }

    /// Called at the end of an HTTP session.
    pub(crate) fn finish(&self, notes: &mut Notes) {
        if self.phase == Phase::Answered
            && let Some(at) = self.unannounced.as_ref().filter(|at| at.stream().is_some())
        {
            notes.always(
                initialized_missing("requests")
                    .earlier(at.line(), Side::Client)
                    .related(self.initialize_line(), "the session was initialised here"),
            );
        }
    }
}

impl Early {
    /// Returns the fault, now that a handshake follows.
    fn fault(&self, initialize: &Event<'_>) -> Fault {
        let (rule, message) = match self.from {
            Side::Client => (
                &INITIALIZE_NOT_FIRST,
                format!("the client sends `{}` before `initialize`", self.name),
            ),
            Side::Server => (
                &SERVER_EARLY,
                format!("the server sends `{}` before it was asked to initialise", self.name),
            ),
        };
        Fault::new(rule, message)
            .earlier(self.at.line(), self.from)
            .related(initialize.at.line(), "`initialize` was sent only here")
            .help("a session begins with `initialize`; only `ping` may come before it")
    }
}

fn not_first(event: &Event<'_>) -> Fault {
    Fault::new(
        &INITIALIZE_NOT_FIRST,
        format!("`{}` is sent before the session was initialised", event.name),
    )
    .at(event.method_span())
    .help("begin with `initialize`; only `ping` may come before it")
}

fn initialized_missing(what: &str) -> Fault {
    Fault::new(
        &INITIALIZED_MISSING,
        format!("the client sends {what} without having sent `notifications/initialized`"),
    )
    .help("send `notifications/initialized` as soon as the `initialize` result has arrived")
}

fn check_ping(event: &Event<'_>, notes: &mut Notes) {
    if event.name != "ping" {
        return;
    }
    let Some(result) = event.result() else { return };
    let extra = result.members().find(|(name, _)| !name.str_eq("_meta"));
    if let Some((name, _)) = extra {
        notes.note(
            Fault::new(&PING_NOT_EMPTY, "the result of `ping` is not empty")
                .at(name.span())
                .related(
                    event.answered().and_then(|request| request.at.line()),
                    "the ping was here",
                )
                .help("answer with an empty result: `\"result\":{}`"),
        );
    }
}
