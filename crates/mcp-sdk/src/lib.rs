//! MCP servers, clients and hosts that validate every message.
//!
//! Your tools are served at every published revision of the Model Context Protocol, from 2024-11-05
//! to 2026-07-28, over stdio, HTTP and WebSocket. Arguments are checked before they reach your
//! code; answers are checked before they leave.
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
//! The schema of the arguments is derived from their type, doc comments included. A function may
//! return a `String`, [`Structured`] output with its own schema, or any [`ToolOutput`]; use `?` for
//! errors.
//!
//! **Do not block.** All calls on a connection are served by one task. Make a function that
//! computes for a long time, or waits without `await`, a [blocking
//! tool](ServerBuilder::blocking_tool), which gets a thread.
//!
//! **Try it.** Give the path of the binary to an application that starts servers. By hand, in a
//! browser:
//!
//! ```sh
//! cargo build && npx @modelcontextprotocol/inspector target/debug/greeter
//! ```
//!
//! Or with the example client, from the root of this crate's repository:
//!
//! ```sh
//! cargo run -p example-client -- --call greet '{"name":"Ada"}' path/to/greeter/target/debug/greeter
//! ```
//!
//! **Check it.** Record its output and let `plumb` find out what is wrong with it, if anything:
//!
//! ```sh
//! sh -c 'target/debug/greeter | tee server.ndjson'   # as the command in the client's settings
//! plumb check --from server server.ndjson
//! ```
//!
//! The same server over HTTP: `server.serve_http(8080, shutdown)` is available at
//! `http://127.0.0.1:8080/mcp`; [`Server::http_service`] mounts it in your own router. By default
//! only local clients are accepted.
//!
//! # Clients and hosts
//!
//! A [`Client`] is connected to one server and negotiates a revision with it. A [`Host`] combines
//! several servers into one list of tools.
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
//! * [`guide::tools`]: functions that block, that have state, that are added and removed at run
//!   time.
//! * [`guide::validation`]: what is checked where, the resulting errors, and the exceptions.
//! * [`guide::revisions`]: one tool for every revision. **Read it before you ask users something in a
//!   tool**: code before the question runs again.
//! * [`guide::clients`]: connecting, time-outs and notifications.
//! * [`guide::errors`]: what happens to a [`Failure`].
//! * [`guide::http`]: servers over HTTP: beside other routes, behind authorization, with `curl`,
//!   and shutting down.
//! * The `examples` folder: one small program for each question.
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
//! Without any of them there are still [in-memory](transport::memory) transports and transports
//! over any byte streams ([`transport::LineTransport`]).
//!
//! # What this crate is made of
//!
//! It wires together [`core`] (the domain), `mcp-jsonrpc` (messages), [`transport`] (moving them)
//! and `mcp-rules` (checking them). Types of the protocol are in [`core`].

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
