//! A reverse proxy for HTTP: a client's requests go to an upstream server, whatever they contain.
//!
//! ```text
//! client ─► serve ─► Gateway ─► Upstream ─► server
//!                       │ bodies, as they pass (Tee), or complete (under enforcement)
//!                       └► Exchange ─► Tap
//! ```

mod answer;
mod batch;
mod body;
mod connections;
mod encoding;
mod events;
mod exchange;
mod forwarding;
mod gateway;
mod headers;
mod patience;
mod seal;
mod tee;
mod token;
mod upstream;

pub(crate) use self::{
    answer::Answer,
    body::{ProxyBody, boxed, full},
    encoding::{DecodeError, Encoding},
    forwarding::{Forwarding, OriginalPath},
    headers::remove_hop_by_hop,
    token::has_token,
    upstream::CROWDED_OUT,
};
pub use self::{
    forwarding::Replica,
    gateway::{Gateway, GatewaySettings},
    seal::{SessionSeal, ShortKey},
    upstream::Upstream,
};
