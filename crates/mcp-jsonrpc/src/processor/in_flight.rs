use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_core::{MemoryBudget, MemoryShare, Ticket};
use tokio_util::sync::CancellationToken;

use crate::JsonRpcId;

/// The peer's requests that are being served, and notifications that run a tool.
///
/// Nothing here relies on unique ids: a peer may use one twice, and both requests are served.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Requests are found by their slot. Cancelling one by its id, which is rare, looks through all.
    slots: Vec<Option<InFlightRequest>>,
    /// The empty slots.
    free: Vec<usize>,
    /// The total memory of all requests, in bytes.
    bytes: usize,
}

impl State {
    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn requests(&self) -> impl Iterator<Item = &InFlightRequest> {
        self.slots.iter().flatten()
    }
}

#[derive(Debug)]
struct InFlightRequest {
    /// `None` for a notification.
    id: Option<JsonRpcId>,
    held: MemoryShare,
    ticket: Option<Ticket>,
    cancellation: CancellationToken,
}

/// Keeps a request on the list until dropped.
#[derive(Debug)]
pub(super) struct InFlightGuard<'w> {
    list: &'w InFlight,
    slot: usize,
    pub(super) cancellation: CancellationToken,
}

/// The number of slots kept when nothing is in flight.
const KEPT_SLOTS: usize = 64;

/// The limits on requests in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlightLimits<'l> {
    pub(super) requests: usize,
    pub(super) bytes: usize,
    /// For all conversations together.
    pub(super) budget: &'l MemoryBudget,
}

impl InFlight {
    /// Adds a request that holds `bytes` of memory, if the limits allow it. One request alone may
    /// exceed the limit on bytes.
    pub(super) fn add(
        &self,
        id: Option<JsonRpcId>,
        ticket: Option<Ticket>,
        bytes: usize,
        limits: InFlightLimits<'_>,
    ) -> Option<InFlightGuard<'_>> {
        let mut state = self.state();
        let all = state.bytes.saturating_add(bytes);
        let count = state.len();
        if count >= limits.requests || all > limits.bytes && count > 0 {
            return None;
        }
        let held = limits.budget.take(bytes)?;
        state.bytes = all;
        let cancellation = CancellationToken::new();
        let request = InFlightRequest { id, held, ticket, cancellation: cancellation.clone() };
        let slot = state.free.pop().unwrap_or_else(|| {
            state.slots.push(None);
            state.slots.len() - 1
        });
        state.slots[slot] = Some(request);
        Some(InFlightGuard { list: self, slot, cancellation })
    }

    /// Cancels the requests with this id; `false` if there are none.
    pub(super) fn cancel(&self, id: &JsonRpcId) -> bool {
        self.cancel_where(|request| request.id.as_ref() == Some(id))
    }

    /// Cancels the requests of this exchange.
    pub(super) fn cancel_ticket(&self, ticket: Ticket) {
        self.cancel_where(|request| request.ticket == Some(ticket));
    }

    fn cancel_where(&self, matches: impl Fn(&InFlightRequest) -> bool) -> bool {
        let state = self.state();
        let mut found = false;
        for request in state.requests().filter(|request| matches(request)) {
            request.cancellation.cancel();
            found = true;
        }
        found
    }

    fn remove(&self, slot: usize) {
        let mut state = self.state();
        let Some(request) = state.slots.get_mut(slot).and_then(Option::take) else { return };
        state.bytes = state.bytes.saturating_sub(request.held.bytes());
        state.free.push(slot);
        if state.len() == 0 {
            // Many at once are rare; their slots need not be kept.
            state.free.clear();
            state.slots.clear();
            state.slots.shrink_to(KEPT_SLOTS);
            state.free.shrink_to(KEPT_SLOTS);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.list.remove(self.slot);
        // The request was answered or abandoned; stop whatever still works on it.
        self.cancellation.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(budget: &MemoryBudget) -> InFlightLimits<'_> {
        InFlightLimits { requests: 9, bytes: 100, budget }
    }

    fn ample() -> MemoryBudget {
        MemoryBudget::new(1000)
    }

    #[test]
    fn two_requests_with_one_id_are_both_cancelled_and_removed() {
        let (list, budget) = (InFlight::default(), ample());
        let id = JsonRpcId::Integer(1);
        let first = list.add(Some(id.clone()), None, 0, limits(&budget)).unwrap();
        let second = list.add(Some(id.clone()), Some(Ticket(2)), 0, limits(&budget)).unwrap();
        let over = first.cancellation.clone();
        drop(first);
        assert!(over.is_cancelled(), "dropping the guard cancels the request");
        assert!(!second.cancellation.is_cancelled());
        assert!(list.cancel(&id));
        assert!(second.cancellation.is_cancelled());
        drop(second);
        assert!(!list.cancel(&id));
        assert_eq!(list.state().len(), 0);
    }

    #[test]
    fn the_number_of_requests_is_limited() {
        let (list, budget) = (InFlight::default(), ample());
        let limits = InFlightLimits { requests: 1, ..limits(&budget) };
        let _first = list.add(None, None, 0, limits).unwrap();
        assert!(list.add(None, None, 0, limits).is_none());
    }

    #[test]
    fn a_slot_is_used_again_without_mixing_up_its_requests() {
        let (list, budget) = (InFlight::default(), ample());
        let add = |id| list.add(Some(JsonRpcId::Integer(id)), None, 0, limits(&budget)).unwrap();
        let (first, second) = (add(1), add(2));
        drop(first);
        let third = add(3);
        assert!(!list.cancel(&JsonRpcId::Integer(1)));
        assert!(list.cancel(&JsonRpcId::Integer(3)));
        assert!(third.cancellation.is_cancelled() && !second.cancellation.is_cancelled());
    }

    #[test]
    fn the_memory_of_requests_is_limited() {
        let (list, budget) = (InFlight::default(), ample());
        let add = |bytes| list.add(None, None, bytes, limits(&budget));
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
    fn conversations_share_a_budget() {
        let (one, other, budget) =
            (InFlight::default(), InFlight::default(), MemoryBudget::new(100));
        let first = one.add(None, None, 60, limits(&budget)).unwrap();
        assert!(other.add(None, None, 41, limits(&budget)).is_none());
        assert_eq!(other.state().len(), 0);
        let _second = other.add(None, None, 40, limits(&budget)).unwrap();
        assert!(one.add(None, None, 1, limits(&budget)).is_none());
        drop(first);
        assert!(other.add(None, None, 60, limits(&budget)).is_some());
    }

    #[test]
    fn a_disconnecting_client_cancels_only_its_exchange() {
        let (list, budget) = (InFlight::default(), ample());
        let add = |number: i64, ticket| {
            list.add(Some(JsonRpcId::Integer(number)), Some(Ticket(ticket)), 0, limits(&budget))
        };
        let (first, second) = (add(1, 1).unwrap(), add(2, 2).unwrap());
        list.cancel_ticket(Ticket(2));
        assert!(!first.cancellation.is_cancelled() && second.cancellation.is_cancelled());
    }
}
