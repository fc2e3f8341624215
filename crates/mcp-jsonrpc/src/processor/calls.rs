use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_core::{Json, PeerError};
use tokio::sync::oneshot;

/// Our own requests that are waiting for their response.
#[derive(Debug)]
pub(super) struct Calls {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The id of the next request, counting up from 1.
    next: i64,
    pending: HashMap<i64, oneshot::Sender<Outcome>>,
    /// Why no more requests can be sent.
    closed: Option<String>,
}

pub(super) type Outcome = Result<Json, PeerError>;

impl Calls {
    pub(super) fn new(limit: usize) -> Calls {
        let state = State { next: 1, pending: HashMap::new(), closed: None };
        Calls { limit, state: Mutex::new(state) }
    }

    /// Reserves an id and a channel for its response.
    pub(super) fn open(&self) -> Result<(i64, oneshot::Receiver<Outcome>), PeerError> {
        let mut state = self.state();
        if let Some(reason) = &state.closed {
            return Err(PeerError::Closed(reason.clone()));
        }
        if state.pending.len() >= self.limit {
            return Err(PeerError::NotSent {
                message: format!("{} requests are already in flight", self.limit),
                findings: Vec::new(),
            });
        }
        let id = state.next;
        state.next += 1;
        let (sender, receiver) = oneshot::channel();
        state.pending.insert(id, sender);
        Ok((id, receiver))
    }

    /// Delivers the outcome of a request; `false` if the request is not pending.
    pub(super) fn settle(&self, id: i64, outcome: Outcome) -> bool {
        let pending = self.state().pending.remove(&id);
        // A caller that stops waiting at this moment loses nothing.
        pending.is_some_and(|sender| sender.send(outcome).is_ok())
    }

    pub(super) fn is_pending(&self, id: i64) -> bool {
        self.state().pending.contains_key(&id)
    }

    /// The pending request, if there is exactly one.
    pub(super) fn only_pending(&self) -> Option<i64> {
        let state = self.state();
        let mut pending = state.pending.keys();
        pending.next().copied().filter(|_| pending.next().is_none())
    }

    /// Removes a pending request; `false` if the response has already arrived.
    pub(super) fn remove(&self, id: i64) -> bool {
        self.state().pending.remove(&id).is_some()
    }

    /// Fails all pending and future requests.
    pub(super) fn close(&self, reason: &str) {
        let pending = {
            let mut state = self.state();
            state.closed.get_or_insert_with(|| reason.to_owned());
            std::mem::take(&mut state.pending)
        };
        #[expect(clippy::iter_over_hash_type, reason = "the order does not matter")]
        for (_, sender) in pending {
            // A caller that has stopped waiting loses nothing.
            let _ = sender.send(Err(PeerError::Closed(reason.to_owned())));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
