use std::sync::{Arc, PoisonError, RwLock};

use mcp_core::Root;

/// Where servers may work, as it is now.
#[derive(Debug)]
pub(super) struct Roots(RwLock<Arc<[Root]>>);

impl Roots {
    pub(super) fn new(roots: impl IntoIterator<Item = Root>) -> Roots {
        Roots(RwLock::new(roots.into_iter().collect()))
    }

    pub(super) fn get(&self) -> Arc<[Root]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set(&self, roots: impl IntoIterator<Item = Root>) {
        let roots = roots.into_iter().collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = roots;
    }
}
