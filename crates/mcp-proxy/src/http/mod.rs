//! A reverse proxy for HTTP: a client's requests go to an upstream server, whatever they hold.
//!
//! ```text
//! client ─► serve ─► Gateway ─► Upstream ─► server
//!                       │ bodies, as they pass (Tee), or whole (under enforcement)
//!                       └► Exchange ─► Tap
//! ```

mod answer;
mod batch;
mod body;
mod events;
mod exchange;
mod gateway;
mod guarded;
mod headers;
mod tee;
mod upstream;

pub use self::{
    gateway::{Gateway, GatewaySettings},
    guarded::Guarded,
    upstream::{Upstream, UpstreamError},
};
