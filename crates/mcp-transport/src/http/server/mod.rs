//! A Streamable HTTP server: [`HttpService`] answers requests, [`serve`] listens for them.
//!
//! The service can be mounted in any router that takes a `tower` service. It supports both eras:
//! with sessions (`initialize`, `Mcp-Session-Id`, resumable streams), and stateless, where every
//! POST is a whole conversation. It never parses a message; an [`Application`] does.

mod application;
mod body;
mod connection;
mod cors;
mod events;
mod exchange;
mod fault;
mod listener;
mod media;
mod mounted;
mod reply;
mod service;
mod session;
mod settings;
mod stateless;
mod stream;
mod watching;

#[cfg(feature = "tls")]
pub use self::listener::serve_tls;
pub use self::{
    application::{Application, Glimpse, Refused},
    fault::HttpFault,
    listener::{Servable, ServeSettings, serve},
    mounted::Mounted,
    reply::ResponseBody,
    service::HttpService,
    settings::HttpSettings,
};
