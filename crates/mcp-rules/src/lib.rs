//! The rule catalogue, findings, and the session that follows a conversation.
//!
//! Sans-IO: bytes in, findings out. No sockets, no clock, no global state; the same input gives
//! the same findings twice. A peer's mistake is a [`Finding`]; there is no `Err` for it.
//!
//! ```
//! use mcp_core::Side;
//! use mcp_json::Tape;
//! use mcp_rules::{Engine, Findings, Settings};
//! use mcp_schema::Schemas;
//!
//! let engine = Engine::new(Schemas::embedded(), Settings::default());
//! let mut session = engine.session(None);
//! let mut findings = Findings::new(engine.settings());
//!
//! let mut tape = Tape::new();
//! let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#;
//! let document = tape.parse(line, engine.settings().limits.json())?;
//! let followed = engine.follow(&mut session, Some(Side::Client), document.root());
//! engine.judge(document.root(), &followed, &mut findings);
//!
//! let finding = &findings.as_slice()[0];
//! assert_eq!(finding.rule.name, "params-invalid");
//! assert_eq!(finding.code, Some(-32602));
//! assert_eq!(&line[finding.span.unwrap().start..finding.span.unwrap().end], b"7");
//! # Ok::<(), mcp_json::SyntaxError>(())
//! ```
//!
//! [`Validator`] answers single questions. If you know another validator,
//! [`guide::other_validators`] shows the equivalents here.

#[macro_use]
mod meta;

pub mod behaviour;
mod catalogue;
pub mod client_behaviour;
mod context;
mod contract;
mod conversation;
mod criteria;
mod enforcement;
mod engine;
mod envelope_policy;
mod features;
mod finding;
mod findings;
mod format;
mod framer;
mod gate;
pub mod guide;
mod http;
mod http_traffic;
mod layer;
pub mod lock;
mod method_names;
mod mirrored;
mod null_member;
mod observer;
mod payload;
mod profile;
pub mod redact;
mod session;
mod settings;
mod severity;
mod shared_schemas;
mod trace;
mod validator;
mod violation;
mod wire;

pub use catalogue::{catalogue, rule};
pub use context::{Alone, Answered, Context};
pub use contract::SchemaContract;
pub use enforcement::Enforcement;
pub use engine::{Engine, Followed};
pub use finding::{Finding, Related, SchemaFault};
pub use findings::Findings;
pub use format::{date_time::rfc3339_millis, token::is_token, web_origin::is_web_origin};
pub use framer::{Cut, Framed, Framer};
pub use gate::{
    FindingSink, HttpGate, HttpTap, HttpVerdict, Identity, Judgement, SavedGate, SessionGate,
    Strictness,
};
pub use http::{HeaderMismatch, Headers, HttpEvent, HttpPart, SseEvent, header_mismatches};
pub use http_traffic::FollowedHttp;
pub use layer::{Layer, UnknownLayer};
pub use meta::RuleMeta;
pub use method_names::ExtraMethods;
pub use mirrored::{
    HeaderParam, HeaderParamFault, HeaderParams, HeaderValueFault, ParamValue, decode_header_value,
    encode_header_value,
};
pub use observer::{
    BlockReason, Judged, Observer, RecordingInfo, Routed, Ruling, SuspendedObserver,
};
pub use profile::{Profile, UnknownProfile};
pub use session::Session;
pub use settings::{Depth, Limits, Settings};
pub use severity::{Level, Setting, Severity, UnknownSetting};
pub use trace::{
    Content, HttpRecord, Line, LineReader, ParsedLine, ProcessRecord, ReadLine, Record,
    RecordFault, SseRecord, TraceEntry, TraceWriter, message_of,
};
pub use validator::{
    BuildError, Details, FieldType, MessageReport, Outcome, Reason, UnknownFieldType,
    ValidationError, Validator, ValidatorBuilder, format_validation_error,
};
pub use wire::framing::Carrier;
