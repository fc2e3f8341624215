//! Pairs a client and a server that use different transports.
//!
//! ```text
//! remote:    client ─ standard streams or WebSocket ─► Link ─► server at a URL, or a child
//! children:  clients ─ HTTP ─► Children ─► one child or WebSocket per session, one shared
//! ```
//!
//! Messages are forwarded unchanged; only the transport differs. They are recorded and judged as
//! lines over stdio if one side uses that, otherwise as messages over WebSocket.

pub mod children;
pub(crate) mod client_queue;
pub(crate) mod conversation_tap;
mod dial;
pub(crate) mod outline;
pub(crate) mod overlong;
pub mod remote;
pub(crate) mod text;
mod waiting;
