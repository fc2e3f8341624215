//! Pairs a client and a server that use different transports.
//!
//! ```text
//! remote:    client ─ standard streams or WebSocket ─► Link ─► server at a URL, or a child
//! children:  clients ─ HTTP ─► Children ─► one child or WebSocket per session, one shared
//! ```
//!
//! Messages pass as they are; what carries them is translated. They are recorded and judged as the
//! lines on the standard streams, or if there are none, as messages over WebSocket.

pub mod children;
mod dial;
pub(crate) mod glance;
pub(crate) mod lane;
pub(crate) mod outbox;
pub(crate) mod overlong;
pub mod remote;
pub(crate) mod text;
mod waiting;
