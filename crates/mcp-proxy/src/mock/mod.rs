//! Serves a recording: recorded answers to recorded requests, and a clear error for everything
//! else.
//!
//! [`ScriptBuilder`] reads a recording line by line and keeps what the server sent, up to a limit.
//! [`Playback`] finds the answer to a request; [`converse`] plays it to a client over any transport,
//! and [`http_service`] to the clients of an HTTP endpoint.

mod builder;
mod canonical;
mod client_budget;
mod conversation;
mod http;
mod key;
mod open;
mod playback;
mod script;
mod template;
#[cfg(test)]
mod tests;

pub use self::{
    builder::ScriptBuilder,
    conversation::converse,
    http::http_service,
    playback::Playback,
    script::{Script, ScriptError},
};
