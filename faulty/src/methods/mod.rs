//! The methods, by feature.

pub(crate) mod calls;
pub(crate) mod completion;
pub(crate) mod handshake;
pub(crate) mod listing;
pub(crate) mod logging;
pub(crate) mod stateless;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
