//! A zero-copy JSON parser that writes a tape with byte spans: strict, one pass, safe Rust.
//!
//! A [`Tape`] is a reusable buffer. Parsing a text writes a flat array of sixteen-byte entries into
//! it, and the returned [`Document`] borrows the rest from the input: strings are not copied or
//! unescaped and numbers are not converted until requested. Every [`Node`] knows its exact byte
//! [`Span`], so a finding can point at its cause.
//!
//! The grammar is RFC 8259 without extensions. Three cases that the RFC leaves open:
//!
//! | case | behaviour |
//! |---|---|
//! | two members of one object with the same name | accepted and noticed: [`Document::has_duplicate_keys`]; a lookup by name finds the last |
//! | a lone surrogate in a `\u` escape | accepted and noticed: [`Document::has_lone_surrogates`]; reads as U+FFFD |
//! | numbers of any size and precision | accepted; the literal is kept, and conversions fail if it does not fit |
//!
//! A leading byte order mark, invalid UTF-8, nesting beyond [`Limits::max_depth`] and inputs beyond
//! [`Limits::max_bytes`] are rejected with a [`SyntaxError`] that says where and why.
//!
//! ```
//! use mcp_json::{Limits, Tape};
//!
//! let input = br#"{"method": "tools/call", "params": {"name": "echo"}}"#;
//! let mut tape = Tape::new();
//! let document = tape.parse(input, Limits::default())?;
//!
//! let name = document.root().pointer("/params/name").expect("present");
//! assert!(name.str_eq("echo"));
//! assert_eq!(name.span().slice(input), br#""echo""#);
//! # Ok::<(), mcp_json::SyntaxError>(())
//! ```
//!
//! [`Parsed`] is the owned form: text and tape together, parsed once where bytes arrive and shared
//! by everything that reads them.
//!
//! The crate knows nothing of JSON-RPC or MCP.
//!
//! | feature | adds |
//! |---|---|
//! | `jsonschema` | `TapeJson`: nodes as an instance representation of the `jsonschema` crate |
//! | `testing` | `testing::parses`: how many texts a thread has parsed |

mod document;
mod duplicates;
mod entry;
mod error;
mod escape;
mod expected;
mod fingerprint;
mod limits;
mod locate;
mod node;
mod number;
mod parsed;
mod parser;
mod pointer;
mod pool;
mod scan;
#[cfg(feature = "jsonschema")]
mod schema_node;
mod span;
mod tape;
#[cfg(feature = "testing")]
pub mod testing;
mod value;

pub use document::Document;
pub use duplicates::DuplicateKey;
pub use error::{SyntaxError, SyntaxErrorKind};
pub use expected::{Expected, Found, NumberFault};
pub use fingerprint::Fingerprint;
pub use limits::Limits;
pub use locate::locate;
pub use node::{Elements, Kind, Members, Node};
pub use parsed::Parsed;
pub use pointer::push_token;
pub use pool::TapePool;
#[cfg(feature = "jsonschema")]
pub use schema_node::{
    SchemaArray, SchemaElements, SchemaMembers, SchemaNode, SchemaNumber, SchemaObject, TapeJson,
};
pub use span::{Position, Span};
pub use tape::{Slot, Tape};
