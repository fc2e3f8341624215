//! One function per question.
//!
//! The functions known from other validators, as thin wrappers around the same engine. They take
//! JSON text.
//!
//! | about | calls | answer |
//! |---|---|---|
//! | a part of a message | `validate_request`, `validate_notification`, `validate_response`, `validate_result`, `validate_error_code`, … | `Ok(())` or a [`ValidationError`] |
//! | a whole message | [`Validator::validate_jsonrpc`], [`Validator::validate`] | the same |
//! | a whole message, every fault of it | `validate_message`, `validate_request_message`, `validate_response_message`, `validate_batch` | a [`MessageReport`]: `valid` and a list of `errors` |
//!
//! A [`ValidationError`] has a [`Reason`] to match on, a sentence to show, and typed details. Each
//! rejection is also a `tracing` event at debug level, without values from the traffic.
//!
//! ```
//! use mcp_core::Revision;
//! use mcp_rules::{Reason, Validator, format_validation_error};
//!
//! let validator = Validator::new(Revision::V2025_11_25);
//! validator.validate_request("tools/call", Some(br#"{"name":"echo"}"#))?;
//!
//! let error = validator.validate_method_name("logging/set_level").unwrap_err();
//! assert_eq!(error.reason, Reason::UnknownMethod);
//! assert_eq!(
//!     error.to_string(),
//!     "2025-11-25 has no request `logging/set_level`; did you mean `logging/setLevel`?"
//! );
//! assert_eq!(
//!     format_validation_error(&error),
//!     "unknown_method: method=logging/set_level, did_you_mean=logging/setLevel"
//! );
//! # Ok::<(), mcp_rules::ValidationError>(())
//! ```

mod builder;
mod details;
mod error;
mod field_type;
mod messages;
mod parts;
mod reason;
mod report;
mod typed;
mod values;

use mcp_core::{Revision, Side};
use mcp_json::{Document, Limits, Node, SyntaxError, Tape};
use mcp_jsonrpc::Envelope;
use mcp_schema::{Definition, Schemas, ToolSchemas, Violation};

pub use self::{
    builder::{BuildError, ValidatorBuilder},
    details::Details,
    error::{ValidationError, format_validation_error},
    field_type::{FieldType, UnknownFieldType},
    parts::Outcome,
    reason::Reason,
    report::MessageReport,
};
use crate::{Engine, Finding, Findings, Profile, Settings, Severity, wire::jsonrpc};

/// Answers single questions about messages of one revision.
#[derive(Debug)]
pub struct Validator {
    engine: Engine,
    revision: Revision,
    tools: ToolSchemas,
}

type Answer = Result<(), ValidationError>;

impl Validator {
    /// Creates a validator for `revision`, with profile `spec` and the embedded schemas.
    pub fn new(revision: Revision) -> Validator {
        Validator::builder().revision(revision).validator()
    }

    /// Creates a validator for `revision` with a profile.
    pub fn with_profile(revision: Revision, profile: Profile) -> Validator {
        Validator::builder().revision(revision).profile(profile).validator()
    }

    /// Returns a builder to choose revision, profile, levels, schemas and limits.
    pub fn builder() -> ValidatorBuilder {
        ValidatorBuilder::default()
    }

    /// The revision it judges by.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    /// The schemas in force.
    pub fn schemas(&self) -> &Schemas {
        self.engine.schemas()
    }

    fn parse<'t>(
        &self,
        tape: &'t mut Tape,
        text: &'t [u8],
    ) -> Result<Document<'t>, ValidationError> {
        parse(tape, text, self.settings().limits.json())
    }

    /// Parses a message built around a text that was already checked against the limits.
    fn parse_around<'t>(
        &self,
        tape: &'t mut Tape,
        text: &'t [u8],
    ) -> Result<Document<'t>, ValidationError> {
        let Limits { max_depth, .. } = self.settings().limits.json();
        parse(tape, text, Limits { max_bytes: usize::MAX, max_depth: max_depth + 1 })
    }

    /// Everything found in `message` by itself.
    fn findings_in(&self, message: Node<'_>, from: Option<Side>) -> Vec<Finding> {
        let mut session = self.engine.session(Some(self.revision));
        let mut findings = Findings::new(self.settings());
        let followed = self.engine.follow(&mut session, from, message);
        self.engine.judge(message, &followed, &mut findings);
        let mut findings = findings.take();
        for finding in &mut findings {
            // Entries that were not judged are not valid.
            if *finding.rule == jsonrpc::BATCH_SIZE_LIMIT {
                finding.severity = Severity::Error;
            }
        }
        findings
    }

    fn judge(&self, message: Node<'_>) -> Answer {
        self.refuse_findings(message, self.findings_in(message, None))
    }

    /// Turns findings into an error. Warnings do not count.
    fn refuse_findings(&self, message: Node<'_>, mut findings: Vec<Finding>) -> Answer {
        findings.retain(|finding| finding.severity == Severity::Error);
        let Some(first) = findings.first() else { return Ok(()) };
        let entry = first.index.and_then(|index| message.elements().nth(index));
        let envelope = Envelope::of(entry.unwrap_or(message));
        let reason = Reason::of_finding(first, &envelope, self.settings());
        let message = first.message.clone();
        Err(ValidationError::of(reason, message, Details::Findings(findings)))
    }

    fn validate_definition(&self, definition: &'static Definition, value: Node<'_>) -> Answer {
        if self.schemas().accepts(definition, value) {
            return Ok(());
        }
        refuse(self.schemas().violations(definition, value))
    }
}

/// Logs a rejection, without values from the traffic.
fn logged(call: &'static str, answer: Answer) -> Answer {
    if let Err(error) = &answer {
        tracing::debug!(
            target: "mcp_rules::validator",
            call,
            reason = error.reason.as_str(),
            details = error.masked(),
            "refused"
        );
    }
    answer
}

fn parse<'t>(
    tape: &'t mut Tape,
    text: &'t [u8],
    limits: Limits,
) -> Result<Document<'t>, ValidationError> {
    tape.parse(text, limits).map_err(|error: SyntaxError| {
        ValidationError::of(Reason::ParseError, error.to_string(), Details::Syntax(error))
    })
}

fn expect_type(name: &str, value: Node<'_>, types: &[FieldType], reason: Reason) -> Answer {
    let actual = FieldType::of(value);
    if types.iter().any(|wanted| wanted.admits(actual)) {
        return Ok(());
    }
    let names: Vec<String> = types.iter().map(ToString::to_string).collect();
    Err(ValidationError::of(
        reason,
        format!("`{name}` must be {}, not {actual}", names.join(" or ")),
        Details::Field { name: name.into(), expected: types.into(), actual },
    ))
}

/// Turns violations into an error.
fn refuse(violations: Vec<Violation>) -> Answer {
    let Some(first) = violations.first() else {
        return Ok(());
    };
    let reason = Reason::of_keyword(&first.keyword);
    let message = match first.instance_path.as_str() {
        "" => first.message.clone(),
        path => format!("{path}: {}", first.message),
    };
    Err(ValidationError::of(reason, message, Details::Violations(violations)))
}
