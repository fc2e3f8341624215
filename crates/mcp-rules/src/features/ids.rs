//! Matching of requests and responses by id.

use mcp_core::{Era, RequestId, Revisions, Side};
use mcp_json::Node;

use crate::{
    Level,
    conversation::{Event, Known, Notes, Request, What},
    findings::Fault,
};

rules! {
    ID_REUSED: "request-id-reused", Session, Level::Error, Revisions::ALL, "basic#requests";
    UNKNOWN_ID: "response-unknown-id", Session, Level::Error, Revisions::ALL, "basic#responses";
    ID_TYPE: "response-id-type-mismatch", Session, Level::Error, Revisions::ALL, "basic#responses";
    DUPLICATE: "response-duplicate", Session, Level::Error, Revisions::ALL, "basic#responses";
    UNANSWERED: "request-unanswered", Session, Level::Warning, Revisions::ALL, "basic#responses";
}

pub(crate) fn judge(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    match event.what {
        What::Request(id) => judge_request(id, event, known, notes),
        What::Answer(answer) => {
            if let (Some(id), None) = (answer.id, answer.request) {
                judge_stray(id, event, known, notes);
            }
        }
        What::Notification => {}
    }
}

fn judge_request(id: &RequestId, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let requests = known.requests;
    // Without a session, ids become free once nothing more can arrive, and for other clients.
    let sender = event.sender();
    let excused = |request: &Request| {
        let ended = || known.http.is_some_and(|http| http.has_ended(request.at.stream()));
        let without_session = event.is_modern() || request.revision.era() == Era::Modern;
        without_session && (request.cancelled.is_some() || request.sender != sender || ended())
    };
    let open = requests.open(event.from, id).filter(|request| !excused(request));
    let reused = open.is_some() || !event.is_modern() && requests.was_used(event.from, id);
    if !reused || known.is_anonymous(event) {
        return;
    }
    let first = match open {
        Some(request) => request.at.line(),
        None => requests.past(event.from, id).and_then(|request| request.line),
    };
    let message = match (open, event.is_modern()) {
        (Some(_), _) => "another request with this id is still unanswered",
        _ => "the id has been used in this session",
    };
    notes.note(
        Fault::new(&ID_REUSED, message)
            .at(id_node(event).span())
            .related(first, "the id was used here")
            .help("use a counter, or a new random string for each request"),
    );
}

/// Judges a response that matches no open request.
fn judge_stray(id: &RequestId, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let asker = event.from.other();
    let requests = known.requests;
    // A posted response that is refused with its own id: the error is about the response.
    let is_refusal = event.error().is_some()
        && known.http.is_some_and(|http| http.has_response(event.at.stream(), id));
    if is_refusal {
        return;
    }
    let at = id_node(event).span();
    // The request was posted before observation began, or has been forgotten.
    if known.http.is_some_and(|http| http.is_unseen(event.at.stream())) {
        return;
    }
    if requests.past(asker, id).is_some_and(|request| request.repeated) {
        return;
    }
    if let Some(request) = requests.past(asker, id) {
        notes
            .note(duplicate().at(at).related(request.answered.line(), "the first answer was here"));
        return;
    }
    let other = converted(id).filter(|other| requests.open(asker, other).is_some());
    if let Some(other) = other {
        let request = requests.open(asker, &other);
        notes.note(
            Fault::new(&ID_TYPE, "the id equals that of an open request, except for its type")
                .at(at)
                .related(request.and_then(|request| request.at.line()), "the request was here")
                .help("send the id back exactly as received: 1 and \"1\" are different ids"),
        );
        notes.close(asker, other);
        return;
    }
    // An unreadable message may have been the request.
    let unseen = !known.from_start || known.sent_unreadable(asker);
    if unseen || requests.may_have_been(asker, id, event.revision.era()) {
        return;
    }
    // A legacy server is not to blame for how it answers a probe of the other era.
    let probed = known.http.is_some_and(|http| http.is_refused_probe(event.at.stream()));
    if probed && known.modern_server.is_none() {
        return;
    }
    if requests.was_used(asker, id) {
        notes.note(duplicate().at(at));
        return;
    }
    // If one request waits, the answer was probably meant for it.
    let mut waiting = requests.iter_open(asker).map(|(_, request)| request);
    let only = waiting.next().filter(|_| waiting.next().is_none());
    notes.note(
        Fault::new(&UNKNOWN_ID, format!("the {asker} has sent no request with this id"))
            .at(at)
            .related(only.and_then(|request| request.at.line()), "this request is still open")
            .help("answer each request once, with its own id; notifications are not answered"),
    );
}

fn duplicate() -> Fault {
    Fault::new(&DUPLICATE, "the request with this id has already been answered")
        .help("answer each request once")
}

/// Converts an id between string and number.
pub(super) fn converted(id: &RequestId) -> Option<RequestId> {
    match (id.as_i64(), id.as_str()) {
        (Some(number), _) => Some(RequestId::from(number.to_string().as_str())),
        (None, Some(text)) => RequestId::from_integer_literal(text),
        (None, None) => Some(RequestId::from(id.to_string().as_str())),
    }
}

fn id_node<'a>(event: &Event<'a>) -> Node<'a> {
    event.envelope.id.unwrap_or(event.node())
}

/// At the end, reports requests left unanswered while later ones were answered.
pub(crate) fn finish(known: &Known<'_>, notes: &mut Notes) {
    for asker in Side::BOTH {
        for (_, request) in known.requests.iter_open(asker) {
            let excused = request.cancelled.is_some()
                || request.lost
                || request.name() == "subscriptions/listen"
                || request.name() == "server/discover" && known.modern_server.is_none()
                || known.http.is_some_and(|http| http.is_under_way(request.at.stream()))
                || known.requests.may_be_answered(asker, request)
                || !known.requests.was_overtaken(asker, request);
            if !excused {
                notes.always(
                    Fault::new(
                        &UNANSWERED,
                        format!(
                            "`{}` was never answered, although later requests were",
                            request.name()
                        ),
                    )
                    .earlier(request.at.line(), asker)
                    .blame(asker.other())
                    .help("answer every request, with an error if need be"),
                );
            }
        }
    }
}
