//! Completes our own requests: with their response, or with the reason why there is none.

use mcp_core::{PeerError, Refusal, Side, Ticket, Transport, TransportError};

use super::{
    JsonRpcProcessor,
    overlong::{Kind, Overlong},
    respond,
};
use crate::{JsonRpcId, JsonRpcResponse, transport::RefusedMessage};

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    /// Ends our request `id`, which the server has cancelled; `false` if it is not ours. A stateless
    /// server, which has no requests of its own to cancel, ends a subscription this way.
    pub(super) fn end_own_request(&self, id: &JsonRpcId, ticket: Option<Ticket>) -> bool {
        let Some(id) = id.as_i64() else { return false };
        let is_ours =
            self.is_stateless_client() && self.link.calls.settle(id, Err(PeerError::Unanswered));
        if is_ours {
            self.finish_own_exchange(ticket);
        }
        is_ours
    }

    pub(super) fn handle_response(&self, response: JsonRpcResponse, ticket: Option<Ticket>) {
        let outcome = respond::outcome_of(response.outcome);
        let id = match response.id {
            // The peer could not read our id; the exchange still identifies the request.
            None | Some(JsonRpcId::Null) => self.own_request(ticket),
            Some(id) => id.as_i64(),
        };
        match id {
            Some(id) if self.link.calls.settle(id, outcome) => self.finish_own_exchange(ticket),
            _ => tracing::debug!("received a response to no pending request"),
        }
    }

    /// Our request that opened the exchange.
    pub(super) fn own_request(&self, ticket: Option<Ticket>) -> Option<i64> {
        let Ticket(number) = ticket.filter(|_| self.link.transport.side() == Side::Client)?;
        i64::try_from(number).ok()
    }

    /// Fails our request `own` because its response is invalid; `false` if it is not pending.
    pub(super) fn settle_invalid(
        &self,
        own: Option<i64>,
        refusal: &Refusal,
        ticket: Option<Ticket>,
    ) -> bool {
        let invalid = respond::invalid_answer(refusal);
        let was_pending = own.is_some_and(|own| self.link.calls.settle(own, invalid));
        if was_pending {
            self.finish_own_exchange(ticket);
        }
        was_pending
    }

    /// Fails our request that a message over the size limit was meant to answer. `false` if it was
    /// not meant as a response, or its kind is unknown.
    ///
    /// A response without a readable id must belong to the only pending request. If several are
    /// pending, none is failed: failing requests that will still be answered is worse than one
    /// timeout.
    pub(super) fn settle_overlong(
        &self,
        message: &Overlong,
        error: TransportError,
        ticket: Option<Ticket>,
    ) -> bool {
        let own = match (&message.id, message.kind) {
            (Some(JsonRpcId::Integer(id)), Kind::Response | Kind::Unknown) => Some(*id),
            (None, Kind::Response) => {
                self.own_request(ticket).or_else(|| self.link.calls.only_pending())
            }
            (_, Kind::Call) | (Some(_), _) | (None, Kind::Unknown) => None,
        };
        let failed = Err(PeerError::Transport(error));
        if own.is_some_and(|own| self.link.calls.settle(own, failed)) {
            self.finish_own_exchange(ticket);
            return true;
        }
        message.kind == Kind::Response
    }

    /// Whether an invalid batch entry has the id of our own request, and so was meant as its
    /// response. If so, the request fails.
    pub(super) fn settle_batch_entry(
        &self,
        refused: &RefusedMessage,
        ticket: Option<Ticket>,
    ) -> bool {
        match refused.id.as_ref().and_then(JsonRpcId::as_i64) {
            Some(id) if refused.may_be_response => {
                self.settle_invalid(Some(id), &refused.refusal, ticket)
            }
            _ => false,
        }
    }

    /// Settles the exchange of our own request. A server's requests open none: the exchange that
    /// carried the response is the client's, which may expect a response itself.
    pub(super) fn finish_own_exchange(&self, ticket: Option<Ticket>) {
        if self.link.transport.side() == Side::Client {
            self.finish_exchange(ticket);
        }
    }

    /// Tells the transport that the exchange is complete.
    pub(super) fn finish_exchange(&self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.link.transport.inner().finish_exchange(ticket);
        }
    }

    pub(super) fn exchange_over(&self, ticket: Ticket, error: Option<TransportError>) {
        match self.own_request(Some(ticket)) {
            Some(id) => {
                let failed = error.map_or(PeerError::Unanswered, PeerError::Transport);
                self.link.calls.settle(id, Err(failed));
            }
            None => self.link.in_flight.cancel_ticket(ticket),
        }
    }
}
