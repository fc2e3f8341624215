//! MCP servers, clients and hosts whose every message is validated.
//!
//! What you write is served at every published revision of the Model Context Protocol, from
//! 2024-11-05 to 2026-07-28, over standard streams, HTTP and WebSocket. Arguments are checked
//! before they reach your code; answers are checked before they leave.
//!
//! # A server in five minutes
//!
//! ```toml
//! [dependencies]
//! mcp-sdk = { git = "…" }   # or a path to crates/mcp-sdk
//! schemars = "1"            # the derive macro names the crate
//! serde = { version = "1", features = ["derive"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }   # and "signal" for ctrl_c
//! ```
//!
//! ```no_run
//! use mcp_sdk::Server;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Greeting {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = Server::builder("greeter", "1.0.0")
//!         .tool("greet", "Greets somebody", async |greeting: Greeting, _| {
//!             Ok(format!("Hello {}!", greeting.name))
//!         })
//!         .build()?;
//!     Ok(server.serve_stdio().await?)
//! }
//! ```
//!
//! The schema of the arguments comes from their type, comments included. A function may give a
//! `String`, [`Structured`] output with a schema of its own, or any [`ToolOutput`]; it fails with `?`.
//!
//! **Do not block.** All calls of a connection are served by one task. A function that computes for
//! long, or waits without `await`, is a [blocking tool](ServerBuilder::blocking_tool) and gets a
//! thread.
//!
//! **Try it.** An application that starts servers is told the path of the binary. By hand, in a
//! browser:
//!
//! ```sh
//! cargo build && npx @modelcontextprotocol/inspector target/debug/greeter
//! ```
//!
//! Or with the example client, from the root of the repository that has this crate:
//!
//! ```sh
//! cargo run -p example-client -- --call greet '{"name":"Ada"}' path/to/greeter/target/debug/greeter
//! ```
//!
//! **Judge it.** Record what it writes and let `plumb` tell what is wrong with it, if anything:
//!
//! ```sh
//! sh -c 'target/debug/greeter | tee server.ndjson'   # as the command in the client's settings
//! plumb check --from server server.ndjson
//! ```
//!
//! The same server over HTTP: `server.serve_http(8080, shutdown)` is found at
//! `http://127.0.0.1:8080/mcp`; [`Server::http_service`] mounts it in a router you have. Only this
//! machine is let in unless the settings say otherwise.
//!
//! # Clients and hosts
//!
//! A [`Client`] is connected to one server and finds out by itself which revision it speaks. A
//! [`Host`] holds several and makes one list of all their tools.
//!
//! ```
//! use mcp_sdk::{Client, NoArguments, Server, transport::memory};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder("dice", "1.0.0")
//!     .tool("roll", "Rolls a die", async |_: NoArguments, _| Ok("4"))
//!     .build()?;
//! let (near, far) = memory::pair(16);
//! tokio::spawn(async move { server.serve(far).await });
//!
//! let client = Client::builder("player", "1.0.0").connect(near).await?;
//! assert_eq!(client.all_tools().await?.len(), 1);
//! assert_eq!(client.call_tool("roll", ()).await?.all_text(), "4");
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Further reading
//!
//! * [`guide::tools`]: functions that block, that have state, that come and go.
//! * [`guide::validation`]: what is checked where, which error says so, and what passes all the same.
//! * [`guide::revisions`]: one tool for every revision. **Read it before you ask users something in a
//!   tool**: code before the question runs again.
//! * [`guide::clients`]: how long a client waits for what, and how it hears news.
//! * [`guide::errors`]: what becomes of a [`Failure`].
//! * [`guide::http`]: servers over HTTP, beside other routes, behind authorization, tried with
//!   `curl`, and how they end.
//! * The folder `examples`: one small program for each question.
//!
//! # Features
//!
//! | feature | default | gives |
//! |---|---|---|
//! | `stdio` | yes | `Server::serve_stdio`, `ClientBuilder::connect_child` |
//! | `http` | yes | `Server::serve_http`, `Server::http_service`, `ClientBuilder::connect_http` |
//! | `ws` | yes | `Server::serve_ws`, `ClientBuilder::connect_ws` |
//! | `tls` | no | `https` and `wss` |
//! | `schema-http` | no | overrides of the protocol's schemas from `http:` and `https:` URLs |
//!
//! Without any of them there are conversations [in memory](transport::memory) and over any byte
//! streams ([`transport::LineTransport`]).
//!
//! # What this crate is made of
//!
//! It wires together [`core`] (the domain, without wires), `mcp-jsonrpc` (messages), [`transport`]
//! (ways to move them) and `mcp-rules` (what judges them). Types of the protocol are in [`core`].

mod client;
mod contracts;
mod feed;
pub mod guide;
mod host;
#[cfg(feature = "http")]
mod http_watch;
mod labels;
mod seal;
mod server;
mod stray;
mod validation;

pub use client::{
    CallOptions, Client, ClientBuilder, ClientError, ClientEvent, Granted, Subscription,
};
pub use feed::{ListenError, Listener};
pub use host::{
    BadServerName, Collision, Host, HostBuilder, HostError, HostEvent, Merged, MergedList,
};
pub use seal::{ShortSecret, SignedSeal};
pub use server::{
    Failure, NoArguments, Server, ServerBuilder, Structured, ToolFunction, ToolOutput,
};
pub use validation::Validation;

pub use mcp_core as core;
pub use mcp_core::BuildError;
#[cfg(feature = "http")]
pub use mcp_rules::HttpEvent;
pub use mcp_rules::{
    Finding, Profile, Setting, Settings, Severity, Strictness, TraceEntry, TraceWriter,
};
pub use mcp_schema as schema;
pub use mcp_transport as transport;
pub use schemars;
