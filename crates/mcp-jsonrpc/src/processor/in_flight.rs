use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_core::Ticket;
use tokio_util::sync::CancellationToken;

use crate::JsonRpcId;

/// The peer's requests that are being served, and notifications that run a tool.
///
/// Nothing here relies on unique ids: a peer may use one twice, and both requests are served.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    requests: HashMap<u64, InFlightRequest>,
    /// The memory that they hold together.
    bytes: usize,
    by_id: HashMap<JsonRpcId, Vec<u64>>,
}

#[derive(Debug)]
struct InFlightRequest {
    /// `None` for a notification.
    id: Option<JsonRpcId>,
    bytes: usize,
    ticket: Option<Ticket>,
    cancellation: CancellationToken,
}

/// Keeps a request on the list until dropped.
#[derive(Debug)]
pub(super) struct InFlightGuard<'w> {
    list: &'w InFlight,
    serial: u64,
    pub(super) cancellation: CancellationToken,
}

/// The limits on requests in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlightLimits {
    pub(super) requests: usize,
    pub(super) bytes: usize,
}

impl InFlight {
    /// Adds a request that holds `bytes` of memory, if the limits allow it. One request alone may
    /// exceed the limit on bytes.
    pub(super) fn add(
        &self,
        id: Option<JsonRpcId>,
        ticket: Option<Ticket>,
        bytes: usize,
        limits: InFlightLimits,
    ) -> Option<InFlightGuard<'_>> {
        let mut state = self.state();
        let all = state.bytes.saturating_add(bytes);
        let is_alone = state.requests.is_empty();
        if state.requests.len() >= limits.requests || all > limits.bytes && !is_alone {
            return None;
        }
        state.bytes = all;
        let serial = state.next;
        state.next += 1;
        let cancellation = CancellationToken::new();
        if let Some(id) = &id {
            state.by_id.entry(id.clone()).or_default().push(serial);
        }
        let request = InFlightRequest { id, bytes, ticket, cancellation: cancellation.clone() };
        state.requests.insert(serial, request);
        Some(InFlightGuard { list: self, serial, cancellation })
    }

    /// Cancels the requests with this id; `false` if there are none.
    pub(super) fn cancel(&self, id: &JsonRpcId) -> bool {
        let state = self.state();
        let serials = state.by_id.get(id).map_or(&[][..], Vec::as_slice);
        for serial in serials {
            if let Some(request) = state.requests.get(serial) {
                request.cancellation.cancel();
            }
        }
        !serials.is_empty()
    }

    /// Cancels the requests of this exchange.
    pub(super) fn cancel_ticket(&self, ticket: Ticket) {
        #[expect(clippy::iter_over_hash_type, reason = "the order does not matter")]
        for request in self.state().requests.values() {
            if request.ticket == Some(ticket) {
                request.cancellation.cancel();
            }
        }
    }

    fn remove(&self, serial: u64) {
        let mut state = self.state();
        let Some(request) = state.requests.remove(&serial) else { return };
        state.bytes = state.bytes.saturating_sub(request.bytes);
        let Some(id) = request.id else { return };
        if let Some(serials) = state.by_id.get_mut(&id) {
            serials.retain(|other| *other != serial);
            if serials.is_empty() {
                state.by_id.remove(&id);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.list.remove(self.serial);
        // The request was answered or abandoned; stop whatever still works on it.
        self.cancellation.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: InFlightLimits = InFlightLimits { requests: 9, bytes: 100 };

    #[test]
    fn two_requests_with_one_id_are_both_cancelled_and_removed() {
        let list = InFlight::default();
        let id = JsonRpcId::Integer(1);
        let first = list.add(Some(id.clone()), None, 0, LIMITS).unwrap();
        let second = list.add(Some(id.clone()), Some(Ticket(2)), 0, LIMITS).unwrap();
        let over = first.cancellation.clone();
        drop(first);
        assert!(over.is_cancelled(), "dropping the guard cancels the request");
        assert!(!second.cancellation.is_cancelled());
        assert!(list.cancel(&id));
        assert!(second.cancellation.is_cancelled());
        drop(second);
        assert!(!list.cancel(&id));
        assert!(list.state().requests.is_empty() && list.state().by_id.is_empty());
    }

    #[test]
    fn the_number_of_requests_is_limited() {
        let list = InFlight::default();
        let limits = InFlightLimits { requests: 1, ..LIMITS };
        let _first = list.add(None, None, 0, limits).unwrap();
        assert!(list.add(None, None, 0, limits).is_none());
    }

    #[test]
    fn the_memory_of_requests_is_limited() {
        let list = InFlight::default();
        let add = |bytes| list.add(None, None, bytes, LIMITS);
        let alone = add(200).unwrap();
        assert!(add(1).is_none() && add(usize::MAX).is_none());
        drop(alone);
        let half = add(50).unwrap();
        assert!(add(51).is_none());
        let _other_half = add(50).unwrap();
        assert!(add(1).is_none());
        drop(half);
        assert!(add(1).is_some());
    }

    #[test]
    fn a_disconnecting_client_cancels_only_its_exchange() {
        let list = InFlight::default();
        let first = list.add(Some(JsonRpcId::Integer(1)), Some(Ticket(1)), 0, LIMITS).unwrap();
        let second = list.add(Some(JsonRpcId::Integer(2)), Some(Ticket(2)), 0, LIMITS).unwrap();
        list.cancel_ticket(Ticket(2));
        assert!(!first.cancellation.is_cancelled() && second.cancellation.is_cancelled());
    }
}
