//! A reverse proxy for HTTP: a client's requests go to an upstream server, whatever they hold.
//!
//! ```text
//! client ─► serve ─► Gateway ─► Upstream ─► server
//!                       │ bodies, as they pass (Tee), or whole (under enforcement)
//!                       └► Exchange ─► Tap
//! ```

mod answer;
mod body;
mod events;
mod exchange;
mod forwarding;
mod gateway;
mod guarded;
mod headers;
mod seal;
mod tee;
mod upstream;

pub use self::{
    forwarding::Forwarding,
    gateway::{Gateway, GatewaySettings},
    guarded::Guarded,
    seal::{SessionSeal, ShortKey},
    upstream::{Upstream, UpstreamError},
};
