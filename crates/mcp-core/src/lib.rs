//! The domain of the Model Context Protocol.
//!
//! * The vocabulary: which revisions there are, who speaks, how a request is named.
//! * The things the protocol speaks of: tools, resources, prompts, content, capabilities.
//! * The engine ([`Mcp`]): takes a [`Request`], runs what serves it, gives a [`Response`]. What is
//!   offered is written once and served at every revision.
//! * The ports: what moves messages ([`Transport`]), what tools promise about values ([`Contracts`]),
//!   what serves a conversation ([`Handler`]), and how to speak to the other side ([`Peer`]).
//!
//! Tools are handlers in a [`ToolRegistry`], which adapters serve: `mcp-jsonrpc` over any
//! [`Transport`], in two lines.
//!
//! This crate knows nothing of JSON-RPC, sockets or a runtime; adapters conform to it, never the
//! reverse.
//!
//! ```
//! use mcp_core::{Era, RequestId, Revision, Side};
//!
//! let revision: Revision = "2025-11-25".parse()?;
//! assert_eq!(revision.era(), Era::Legacy);
//! assert_eq!(Side::Client.other(), Side::Server);
//! assert_ne!(RequestId::from(1), RequestId::from("1"));
//! # Ok::<(), mcp_core::UnknownRevision>(())
//! ```

mod context;
mod engine;
mod error;
mod handlers;
mod json;
mod message;
mod model;
mod ports;
pub mod registry;
mod request_id;
mod revision;
mod revision_shape;
mod side;

pub use context::{Answers, Context, Question};
pub use engine::{
    BuildError, Conversation, Dispatch, InvalidArguments, Mcp, McpBuilder, McpSettings,
    OutputPromise, PromptRegistry, ResourceRegistry, ServedPrompt, ServedResource, ServedTemplate,
    ServedTool, TemplateRegistry, ToolRegistry,
};
pub use error::Error;
pub use handlers::{CompletionHandler, PromptHandler, ResourceHandler, ToolHandler};
pub use json::Json;
pub use message::{Notification, Request, Response};
pub use model::{
    Annotations, CallToolResult, ClientCapabilities, CompleteRequest, Completion,
    CompletionArgument, CompletionContext, CompletionReference, Content, CreateMessageRequest,
    CreateMessageResult, DiscoverResult, ElicitAction, ElicitField, ElicitForm, ElicitRequest,
    ElicitResult, EmbeddedResource, GetPromptResult, Icon, Implementation, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListRootsResult,
    ListToolsResult, LogLevel, LogMessage, MediaContent, Meta, ModelHint, ModelPreferences,
    Progress, ProgressToken, Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, Root, SamplingContent, SamplingMessage,
    ServerCapabilities, TextContent, Tool, ToolAnnotations, UriTemplate, UriTemplateError,
};
pub use ports::{
    Answer, Ask, BoxFuture, Call, Carriage, Clock, Contract, ContractRefused, Contracts, Edges,
    Handler, Inbound, Labels, Outbound, OutboundRole, Peer, PeerError, Purpose, Refusal,
    RefusalReason, Seal, Standing, Ticket, Transport, TransportError, Unchecked,
};
pub use request_id::RequestId;
pub use revision::{Era, Revision, Revisions, UnknownRevision};
pub use side::Side;
