//! The domain of the Model Context Protocol.
//!
//! * The vocabulary: revisions, the two sides of a conversation, request ids.
//! * The model: tools, resources, prompts, content, capabilities.
//! * The engine ([`Mcp`]): takes a [`Request`], runs its handler, returns a [`Response`]. Tools,
//!   prompts and resources are written once and served at every revision.
//! * The ports: moving messages ([`Transport`]), checking values against tool schemas
//!   ([`Contracts`]), serving a conversation ([`Handler`]), and sending to the peer ([`Peer`]).
//!
//! Tools are handlers in a [`ToolRegistry`], which adapters serve: `mcp-jsonrpc` does so over any
//! [`Transport`], in two lines.
//!
//! This crate does not depend on JSON-RPC, sockets or a runtime; adapters conform to it, never the
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
mod excerpt;
mod handlers;
mod json;
mod memory_budget;
mod message;
mod model;
mod ports;
pub mod registry;
mod request_id;
mod revision;
mod revision_shape;
mod side;
mod visible;

pub use context::{Answers, Context, Question};
pub use engine::{
    BuildError, Conversation, Dispatch, InvalidArguments, Mcp, McpBuilder, McpSettings,
    OutputContract, PromptRegistry, ResourceRegistry, ServedPrompt, ServedResource, ServedTemplate,
    ServedTool, TemplateRegistry, ToolRegistry,
};
pub use error::Error;
pub use excerpt::{excerpt, first_findings};
pub use handlers::{CompletionHandler, PromptHandler, ResourceHandler, ToolHandler};
pub use json::Json;
pub use memory_budget::{MemoryBudget, MemoryShare};
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
    Append, AppendOutcome, BoxFuture, Call, Clock, Contract, ContractError, ContractKind,
    Contracts, Framing, Handler, Inbound, LogEnd, LogReplacement, MessageEnds, MessageHeaders,
    MissedEntries, Outbound, OutboundRole, OutgoingRequest, Peer, PeerError, Refusal,
    RefusalReason, ResponseStatus, Seal, SessionStore, StoreError, Ticket, Transport,
    TransportError, Unchecked, UncheckedResponse,
};
pub use request_id::RequestId;
pub use revision::{Era, Revision, Revisions, UnknownRevision};
pub use side::Side;
pub use visible::{is_invisible, visible};
