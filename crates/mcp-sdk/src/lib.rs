//! MCP servers, clients and hosts whose every message is validated.
mod client;
mod clock;
mod contracts;
mod host;
mod labels;
mod seal;
mod server;
mod validation;

pub use client::{CallOptions, Client, ClientBuilder, ClientError, ClientEvent, Subscription};
pub use host::{
    BadServerName, Collision, Host, HostBuilder, HostError, HostEvent, Merged, MergedList,
};
pub use seal::SignedSeal;
pub use server::{Failure, NoArguments, Server, ServerBuilder, Structured, ToolOutput};
pub use validation::Validation;

pub use mcp_core as core;
pub use mcp_core::BuildError;
pub use mcp_rules::{Finding, Settings, Strictness};
pub use mcp_transport as transport;
pub use schemars;
