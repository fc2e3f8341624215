use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_core::Ticket;
use tokio_util::sync::CancellationToken;

use crate::JsonRpcId;

/// Requests of the other side that are being served, and notifications that run something.
///
/// Nothing here relies on ids being different: a careless peer may use one twice, and both
/// requests are served.
#[derive(Debug, Default)]
pub(super) struct InWork(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    requests: HashMap<u64, InWorkRequest>,
    /// What is kept of all of them.
    bytes: usize,
    by_id: HashMap<JsonRpcId, Vec<u64>>,
}

#[derive(Debug)]
struct InWorkRequest {
    /// A notification has none.
    id: Option<JsonRpcId>,
    bytes: usize,
    ticket: Option<Ticket>,
    cancellation: CancellationToken,
}

/// Keeps a request on the list as long as it lives.
#[derive(Debug)]
pub(super) struct Place<'w> {
    list: &'w InWork,
    serial: u64,
    pub(super) cancellation: CancellationToken,
}

/// What may be in work at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) requests: usize,
    pub(super) bytes: usize,
}

impl InWork {
    /// Puts a request of so many `bytes` on the list, if there is room.
    pub(super) fn enter(
        &self,
        id: Option<JsonRpcId>,
        ticket: Option<Ticket>,
        bytes: usize,
        room: Room,
    ) -> Option<Place<'_>> {
        let mut state = self.state();
        let all = state.bytes.saturating_add(bytes);
        let is_alone = state.requests.is_empty();
        if state.requests.len() >= room.requests || all > room.bytes && !is_alone {
            return None;
        }
        state.bytes = all;
        let serial = state.next;
        state.next += 1;
        let cancellation = CancellationToken::new();
        if let Some(id) = &id {
            state.by_id.entry(id.clone()).or_default().push(serial);
        }
        let request = InWorkRequest { id, bytes, ticket, cancellation: cancellation.clone() };
        state.requests.insert(serial, request);
        Some(Place { list: self, serial, cancellation })
    }

    /// Cancels what has this id; `false` if nothing has.
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

    /// Cancels what came with this ticket.
    pub(super) fn cancel_ticket(&self, ticket: Ticket) {
        #[expect(clippy::iter_over_hash_type, reason = "each is cancelled for itself")]
        for request in self.state().requests.values() {
            if request.ticket == Some(ticket) {
                request.cancellation.cancel();
            }
        }
    }

    fn leave(&self, serial: u64) {
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

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.list.leave(self.serial);
        // Answered or given up: nobody waits for it any more.
        self.cancellation.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { requests: 9, bytes: 100 };

    #[test]
    fn two_requests_with_one_id_are_both_cancelled_and_both_leave() {
        let list = InWork::default();
        let id = JsonRpcId::Integer(1);
        let first = list.enter(Some(id.clone()), None, 0, ROOM).unwrap();
        let second = list.enter(Some(id.clone()), Some(Ticket(2)), 0, ROOM).unwrap();
        let over = first.cancellation.clone();
        drop(first);
        assert!(over.is_cancelled(), "whoever still works for it hears that it is over");
        assert!(!second.cancellation.is_cancelled());
        assert!(list.cancel(&id));
        assert!(second.cancellation.is_cancelled());
        drop(second);
        assert!(!list.cancel(&id));
        assert!(list.state().requests.is_empty() && list.state().by_id.is_empty());
    }

    #[test]
    fn the_list_is_bounded() {
        let list = InWork::default();
        let room = Room { requests: 1, ..ROOM };
        let _first = list.enter(None, None, 0, room).unwrap();
        assert!(list.enter(None, None, 0, room).is_none());
    }

    #[test]
    fn so_is_what_is_kept_of_the_requests() {
        let list = InWork::default();
        let enter = |bytes| list.enter(None, None, bytes, ROOM);
        let alone = enter(200).unwrap();
        assert!(enter(1).is_none() && enter(usize::MAX).is_none());
        drop(alone);
        let half = enter(50).unwrap();
        assert!(enter(51).is_none());
        let _other_half = enter(50).unwrap();
        assert!(enter(1).is_none());
        drop(half);
        assert!(enter(1).is_some());
    }

    #[test]
    fn a_client_that_hangs_up_cancels_its_exchange_only() {
        let list = InWork::default();
        let first = list.enter(Some(JsonRpcId::Integer(1)), Some(Ticket(1)), 0, ROOM).unwrap();
        let second = list.enter(Some(JsonRpcId::Integer(2)), Some(Ticket(2)), 0, ROOM).unwrap();
        list.cancel_ticket(Ticket(2));
        assert!(!first.cancellation.is_cancelled() && second.cancellation.is_cancelled());
    }
}
