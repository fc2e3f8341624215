//! `subscriptions/listen` and the notifications it delivers (2026-07-28).

mod filter;

use mcp_core::{RequestId, Revision, Revisions, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use self::filter::{Filter, Kind};
use super::Family;
use crate::{
    Level,
    conversation::{
        Bounded, Event, Known, META_SUBSCRIPTION, Moment, Notes, Remembered, What, request_id,
    },
    findings::Fault,
};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    ACK_NOT_FIRST: "subscription-ack-not-first", Session, Level::Error, MODERN, "basic/patterns/subscriptions#acknowledgment";
    ID_MISSING: "subscription-id-missing", Session, Level::Error, MODERN, "basic/patterns/subscriptions#receiving-notifications";
    ID_UNKNOWN: "subscription-id-unknown", Session, Level::Error, MODERN, "basic/patterns/subscriptions#receiving-notifications";
    NOT_REQUESTED: "subscription-type-not-requested", Session, Level::Error, MODERN, "basic/patterns/subscriptions#opening-a-stream";
    ACK_SUPERSET: "subscription-ack-superset", Session, Level::Warning, MODERN, "basic/patterns/subscriptions#acknowledgment";
    ACK_UNDECLARED: "subscription-ack-undeclared", Session, Level::Warning, MODERN, "server/resources#capabilities";
    RESULT_ID: "subscription-result-id-mismatch", Session, Level::Error, MODERN, "basic/patterns/subscriptions#graceful-closure";
    REQUEST_SCOPED: "request-scoped-on-subscription", Session, Level::Error, MODERN, "basic/transports/streamable-http#receiving-messages";
}

