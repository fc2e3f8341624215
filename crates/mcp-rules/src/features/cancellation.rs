//! What may be cancelled, and what may follow a cancellation.

use mcp_core::{RequestId, Revision, Revisions, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{Family, ids, tasks};
use crate::{
    Findings, Level,
    conversation::{
        Bounded, Event, Known, Moment, Notes, Remembered, Request, Topic, What, request_id,
    },
    findings::Fault,
    wire::json,
};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    MISSING_REQUEST_ID: "cancel-missing-request-id", Session, Level::Error, Revisions::only(Revision::V2025_11_25), "basic/utilities/cancellation#cancellation-flow";
    UNKNOWN: "cancel-unknown-request", Session, Level::Error, Revisions::ALL, "basic/utilities/cancellation#behavior-requirements";
    COMPLETED: "cancel-completed-request", Session, Level::Warning, Revisions::ALL, "basic/utilities/cancellation#behavior-requirements";
    TASK: "cancel-task-request", Session, Level::Error, Revisions::only(Revision::V2025_11_25), "basic/utilities/cancellation#behavior-requirements";
    AFTER_CANCEL: "response-after-cancel", Session, Level::Warning, Revisions::ALL, "basic/utilities/cancellation#behavior-requirements";
    NOT_SUBSCRIPTION: "server-cancel-not-subscription", Session, Level::Error, MODERN, "basic/patterns/cancellation#behavior-requirements";
}

