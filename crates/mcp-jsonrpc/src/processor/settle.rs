//! Requests of our own: whatever ends one, whoever waits for it hears of it.

use mcp_core::{PeerError, Refusal, Side, Ticket, Transport, TransportError};

use super::{
    JsonRpcProcessor, answer,
    overlong::{Kind, Overlong},
};
use crate::{JsonRpcId, JsonRpcResponse, transport::RefusedMessage};

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    /// Whether the other side will not answer a request of ours any more: so a stateless server, which
    /// has no requests of its own to cancel, ends a subscription.
    pub(super) fn is_ended(&self, id: &JsonRpcId, ticket: Option<Ticket>) -> bool {
        let Some(id) = id.as_i64() else { return false };
        let is_ours =
            self.may_not_answer() && self.link.calls.settle(id, Err(PeerError::Unanswered));
        if is_ours {
            self.answered(ticket);
        }
        is_ours
    }

    pub(super) fn take_response(&self, response: JsonRpcResponse, ticket: Option<Ticket>) {
        let outcome = answer::outcome_of(response.outcome);
        let id = match response.id {
            // The other side could not read our id; its exchange still tells which one it was.
            None | Some(JsonRpcId::Null) => self.own_request(ticket),
            Some(id) => id.as_i64(),
        };
        match id {
            Some(id) if self.link.calls.settle(id, outcome) => self.answered(ticket),
            _ => tracing::debug!("an answer came that nobody waits for"),
        }
    }

    /// The request of ours that opened the exchange.
    pub(super) fn own_request(&self, ticket: Option<Ticket>) -> Option<i64> {
        let Ticket(number) = ticket.filter(|_| self.link.transport.side() == Side::Client)?;
        i64::try_from(number).ok()
    }

    /// Fails our request `own` because its answer cannot be used; `false` if nobody waits for it.
    pub(super) fn settle_invalid(
        &self,
        own: Option<i64>,
        refusal: &Refusal,
        ticket: Option<Ticket>,
    ) -> bool {
        let invalid = answer::invalid_answer(refusal);
        let waited = own.is_some_and(|own| self.link.calls.settle(own, invalid));
        if waited {
            self.answered(ticket);
        }
        waited
    }

    /// Fails the request of ours that a message was meant to answer, which was too long to be read.
    /// `false` if it was not meant as an answer, or that cannot be told.
    ///
    /// Where it is an answer and does not tell to which request, it must be to the only one that
    /// waits. If several wait, they go on waiting: failing those that will still be answered is worse
    /// than a time-out of one.
    pub(super) fn settle_overlong(
        &self,
        message: &Overlong,
        error: TransportError,
        ticket: Option<Ticket>,
    ) -> bool {
        let own = match (&message.id, message.kind) {
            (Some(JsonRpcId::Integer(id)), Kind::Answer | Kind::Unknown) => Some(*id),
            (None, Kind::Answer) => self.own_request(ticket).or_else(|| self.link.calls.only()),
            (_, Kind::Call) | (Some(_), _) | (None, Kind::Unknown) => None,
        };
        let failed = Err(PeerError::Transport(error));
        if own.is_some_and(|own| self.link.calls.settle(own, failed)) {
            self.answered(ticket);
            return true;
        }
        message.kind == Kind::Answer
    }

    /// Whether an entry of a batch that is no message has the id of a request of ours, and so was
    /// meant as its answer. Nobody waits for it any longer then.
    pub(super) fn was_our_answer(&self, refused: &RefusedMessage, ticket: Option<Ticket>) -> bool {
        match refused.id.as_ref().and_then(JsonRpcId::as_i64) {
            Some(id) if refused.may_answer => {
                self.settle_invalid(Some(id), &refused.refusal, ticket)
            }
            _ => false,
        }
    }

    /// Says that a request of ours has its answer. A server's requests open no exchange: what came
    /// with the answer may wait for one itself.
    pub(super) fn answered(&self, ticket: Option<Ticket>) {
        if self.link.transport.side() == Side::Client {
            self.settle(ticket);
        }
    }

    /// Says that nothing more needs to be waited for in this exchange.
    pub(super) fn settle(&self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.link.transport.inner().settle(ticket);
        }
    }

    pub(super) fn exchange_over(&self, ticket: Ticket, error: Option<TransportError>) {
        match self.own_request(Some(ticket)) {
            Some(id) => {
                let failed = error.map_or(PeerError::Unanswered, PeerError::Transport);
                self.link.calls.settle(id, Err(failed));
            }
            None => self.link.in_work.cancel_ticket(ticket),
        }
    }
}
