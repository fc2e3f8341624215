//! Answers to `elicitation/create` against the request, and the ids of URL elicitations.

use mcp_core::{Revision, Revisions, Side};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;
use serde::{Deserialize, Serialize};

use super::message::is_url_mode;
use crate::{
    Level, contract,
    conversation::{
        Bounded, Event, Flag, Known, Moment, Notes, Remembered, Topic, What,
        asked::AskedElicitation,
        digest::{digest, digest_of},
        stated_schema::{self, StatedSchema},
    },
    features::Family,
    findings::Fault,
};

const WITH_FORMS: Revisions = Revisions::from(Revision::V2025_06_18);
const WITH_URLS: Revisions = Revisions::from(Revision::V2025_11_25);
const WITH_IDS: Revisions = Revisions::only(Revision::V2025_11_25);

rules! {
    CONTENT_INVALID: "elicitation-content-invalid", Session, Level::Warning, WITH_FORMS, "client/elicitation#response-actions", Contract;
    CONTENT_MISSING: "elicitation-content-missing", Session, Level::Warning, WITH_FORMS, "client/elicitation#response-actions", Contract;
    CONTENT_UNEXPECTED: "elicitation-content-unexpected", Session, Level::Warning, WITH_FORMS, "client/elicitation#response-actions";
    MODE_NOT_REJECTED: "elicitation-mode-not-rejected", Session, Level::Error, WITH_IDS, "client/elicitation#error-handling";
    COMPLETE_UNKNOWN: "elicitation-complete-unknown", Session, Level::Error, WITH_IDS, "client/elicitation#completion-notifications-for-url-mode-elicitation";
    ID_REUSED: "elicitation-id-reused", Session, Level::Warning, WITH_IDS, "client/elicitation#url-mode-elicitation-requests";
    URL_ERROR_UNDECLARED: "url-elicitation-error-undeclared", Session, Level::Warning, WITH_IDS, "client/elicitation#url-elicitation-required-error";
}

/// Maximum bytes kept of a form's schema.
const SCHEMA_BYTES: usize = 64 << 10;
/// The error code that asks for a URL elicitation first.
const URL_REQUIRED: i64 = -32042;

/// The URL elicitations of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Elicitation {
    /// Keyed by a digest of the elicitation id.
    introduced: Bounded<u64, Introduced>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Introduced {
    at: Moment,
    /// Digest of URL and message.
    what: u64,
}

impl AskedElicitation {
    /// The capability a client declares to receive such requests.
    pub(crate) fn mode(&self) -> Flag {
        if self.is_url { Flag::ElicitationUrl } else { Flag::ElicitationForm }
    }
}

impl Family for Elicitation {
    fn concerns(event: &Event<'_>) -> bool {
        matches!(event.topic, Topic::Elicitation | Topic::Tasks) || event.error().is_some()
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match (event.what, event.name, event.params()) {
            (What::Request(_), "elicitation/create", Some(params)) => {
                let ask = AskedElicitation::of(params, event, known);
                if ask.is_url {
                    self.introduce(params, event, known, notes);
                }
                asked.remember().elicitation = Some(Box::new(ask));
            }
            (What::Answer(_), "elicitation/create" | "tasks/result", _) => {
                follow_answer(event, known, notes);
            }
            (What::Notification, "notifications/elicitation/complete", Some(params)) => {
                self.check_complete(params, event, known, notes);
            }
            _ => {}
        }
        if event.error_code() == Some(URL_REQUIRED)
            && event.from == Side::Server
            && WITH_IDS.contains(event.revision)
        {
            self.follow_error(event, known, notes);
        }
    }
}

impl Elicitation {
    /// Records an elicitation by its id, which must be unique.
    fn introduce(
        &mut self,
        params: Node<'_>,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let text = |member: &str| params.get(member).and_then(Node::str_bytes);
        let (Some(node), Some(id)) = (params.get("elicitationId"), text("elicitationId")) else {
            return;
        };
        let what =
            digest_of([&text("url").unwrap_or_default(), &text("message").unwrap_or_default()]);
        let id = digest(&id);
        match self.introduced.get(&id) {
            Some(earlier) if earlier.what != what => notes.note(
                Fault::new(&ID_REUSED, "another elicitation already has this id")
                    .at(node.span())
                    .related(earlier.at.line(), "the id was first used here")
                    .help("generate a new id for each elicitation"),
            ),
            Some(_) => {}
            None => {
                let introduced = Introduced { at: event.at, what };
                self.introduced.insert(id, introduced, known.limits.remembered);
            }
        }
    }

    fn follow_error(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let Some(error) = event.error() else { return };
        let data = error.get("data");
        let elicitations = data.and_then(|data| data.get("elicitations"));
        for elicitation in elicitations.into_iter().flat_map(Node::elements) {
            self.introduce(elicitation, event, known, notes);
        }
        let declared = known.capabilities(Side::Client, event);
        if declared.is_some_and(|declared| !declared.has(Flag::ElicitationUrl)) {
            notes.note(
                Fault::new(
                    &URL_ERROR_UNDECLARED,
                    "the client has not declared `elicitation.url`, so it cannot act on this error",
                )
                .at(error.get("code").unwrap_or(error).span())
                .related(
                    declared.and_then(|declared| declared.at().line()),
                    "its capabilities were declared here",
                )
                .help("send an ordinary error that tells the user what to do"),
            );
        }
    }

