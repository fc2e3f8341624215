//! The published MCP revisions as data: schemas, method tables, error codes and generated validators.
//!
//! Which methods a revision has, who may send them, what their params and results look like, and
//! whether a given payload fits. The crate knows nothing of sessions or transports, and of the
//! JSON-RPC envelope only where `params` and `result` are.
//!
//! ```
//! use mcp_core::Revision;
//! use mcp_json::{Limits, Tape};
//!
//! let call = mcp_schema::method(Revision::V2025_11_25, b"tools/call").expect("a method");
//! let params = call.params.expect("it has params");
//!
//! let mut tape = Tape::new();
//! let document = tape.parse(br#"{"name": "echo", "arguments": {}}"#, Limits::default())?;
//! assert!(params.accepts(document.root()));
//! # Ok::<(), mcp_json::SyntaxError>(())
//! ```
//!
//! | question | answer |
//! |---|---|
//! | which methods are there, with which params and results | [`methods`], [`method`], [`revisions_with`] |
//! | does this payload fit, and if not, where | [`Schemas`], [`Violation`] |
//! | the same with user-provided schemas, and reloading them | [`Override`], [`Schemas::load`], [`Schemas::reload`] |
//! | do these arguments fit the tool's own schema | [`ToolSchemas`], [`ToolSchema`] |
//! | what does this error code mean here | [`classify_error_code`], [`ErrorCodePolicy`] |
//! | is this a URI, a URI template | [`absolute_uri`], [`uri_template`] |
//! | what was probably meant | [`nearest`] |
//!
//! A valid payload is accepted by generated code without allocating. Only a rejected one is walked
//! again to find out where and why; that walk reports a bounded number of [`Violation`]s. External
//! schemas (of tools or the user) run as small programs over the same tape if they keep to the
//! common keywords, and on the `jsonschema` crate otherwise. Nothing is ever fetched because a
//! schema refers to it.
//!
//! | feature | adds |
//! |---|---|
//! | `http` | overrides from `http:` and `https:` URLs |
//!
#![doc = include_str!("../revisions/README.md")]

mod ajv;
mod check;
mod definition;
mod document;
mod error_code;
mod generated;
mod ignored;
mod loaded;
mod message_names;
mod method;
mod percent;
mod program;
mod registry;
mod report;
mod runtime;
mod schemas;
mod source;
mod suggest;
mod survey;
mod tool_schema;
mod uri;
mod uri_template;
mod violation;

pub use definition::Definition;
pub use document::{Document, referred};
pub use error_code::{
    DEFINED_CODES, DefinedCode, ErrorCodeClass, ErrorCodePolicy, classify_error_code, defined_code,
};
pub use ignored::Ignored;
pub use loaded::LoadedOverride;
pub use message_names::method_of_message;
pub use method::{Capability, Declarer, Method, MethodKind, Sender};
pub use registry::{definition, definitions, method, methods, revisions_with, schema_text};
pub use schemas::Schemas;
pub use source::{Origin, Override, Source, SourceError, SourceLimits};
pub use suggest::nearest;
pub use tool_schema::{
    CacheLimits, Dialect, ToolSchema, ToolSchemaError, ToolSchemaLimits, ToolSchemas,
};
pub use uri::{UriFault, absolute_uri, is_plain_uri, provider_uri};
pub use uri_template::{TemplateFault, TemplateFaultKind, uri_template};
pub use violation::{MAX_VIOLATIONS, Violation};