/// Checks the params of `notifications/cancelled` by themselves.
pub(crate) fn check_message(params: Node<'_>, findings: &mut Findings<'_>) {
    match params.get("requestId") {
        Some(id) => json::check_integer("requestId", id, findings),
        None => findings.report(
            Fault::new(&MISSING_REQUEST_ID, "the cancellation does not name the request")
                .at(params.span())
                .help("add `requestId`; a task is cancelled with `tasks/cancel`"),
        ),
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Cancellation {
    /// Requests answered with a task, and when.
    tasks: Bounded<(Side, RequestId), Moment>,
    /// State of each subscription, by the id of its `subscriptions/listen`.
    subscriptions: Bounded<RequestId, SubscriptionState>,
}

/// Whether a server may still announce the end of a subscription.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum SubscriptionState {
    Open,
    /// Its result arrived when the client had sent this many requests. One page of the
    /// specification asks for the result, another for the notification; a server may send both.
    Answered {
        at: Moment,
        requests: u64,
    },
    /// Refused, or cancelled by the server.
    Over(Moment),
}

impl Family for Cancellation {
    fn concerns(event: &Event<'_>) -> bool {
        let touched = |request: &Request| request.cancelled.is_some() || request.task;
        matches!(event.topic, Topic::Cancellation | Topic::Subscriptions)
            || event.answered().is_some_and(touched)
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        _asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match event.what {
            What::Request(id) => {
                if event.name == "subscriptions/listen" {
                    self.subscriptions.insert(
                        id.clone(),
                        SubscriptionState::Open,
                        known.limits.remembered,
                    );
                }
            }
            What::Notification => {
                if event.name == "notifications/cancelled" {
                    self.judge(event, known, notes);
                }
            }
            What::Answer(answer) => {
                if let (Some(id), Some(request)) = (answer.id, answer.request) {
                    check_answer(request, event, known, notes);
                    if let Some(state) = self.subscriptions.get_mut(id)
                        && event.name == "subscriptions/listen"
                    {
                        state.answer(event, known);
                    }
                    if request.task && tasks::created(event).is_some() {
                        let key = (event.from.other(), id.clone());
                        self.tasks.insert(key, event.at, known.limits.remembered);
                    }
                }
            }
        }
    }
}

impl Cancellation {
    fn judge(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let Some(node) = event.params().and_then(|params| params.get("requestId")) else { return };
        let Some(id) = request_id(node) else { return };
        if event.is_modern() && event.from == Side::Server {
            self.judge_server(&id, node, event, known, notes);
            return;
        }
        if known.requests.open(event.from, &id).is_some() || cancels_handshake(&id, event, known) {
            return;
        }
        if let Some(created) = self.tasks.get(&(event.from, id.clone()))
            && created.surely_before(event.at)
        {
            notes.note(
                Fault::new(&TASK, format!("request {id} was answered with a task"))
                    .at(node.span())
                    .related(created.line(), "the task was created here")
                    .help("cancel a task with `tasks/cancel` and its `taskId`"),
            );
            return;
        }
        match known.requests.past(event.from, &id) {
            Some(request) => {
                let answered = request.answered;
                if answered.surely_before(event.at) {
                    notes.note(
                        Fault::new(&COMPLETED, format!("request {id} has been answered"))
                            .at(node.span())
                            .related(answered.line(), "the answer was here")
                            .help("do not cancel a request whose answer has arrived"),
                    );
                }
            }
            None if is_unknown(event.from, &id, event, known) => {
                notes.note(unknown(&id, node, event.from, known));
            }
            None => {}
        }
    }

    /// Judges a cancellation by the server, which may end only subscriptions (2026-07-28).
    fn judge_server(
        &mut self,
        id: &RequestId,
        node: Node<'_>,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let open = known.requests.open(Side::Client, id);
        if open.is_none_or(|request| request.name() == "subscriptions/listen")
            && let Some(state) = self.subscriptions.get_mut(id)
        {
            if let Some(ended) = state.cancel(event, known) {
                let message = format!("the subscription {id} has already ended");
                notes.note(
                    Fault::new(&NOT_SUBSCRIPTION, message)
                        .at(node.span())
                        .related(ended.line(), "it ended here")
                        .help("announce the end of a subscription once, when it ends"),
                );
            }
            return;
        }
        let past = known.requests.past(Side::Client, id);
        let request = open
            .map(|request| (request.name(), request.at.line()))
            .or_else(|| past.map(|request| (request.name.as_str(), request.line)));
        let message = match request {
            Some(("subscriptions/listen", _)) => return,
            Some((name, _)) => format!("request {id} is a `{name}`, not a subscription"),
            None if self.subscriptions.forgot() || !is_unknown(Side::Client, id, event, known) => {
                return;
            }
            None => format!("the client has made no request {id}"),
        };
        notes.note(
            Fault::new(&NOT_SUBSCRIPTION, message)
                .at(node.span())
                .related(request.and_then(|(_, line)| line), "the request was here")
                .help("to give up a request, answer it with an error; only subscriptions are ended this way"),
        );
    }
}

impl SubscriptionState {
    fn answer(&mut self, event: &Event<'_>, known: &Known<'_>) {
        let (at, requests) = (event.at, known.requests.made(Side::Client));
        match self {
            SubscriptionState::Open if event.result().is_some() => {
                *self = SubscriptionState::Answered { at, requests };
            }
            SubscriptionState::Open => *self = SubscriptionState::Over(at),
            SubscriptionState::Answered { .. } | SubscriptionState::Over(_) => {}
        }
    }

    /// Records that the server cancels. Returns when it had ended the subscription before, if it
    /// had.
    fn cancel(&mut self, event: &Event<'_>, known: &Known<'_>) -> Option<Moment> {
        let ended = match *self {
            SubscriptionState::Open => None,
            SubscriptionState::Answered { at, requests } => {
                known.requests.were_answered_since(Side::Client, requests).then_some(at)
            }
            SubscriptionState::Over(at) => Some(at),
        };
        *self = SubscriptionState::Over(event.at);
        // Over HTTP several clients may have used the id.
        ended.filter(|_| event.at.stream().is_none())
    }
}

/// Whether the client cancels its `initialize`, which `cancel-initialize` reports.
fn cancels_handshake(id: &RequestId, event: &Event<'_>, known: &Known<'_>) -> bool {
    event.from == Side::Client && !event.is_modern() && known.lifecycle.is_initialize(id)
}

/// Whether `asker` has certainly never made a request with this id.
fn is_unknown(asker: Side, id: &RequestId, event: &Event<'_>, known: &Known<'_>) -> bool {
    // Requests abandoned by closing their stream leave no trace.
    let traceless = event.is_modern() && event.at.stream().is_some();
    known.from_start
        && !traceless
        && !known.sent_unreadable(asker)
        && !known.requests.was_used(asker, id)
        && !known.requests.may_have_been(asker, id, event.revision.era())
}

fn unknown(id: &RequestId, node: Node<'_>, from: Side, known: &Known<'_>) -> Fault {
    let fault =
        Fault::new(&UNKNOWN, format!("the {from} has made no request {id}")).at(node.span());
    let other = ids::converted(id);
    let other = other.and_then(|other| known.requests.open(from, &other));
    let foreign = known.requests.open(from.other(), id);
    match (other, foreign) {
        (Some(other), _) => fault
            .related(other.at.line(), "the id has another type here")
            .help("send the id exactly as in the request: 1 and \"1\" are different ids"),
        (None, Some(foreign)) => fault
            .related(foreign.at.line(), "the other side made a request with this id")
            .help("cancel only your own requests; reject the other side's with an error"),
        (None, None) => fault.help("send the id of the request to cancel"),
    }
}

fn check_answer(request: &Request, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    // A subscription that its client abandons may still be ended properly.
    if matches!(event.name, "initialize" | "subscriptions/listen") {
        return;
    }
    // Every POST must be answered, and without an event stream only a response can do that.
    if known.http.is_some_and(|http| http.is_document(event.at.stream())) {
        return;
    }
    if let Some(fault) = late(request) {
        notes.note(fault.at(event.envelope.id.unwrap_or(event.node()).span()));
    }
}

/// Returns the fault of a message about a request that was already cancelled.
pub(super) fn late(request: &Request) -> Option<Fault> {
    let cancelled = **request.cancelled.as_ref()?;
    let message = format!("the `{}` request that this belongs to was cancelled", request.name());
    Some(
        Fault::new(&AFTER_CANCEL, message)
            .related(cancelled.line(), "it was cancelled here")
            .help("send nothing more about a request after its cancellation has arrived"),
    )
}
