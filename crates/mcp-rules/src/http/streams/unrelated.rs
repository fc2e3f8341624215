//! Messages that do not belong on the stream of a request (2026-07-28).

use mcp_core::{Era, RequestId, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use serde::{Deserialize, Serialize};

use super::UNRELATED;
use crate::{
    conversation::{Bounded, Known, META_SUBSCRIPTION, Notes, Request, request_id},
    findings::Fault,
    http::{Exchange, Observation},
};

/// The request that each progress token belongs to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tokens(Bounded<RequestId, RequestId>);

impl Tokens {
    /// Records the tokens of a POST.
    pub(super) fn record(&mut self, event: &Observation<'_>, known: &Known<'_>) {
        if event.revision.era() != Era::Modern {
            return;
        }
        event.each_message(|message| {
            let meta = message.envelope.params.and_then(|params| params.get("_meta"));
            let token = meta.and_then(|meta| meta.get("progressToken")).and_then(request_id);
            if let (Some(token), Some(id)) = (token, &message.id) {
                self.0.insert(token, id.clone(), known.limits.remembered);
            }
        });
    }

    /// Judges the notifications on the stream of an ordinary request.
    pub(super) fn judge(
        &self,
        event: &Observation<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let listens = exchange.requests().any(|asked| *asked.name == *"subscriptions/listen");
        if !exchange.response.carries_requests() || listens {
            return;
        }
        event.each_sound_message(|message, kind| {
            let envelope = &message.envelope;
            if kind == MessageKind::Notification
                && let Some((what, owner)) = self.unrelated(envelope, exchange, known)
            {
                notes.note(
                    Fault::new(&UNRELATED, what)
                        .at(envelope.object.span())
                        .related(owner, "it belongs to this request")
                        .help("send it on the stream of the request it belongs to"),
                );
            }
        });
    }

    /// Returns why a notification does not belong here, and the line of the request it belongs to.
    fn unrelated(
        &self,
        envelope: &Envelope<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
    ) -> Option<(String, Option<u64>)> {
        let name = envelope.method.and_then(Node::as_str)?;
        let params = envelope.params?;
        if is_of_subscription(&name) {
            let id = params.get("_meta")?.get(META_SUBSCRIPTION).and_then(request_id)?;
            let open = known.requests.open(Side::Client, &id);
            if open.is_none() && known.from_start {
                return None; // That there is no subscription is another fault.
            }
            let message =
                format!("`{name}` is sent on the stream of a request that is not its subscription");
            return Some((message, open.and_then(|request| request.at.line())));
        }
        if name != "notifications/progress" {
            return None;
        }
        let token = params.get("progressToken").and_then(request_id)?;
        let owner = self.owner(&token, known)?;
        let stream = owner.at.stream()?;
        (stream != exchange.number).then(|| {
            let message = format!(
                "progress of the request on exchange {stream} is sent on the stream of another request"
            );
            (message, owner.at.line())
        })
    }

    /// The open request that carries a token.
    fn owner<'k>(&self, token: &RequestId, known: &Known<'k>) -> Option<&'k Request> {
        known.requests.open(Side::Client, self.0.get(token)?)
    }
}

/// Whether a notification is one that subscriptions deliver.
pub(super) fn is_of_subscription(name: &str) -> bool {
    matches!(
        name,
        "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/subscriptions/acknowledged"
    )
}
