//! Pairs a client and a server that use different transports.
//!
//! ```text
//! remote:    client ─ standard streams ─► Link ─ HTTP ─► server at a URL
//! children:  clients ─ HTTP ─► Children ─ standard streams ─► one child per session, one shared
//! ```
//!
//! Messages pass as they are; what carries them is translated. They are recorded and judged as the
//! lines on the standard streams.

pub mod children;
pub(crate) mod glance;
pub(crate) mod lane;
pub mod remote;
pub(crate) mod text;
mod waiting;
