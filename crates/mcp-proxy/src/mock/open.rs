//! The open requests of a recording.

use std::collections::{BTreeSet, HashMap};

/// A key for finding an open request within a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Trait {
    /// Digest of its id.
    Id(u64),
    /// Digest of its id, and its HTTP exchange: two HTTP clients may use the same ids.
    IdInExchange(u64, u64),
    Exchange(u64),
    /// Digest of its progress token.
    Token(u64),
    Any,
}

/// An open request.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenRequest {
    /// Digest of the name of its conversation.
    pub(super) session: u64,
    pub(super) id: u64,
    pub(super) token: Option<u64>,
    pub(super) exchange: Option<u64>,
}

impl OpenRequest {
    fn traits(self) -> impl Iterator<Item = (u64, Trait)> {
        let in_exchange = self.exchange.map(|exchange| Trait::IdInExchange(self.id, exchange));
        let others = [
            in_exchange,
            self.exchange.map(Trait::Exchange),
            self.token.map(Trait::Token),
            Some(Trait::Id(self.id)),
            Some(Trait::Any),
        ];
        others.into_iter().flatten().map(move |found| (self.session, found))
    }
}

/// All open requests, by these keys.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    by_trait: HashMap<(u64, Trait), BTreeSet<usize>>,
    requests: HashMap<usize, OpenRequest>,
}

impl OpenRequests {
    pub(super) fn open(&mut self, index: usize, request: OpenRequest) {
        for found in request.traits() {
            self.by_trait.entry(found).or_default().insert(index);
        }
        self.requests.insert(index, request);
    }

    pub(super) fn close(&mut self, index: usize) {
        let Some(request) = self.requests.remove(&index) else { return };
        for found in request.traits() {
            if let Some(indices) = self.by_trait.get_mut(&found) {
                indices.remove(&index);
                if indices.is_empty() {
                    self.by_trait.remove(&found);
                }
            }
        }
    }

    /// The latest one with this key.
    pub(super) fn find(&self, session: u64, wanted: Trait) -> Option<usize> {
        self.by_trait.get(&(session, wanted))?.last().copied()
    }

    pub(super) fn get(&self, index: usize) -> Option<&OpenRequest> {
        self.requests.get(&index)
    }
}
