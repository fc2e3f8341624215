//! JSON-RPC 2.0: what a message is, and what is wrong with its envelope.
//!
//! Two views of the same message:
//!
//! * [`Envelope`] borrows from a parsed document and costs one pass over the top-level members.
//!   It classifies ([`Envelope::kind`]), validates ([`Envelope::faults`]) and still gives the id
//!   of a message that is broken elsewhere. Validators use it.
//! * [`JsonRpcMessage`] and its parts own their data and can be written out again. Programs that
//!   speak JSON-RPC use it. Reading goes through the envelope: there is no untagged union that
//!   swallows what does not fit.
//!
//! This is the base specification alone: ids may be null, params may be an array, any method
//! goes. What MCP adds on top is judged elsewhere; this crate knows no MCP method and no socket.
//!
//! ```
//! use mcp_jsonrpc::{Incoming, JsonRpcId};
//!
//! let incoming = Incoming::parse(br#"{"jsonrpc":"2.0","id":7,"metod":"ping"}"#)?;
//! let Incoming::Single(Err(invalid)) = incoming else { panic!("it has no method") };
//! assert_eq!(invalid.id, Some(JsonRpcId::Integer(7)));
//! assert_eq!(invalid.faults[0].to_string(), "the object has neither `method`, `result` nor `error`");
//! # Ok::<(), mcp_json::SyntaxError>(())
//! ```

mod envelope;
mod error_code;
mod fault;
mod id;
mod message;

pub use envelope::{Envelope, MessageKind};
pub use error_code::ErrorCode;
pub use fault::{EnvelopeFault, FaultKind};
pub use id::JsonRpcId;
pub use message::{
    Incoming, InvalidMessage, JsonRpcError, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest,
    JsonRpcResponse,
};
