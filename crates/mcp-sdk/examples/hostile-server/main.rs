//! The server of the tests about bad input, on its standard streams.
//!
//! `hostile-server [off]`; with `off` nothing is validated.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "it serves tests")]

#[path = "../../tests/it/hostile/server.rs"]
mod server;

use mcp_sdk::Validation;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let off = std::env::args().nth(1).is_some_and(|argument| argument == "off");
    let validation = if off { Validation::off() } else { Validation::enforce() };
    let seen = server::Seen::default();
    if let Err(error) = server::server(validation, &seen).serve_stdio().await {
        eprintln!("{error}");
    }
}