    fn check_complete(
        &self,
        params: Node<'_>,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let Some(node) = params.get("elicitationId") else { return };
        let Some(id) = node.str_bytes() else { return };
        // Over HTTP the id may belong to an earlier session of the same user.
        let everything_seen =
            known.from_start && event.at.stream().is_none() && !self.introduced.forgot();
        if event.from == Side::Server && everything_seen && !self.introduced.contains(&digest(&id))
        {
            notes.note(
                Fault::new(&COMPLETE_UNKNOWN, "no URL elicitation of this session has this id")
                    .at(node.span())
                    .help("send the `elicitationId` of the request or error that began it"),
            );
        }
    }
}

impl AskedElicitation {
    /// Extracts what the params of `elicitation/create` ask for.
    pub(crate) fn of(params: Node<'_>, event: &Event<'_>, known: &Known<'_>) -> AskedElicitation {
        let schema = params.get("requestedSchema").filter(|schema| schema.is_object());
        let mut room = stated_schema::room(event, known, SCHEMA_BYTES);
        let required = schema.and_then(|schema| schema.get("required"));
        AskedElicitation {
            at: event.at,
            is_url: WITH_URLS.contains(event.revision) && is_url_mode(params),
            schema: schema
                .map(|schema| StatedSchema::of(schema, event.revision, &mut room, known.criteria)),
            has_required: required
                .is_some_and(|required| required.is_array() && !required.is_empty()),
        }
    }
}

/// Checks the answer to a request, or the outcome of a task created for one.
fn follow_answer(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let Some(request) = event.answered() else { return };
    let Some(asked) = &request.asked.elicitation else { return };
    if event.name == "elicitation/create" && check_mode(asked, event, known, notes) {
        return;
    }
    let Some(result) = event.result() else { return };
    if !(request.task && result.get("task").is_some()) {
        check_answer(asked, result, known, notes);
    }
}

/// Returns whether the client must refuse the mode.
fn check_mode(
    asked: &AskedElicitation,
    event: &Event<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) -> bool {
    let mode = if asked.is_url { Flag::ElicitationUrl } else { Flag::ElicitationForm };
    let Some(declared) = known.capabilities(Side::Client, event) else { return false };
    // A client without elicitation at all is reported by another rule.
    let refusable = declared.has(Flag::Elicitation) && !declared.has(mode);
    if !refusable || !WITH_IDS.contains(event.revision) {
        return false;
    }
    let cancelled = event.answered().is_some_and(|request| request.cancelled.is_some());
    if !cancelled && event.error_code() != Some(ErrorCode::InvalidParams.code()) {
        let name = if asked.is_url { "url" } else { "form" };
        let part = event.error().or(event.result());
        notes.note(
            Fault::new(
                &MODE_NOT_REJECTED,
                format!("the client has not declared the mode `{name}`, so it must refuse it"),
            )
            .at(part.unwrap_or(event.node()).span())
            .related(asked.at.line(), "the request was here")
            .help("answer with error -32602"),
        );
    }
    true
}

/// Checks the user's answer: the `result` of a response or an entry of `inputResponses`.
pub(crate) fn check_answer(
    asked: &AskedElicitation,
    result: Node<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let Some(action) = result.get("action").and_then(Node::as_str) else { return };
    let accepted = *action == *"accept";
    if !accepted && !matches!(&*action, "decline" | "cancel") {
        return;
    }
    match result.get("content") {
        Some(content) if !accepted || asked.is_url => {
            let message = if accepted {
                "the answer to a URL elicitation has `content`".to_owned()
            } else {
                format!("the action is `{action}`, but the answer has `content`")
            };
            notes.note(
                Fault::new(&CONTENT_UNEXPECTED, message)
                    .at(content.span())
                    .related(asked.at.line(), "the request was here")
                    .help("omit `content`"),
            );
        }
        Some(content) => check_content(asked, content, known, notes),
        None if accepted && !asked.is_url && asked.has_required => notes.note(
            Fault::new(
                &CONTENT_MISSING,
                "the form has required fields, but the answer has no `content`",
            )
            .at(result.span())
            .related(asked.at.line(), "the request was here")
            .help("send what the user entered as `content`"),
        ),
        None => {}
    }
}

fn check_content(
    asked: &AskedElicitation,
    content: Node<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let Some(schema) = &asked.schema else { return };
    let breaches = schema.contract(known.criteria).breaches(content);
    let faults = contract::faults(
        &CONTENT_INVALID,
        &breaches,
        ErrorCode::InternalError,
        "let the user correct the field before sending",
    );
    for fault in faults {
        notes.note(fault.related(asked.at.line(), "the form was sent here"));
    }
}