/// Maximum remembered subscriptions, including ended ones.
const MAX_SUBSCRIPTIONS: usize = 1000;
/// Maximum cancellations awaiting proof of arrival.
const MAX_CANCELLING: usize = 64;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Subscriptions {
    known: Bounded<RequestId, Subscription>,
    /// Cancelled ones the server may not know about yet, oldest first.
    cancelling: Vec<Cancelling>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Subscription {
    at: Moment,
    filter: Filter,
    /// Whether it was acknowledged, or the missing acknowledgement was reported.
    acknowledged: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Open,
    /// Cancelled by the client, or its stream closed; the server may not know yet.
    Cancelled,
    Ended(Moment),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Cancelling {
    subscription: RequestId,
    at: Moment,
    /// A request sent after the cancellation: once it is answered, the server knows.
    later: Option<RequestId>,
}

impl Family for Subscriptions {
    fn concerns(event: &Event<'_>) -> bool {
        event.is_modern()
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        _asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match (event.what, event.from) {
            (What::Request(id), Side::Client) => self.follow_request(id, event, known),
            (What::Notification, Side::Client) => self.follow_cancellation(event),
            (What::Notification, Side::Server) => self.follow_notification(event, known, notes),
            (What::Answer(answer), Side::Server) => {
                if let Some(id) = answer.id {
                    self.follow_answer(id, event, notes);
                }
            }
            (What::Request(_), Side::Server) | (What::Answer(_), Side::Client) => {}
        }
    }
}

impl Subscriptions {
    fn follow_request(&mut self, id: &RequestId, event: &Event<'_>, known: &Known<'_>) {
        for cancelling in &mut self.cancelling {
            cancelling.later.get_or_insert_with(|| id.clone());
        }
        if event.name != "subscriptions/listen" {
            return;
        }
        let filter = event.params().and_then(|params| params.get("notifications"));
        let subscription = Subscription {
            at: event.at,
            filter: filter.map(Filter::of).unwrap_or_default(),
            acknowledged: false,
            state: State::Open,
        };
        self.cancelling.retain(|cancelling| cancelling.subscription != *id);
        let capacity = MAX_SUBSCRIPTIONS.min(known.limits.remembered);
        self.known.insert(id.clone(), subscription, capacity);
    }

    /// Records the client's cancellation, which takes effect once the server knows.
    fn follow_cancellation(&mut self, event: &Event<'_>) {
        if let Some(id) = cancelled_id(event) {
            self.cancel(&id, event.at);
        }
    }

    fn cancel(&mut self, id: &RequestId, at: Moment) {
        let Some(subscription) = self.known.get_mut(id) else { return };
        if subscription.state == State::Open {
            subscription.state = State::Cancelled;
            if self.cancelling.len() < MAX_CANCELLING {
                self.cancelling.push(Cancelling { subscription: id.clone(), at, later: None });
            }
        }
    }

    /// Called when `from` closed the response stream of these requests and no other continues it.
    pub(crate) fn follow_stream_end<'i>(
        &mut self,
        requests: impl Iterator<Item = &'i RequestId>,
        from: Side,
        at: Moment,
    ) {
        for id in requests {
            let Some(subscription) = self.known.get_mut(id) else { continue };
            if subscription.at.stream() != at.stream() {
                continue; // The id was reused.
            }
            match from {
                Side::Server => subscription.end(at),
                Side::Client => self.cancel(id, at),
            }
        }
    }

    /// Called when the server reacts to a request, and so knows of earlier cancellations.
    fn follow_reaction(&mut self, id: &RequestId, at: Moment) {
        let arrived = |cancelling: &Cancelling| cancelling.later.as_ref() == Some(id);
        for cancelling in self.cancelling.iter().filter(|cancelling| arrived(cancelling)) {
            if let Some(subscription) = self.known.get_mut(&cancelling.subscription) {
                subscription.end(at.but_on_line(cancelling.at.line()));
            }
        }
        self.cancelling.retain(|cancelling| !arrived(cancelling));
    }

    fn follow_answer(&mut self, id: &RequestId, event: &Event<'_>, notes: &mut Notes) {
        self.follow_reaction(id, event.at);
        if event.name != "subscriptions/listen" {
            return;
        }
        if let Some(result) = event.result() {
            check_result_id(id, result, event, notes);
        }
        let Some(subscription) = self.known.get_mut(id) else { return };
        let cancelled = subscription.state == State::Cancelled;
        if event.result().is_some() && !subscription.acknowledged && !cancelled {
            let at = event.envelope.id.unwrap_or(event.node());
            notes.note(not_acknowledged(at, subscription));
        }
        subscription.end(event.at);
    }

    fn follow_notification(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let id = event.meta().and_then(|meta| meta.get(META_SUBSCRIPTION));
        match event.name {
            "notifications/progress" | "notifications/message" => {
                check_request_scoped(id, event, known, notes);
                return;
            }
            "notifications/cancelled" => {
                if let Some(subscription) =
                    cancelled_id(event).and_then(|id| self.known.get_mut(&id))
                {
                    subscription.end(event.at);
                }
                return;
            }
            _ => {}
        }
        let kind = Kind::of(event.name);
        let is_acknowledgement = event.name == "notifications/subscriptions/acknowledged";
        let Some(node) = id else {
            if is_acknowledgement || kind.is_some() {
                self.check_missing(is_acknowledgement, event, known, notes);
            }
            return;
        };
        let Some(id) = request_id(node) else { return };
        if is_acknowledgement {
            self.follow_reaction(&id, event.at);
        }
        if !self.check_open(&id, node, event, known, notes) {
            return;
        }
        let Some(subscription) = self.known.get_mut(&id) else { return };
        // HTTP streams are not ordered relative to each other.
        if !subscription.acknowledged && subscription.at.stream() == event.at.stream() {
            if !is_acknowledgement {
                notes.note(not_acknowledged(method_node(event), subscription));
            }
            subscription.acknowledged = true;
        }
        if let Some(kind) = kind {
            subscription.check_requested(kind, event, notes);
        } else if is_acknowledgement
            && let Some(promised) = event.params().and_then(|params| params.get("notifications"))
        {
            subscription.acknowledged = true;
            subscription.check_promised(promised, notes);
            filter::check_declared(promised, event, known, notes);
        }
    }

    fn check_missing(
        &self,
        is_acknowledgement: bool,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        // A legacy server being probed knows nothing of subscriptions.
        let modern = is_acknowledgement
            || known.modern_server.is_some()
            || self.known.iter().any(|(_, subscription)| subscription.acknowledged);
        if modern {
            notes.note(
                Fault::new(&ID_MISSING, "the notification does not say which subscription it is for")
                    .at(event.params().unwrap_or(method_node(event)).span())
                    .help(format!("put the id of the `subscriptions/listen` request into `_meta` as `{META_SUBSCRIPTION}`")),
            );
        }
    }

    /// Returns whether the subscription may be considered open; reports it if it certainly is not.
    fn check_open(
        &self,
        id: &RequestId,
        node: Node<'_>,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> bool {
        let fault = match self.known.get(id) {
            Some(Subscription { state: State::Open | State::Cancelled, .. }) => return true,
            Some(subscription) => {
                let State::Ended(ended) = subscription.state else { return true };
                // Nothing at all may follow the end on its own HTTP stream, which is another rule's
                // business.
                let own = subscription.at.stream();
                let behind = own.is_some() && own == event.at.stream();
                if behind || !ended.surely_before(event.at) || was_busy(ended, known) {
                    return false;
                }
                Fault::new(&ID_UNKNOWN, format!("the subscription {id} has ended"))
                    .related(ended.line(), "it ended here")
                    .help("send nothing more for a subscription that has ended")
            }
            None if self.is_certainly_unknown(event, known) => {
                let message = format!("no `subscriptions/listen` request has the id {id}");
                let fault = Fault::new(&ID_UNKNOWN, message)
                    .help("use the id of the `subscriptions/listen` request exactly as received");
                match self.same_but_for_type(id) {
                    Some(subscription) => fault.related(
                        subscription.at.line(),
                        "this request's id has the same value, but another type",
                    ),
                    None => fault,
                }
            }
            None => return false,
        };
        notes.note(fault.at(node.span()));
        false
    }

    /// Whether every subscription ever made is known.
    fn is_certainly_unknown(&self, event: &Event<'_>, known: &Known<'_>) -> bool {
        let all_seen = known.from_start && !self.known.forgot();
        all_seen || listens(event, known)
    }

    fn same_but_for_type(&self, id: &RequestId) -> Option<&Subscription> {
        let other = match (id.as_i64(), id.as_str()) {
            (Some(number), _) => RequestId::from(number.to_string()),
            (None, Some(text)) => RequestId::from_integer_literal(text)?,
            (None, None) => return None,
        };
        self.known.get(&other)
    }
}

impl Subscription {
    fn end(&mut self, at: Moment) {
        if !matches!(self.state, State::Ended(_)) {
            self.state = State::Ended(at);
            self.filter = Filter::default();
        }
    }

    fn check_requested(&self, kind: Kind, event: &Event<'_>, notes: &mut Notes) {
        if !self.filter.excludes(kind, event) {
            return;
        }
        let uri = event.params().and_then(|params| params.get("uri"));
        let (message, at) = if let (Kind::Updates, Some(uri)) = (kind, uri) {
            ("the subscription does not list this resource".to_owned(), uri)
        } else {
            let message = format!("the subscription did not ask for `{}`", kind.member());
            (message, method_node(event))
        };
        notes.note(
            Fault::new(&NOT_REQUESTED, message)
                .at(at.span())
                .related(self.at.line(), "the subscription was made here")
                .help("send only what the subscription's own filter asks for"),
        );
    }

    fn check_promised(&self, promised: Node<'_>, notes: &mut Notes) {
        for (what, at) in self.filter.exceeded_by(promised) {
            notes.note(
                Fault::new(&ACK_SUPERSET, format!("the client did not ask for {what}"))
                    .at(at.span())
                    .related(self.at.line(), "the subscription was made here")
                    .help("acknowledge only what was requested and is supported"),
            );
        }
    }
}

fn not_acknowledged(at: Node<'_>, subscription: &Subscription) -> Fault {
    Fault::new(&ACK_NOT_FIRST, "the subscription has not been acknowledged yet")
        .at(at.span())
        .related(subscription.at.line(), "the subscription was made here")
        .help("send `notifications/subscriptions/acknowledged` before anything else")
}

fn check_result_id(id: &RequestId, result: Node<'_>, event: &Event<'_>, notes: &mut Notes) {
    let node = result.get("_meta").and_then(|meta| meta.get(META_SUBSCRIPTION));
    // A missing one violates the schema.
    let Some(node) = node else { return };
    let named = request_id(node);
    if named.as_ref() != Some(id) {
        let message = match named {
            Some(named) => format!("the result ends the subscription {id}, but names {named}"),
            None => format!("the result ends the subscription {id}, but does not name it"),
        };
        notes.note(
            Fault::new(&RESULT_ID, message)
                .at(node.span())
                .related(
                    event.answered().and_then(|request| request.at.line()),
                    "the subscription was made here",
                )
                .help("repeat the id of the response, with its type"),
        );
    }
}

/// Checks that progress and logs belong to a request of their own.
/// Whether a request that is still open may have been in flight when a subscription ended: the change
/// it makes may have been reported to the subscription before the server knew of the end.
fn was_busy(ended: Moment, known: &Known<'_>) -> bool {
    let open = known.requests.iter_open(Side::Client).take(MAX_SUBSCRIPTIONS);
    open.filter(|(_, request)| request.name.as_str() != "subscriptions/listen")
        .any(|(_, request)| request.at.line() <= ended.line())
}

fn check_request_scoped(
    id: Option<Node<'_>>,
    event: &Event<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let (message, at) = match id {
        Some(id) => ("it names a subscription, but belongs to a request", id),
        None if listens(event, known) => {
            ("it is on the stream of a subscription, but belongs to a request", method_node(event))
        }
        None => return,
    };
    notes.note(
        Fault::new(&REQUEST_SCOPED, message)
            .at(at.span())
            .help("send it on the stream of the request that it is about, without a subscription"),
    );
}

/// Whether a message arrived on the HTTP stream of a subscription.
fn listens(event: &Event<'_>, known: &Known<'_>) -> bool {
    known.http.is_some_and(|http| http.has_request(event.at.stream(), "subscriptions/listen"))
}

fn cancelled_id(event: &Event<'_>) -> Option<RequestId> {
    if event.name != "notifications/cancelled" {
        return None;
    }
    request_id(event.params()?.get("requestId")?)
}

fn method_node<'a>(event: &Event<'a>) -> Node<'a> {
    event.envelope.method.unwrap_or(event.node())
}
