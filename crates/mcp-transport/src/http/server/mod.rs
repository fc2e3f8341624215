//! A Streamable HTTP server: [`HttpService`] answers requests, [`serve`] listens for them.
//!
//! The service can be mounted in any router that takes a `tower` service. It supports both eras:
//! with sessions (`initialize`, `Mcp-Session-Id`, resumable streams), and stateless, where every
//! POST is a whole conversation. It never parses a message; an [`Application`] does.

mod application;
mod body;
mod connection;
mod connections;
mod cors;
mod event_queue;
mod events;
mod exchange;
mod fault;
mod listener;
mod media;
mod mounted;
mod remote;
mod reply;
mod service;
mod session;
mod settings;
mod stateless;
mod stream;
mod unread;
mod watching;

#[cfg(feature = "tls")]
pub use self::listener::{serve_tls, serve_tls_on};
pub use self::{
    application::{Application, RejectionResponse, RequestInfo},
    fault::HttpFault,
    listener::{Servable, ServeSettings, Worker, serve, serve_on},
    mounted::Mounted,
    remote::RemoteAddress,
    reply::ResponseBody,
    service::HttpService,
    settings::HttpSettings,
};
