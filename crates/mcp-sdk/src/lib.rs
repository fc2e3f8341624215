//! MCP servers, clients and hosts that validate every message.
//!
//! Your code works with every published revision of the Model Context Protocol, from 2024-11-05 to
//! 2026-07-28, over standard streams, HTTP and WebSocket. Arguments are checked before they reach
//! your code; responses are checked before they are sent.
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
//!     /// Who to greet.
//!     name: String,
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = Server::builder("greeter", "1.0.0")
//!         .tool("greet", "Greets someone", async |greeting: Greeting, _| {
//!             Ok(format!("Hello {}!", greeting.name))
//!         })
//!         .build()?;
//!     Ok(server.serve_stdio().await?)
//! }
//! ```
//!
//! The schema of the arguments is derived from their type, including comments. A function may return
//! a `String`, [`Structured`] output with its own schema, or any other [`ToolOutput`]; use `?` for
//! errors.
//!
//! **Do not block.** All calls on a connection are served by one task. A function that computes for
//! a long time, or waits without `await`, should be a
//! [blocking tool](ServerBuilder::blocking_tool), which runs on its own thread.
//!
//! **Try it.** Give the path of the binary to an application that starts MCP servers. Or try it by
//! hand, in a browser:
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
//! **Check it.** Record its output and check it with `plumb`:
//!
//! ```sh
//! sh -c 'target/debug/greeter | tee server.ndjson'   # as the command in the client's settings
//! plumb check --from server server.ndjson
//! ```
//!
//! To serve over HTTP, call `server.serve_http(8080, shutdown)`, which listens at
//! `http://127.0.0.1:8080/mcp`, or mount [`Server::http_service`] in your own router. Only local
//! clients are accepted unless you change the settings.
//!
//! # Clients and hosts
//!
//! A [`Client`] is connected to one server and detects its revision. A [`Host`] manages several
//! clients and merges their tools into one list.
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
//! * [`guide::tools`]: functions that block or have state; adding tools while the server runs.
//! * [`guide::validation`]: what is checked where, with which errors, and what is let through.
//! * [`guide::revisions`]: one tool for every revision. **Read it before a tool asks the user
//!   something**: the code before the question runs again.
//! * [`guide::clients`]: timeouts, notifications, reconnecting.
//! * [`guide::errors`]: how a [`Failure`] is reported.
//! * [`guide::http`]: routers, authentication, `curl`, shutting down.
//! * The folder `examples`: one small program for each task.
//!
//! # Features
//!
//! | feature | default | provides |
//! |---|---|---|
//! | `stdio` | yes | `Server::serve_stdio`, `ClientBuilder::connect_child` |
//! | `http` | yes | `Server::serve_http`, `Server::http_service`, `ClientBuilder::connect_http` |
//! | `ws` | yes | `Server::serve_ws`, `ClientBuilder::connect_ws` |
//! | `tls` | no | `https` and `wss` |
//! | `schema-http` | no | protocol schemas loaded from `http:` and `https:` URLs |
//!
//! Without any of them, conversations work [in memory](transport::memory) and over any byte stream
//! ([`transport::LineTransport`]).
//!
//! # Structure
//!
//! This crate combines [`core`] (the domain), `mcp-jsonrpc` (messages), [`transport`] (moving them)
//! and `mcp-rules` (checking them). The protocol's types are in [`core`].

mod client;
mod contracts;
mod feed;
pub mod guide;
mod header_params;
mod host;
#[cfg(feature = "http")]
mod http_watch;
mod masked;
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
pub use mcp_core::{BuildError, visible};
#[cfg(feature = "http")]
pub use mcp_rules::HttpEvent;
pub use mcp_rules::{
    Finding, Profile, Setting, Settings, Severity, Strictness, TraceEntry, TraceWriter,
};
pub use mcp_schema as schema;
pub use mcp_transport as transport;
pub use schemars;
