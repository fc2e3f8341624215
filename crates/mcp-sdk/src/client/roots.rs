use std::sync::{Arc, PoisonError, RwLock};

use mcp_core::Root;

use super::ClientError;

/// The current roots.
#[derive(Debug)]
pub(super) struct Roots(RwLock<Arc<[Root]>>);

impl Roots {
    pub(super) fn new(roots: impl IntoIterator<Item = Root>) -> Roots {
        Roots(RwLock::new(roots.into_iter().collect()))
    }

    /// Checks the URIs. Servers would otherwise reject them later, during some call.
    pub(super) fn check(roots: &[Root]) -> Result<(), ClientError> {
        let is_file =
            |root: &&Root| root.uri.get(..7).is_some_and(|it| it.eq_ignore_ascii_case("file://"));
        match roots.iter().find(|root| !is_file(root)) {
            Some(root) => Err(ClientError::BadRoot { uri: root.uri.clone() }),
            None => Ok(()),
        }
    }

    pub(super) fn get(&self) -> Arc<[Root]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set(&self, roots: impl IntoIterator<Item = Root>) {
        let roots = roots.into_iter().collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = roots;
    }
}
