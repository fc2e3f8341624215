//! JSON-RPC 2.0: messages, envelope validation, and the adapter to MCP.
//!
//! Two views of the same message:
//!
//! * [`Envelope`] borrows from a parsed document and costs one pass over the top-level members.
//!   It classifies ([`Envelope::kind`]), validates ([`Envelope::faults`]) and still provides the id
//!   of a message that is otherwise invalid. Validators use it.
//! * [`JsonRpcMessage`] and its parts own their data and can be serialized. Programs that
//!   communicate by JSON-RPC use it, with `serde_json` or as bytes. Reading goes through the
//!   envelope: no untagged union hides invalid input.
//!
//! ```
//! use mcp_jsonrpc::{JsonRpcRequest, JsonRpcResponse};
//! use serde_json::json;
//!
//! let text = r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"hello"}}"#;
//! let request: JsonRpcRequest = serde_json::from_str(text)?;
//! assert_eq!(request, JsonRpcRequest::new(1, "echo", Some(json!({ "text": "hello" }))));
//!
//! let answer = JsonRpcResponse::success(request.id.clone(), json!({ "said": "hello" }));
//! let written = serde_json::to_string(&answer)?;
//! assert_eq!(written, r#"{"jsonrpc":"2.0","id":1,"result":{"said":"hello"}}"#);
//!
//! let notification = r#"{"jsonrpc":"2.0","method":"echo"}"#;
//! let error = serde_json::from_str::<JsonRpcRequest>(notification).unwrap_err();
//! assert!(error.to_string().contains("not a request but a notification"));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! The adapter between the wire and the domain of `mcp-core`:
//!
//! * [`JsonRpcRequest::to_domain_request`] and [`ToJsonRpc::to_json_rpc`] convert both ways and map
//!   domain errors to codes;
//! * [`JsonRpcTransport`] puts a gate in front of a transport, and [`JsonRpcProcessor`] drives a
//!   whole conversation over it.
//!
//! To serve your own tools you need a registry and a transport:
//!
//! ```
//! use mcp_core::{
//!     BoxFuture, CallToolResult, Context, Error, Json, ToolHandler, ToolRegistry, Transport,
//!     TransportError,
//! };
//! use mcp_jsonrpc::JsonRpcProcessor;
//!
//! struct EchoTool;
//!
//! impl ToolHandler for EchoTool {
//!     fn call(
//!         &self,
//!         arguments: Json,
//!         _: Context,
//!     ) -> BoxFuture<'_, Result<CallToolResult, Error>> {
//!         Box::pin(async move { Ok(CallToolResult::structured(arguments)) })
//!     }
//! }
//!
//! /// Responds to `{"jsonrpc":"2.0","id":1,"method":"echo","params":{…}}` with its params.
//! async fn serve(transport: impl Transport + 'static) -> Result<(), TransportError> {
//!     let tools = ToolRegistry::new();
//!     tools.insert("echo", Box::new(EchoTool));
//!     JsonRpcProcessor::new(transport, tools).run().await
//! }
//! ```
//!
//! Ids may be null, params may be an array, and any method is allowed: MCP's restrictions are
//! checked elsewhere. This crate knows nothing about payloads and sockets; of the MCP methods, it
//! only handles `notifications/cancelled`, which concerns requests as such, and the handshake.
//!
//! ```
//! use bytes::Bytes;
//! use mcp_jsonrpc::{Incoming, JsonRpcId};
//!
//! let text = Bytes::from_static(br#"{"jsonrpc":"2.0","id":7,"metod":"ping"}"#);
//! let Incoming::Single(Err(invalid)) = Incoming::parse(&text)? else { panic!("no method") };
//! assert_eq!(invalid.id, Some(JsonRpcId::Integer(7)));
//! assert_eq!(invalid.faults[0].to_string(), "the object has none of `method`, `result` and `error`");
//! # Ok::<(), mcp_json::SyntaxError>(())
//! ```

mod clock;
mod domain;
mod envelope;
mod error_code;
mod error_map;
mod fault;
mod gate;
mod id;
mod incoming;
mod message;
mod outgoing;
mod processor;
mod transport;
mod wire;

pub use clock::TokioClock;
pub use domain::ToJsonRpc;
pub use envelope::{Envelope, MessageKind};
pub use error_code::ErrorCode;
pub use fault::{EnvelopeFault, FaultKind};
pub use gate::{Gate, OpenGate, Verdict};
pub use id::JsonRpcId;
pub use incoming::{Incoming, InvalidMessage};
pub use message::{
    JsonRpcError, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse,
};
pub use outgoing::write_batch;
pub use processor::{JsonRpcPeer, JsonRpcProcessor, ProcessorSettings};
pub use transport::JsonRpcTransport;
