use std::fmt;

use mcp_jsonrpc::ErrorCode;

use super::{Details, Reason};

/// Why the [`Validator`](super::Validator) rejected something.
///
/// `{error}` is one sentence, `{error:#}` adds a line per fault, and [`format_validation_error`]
/// writes reason and facts for programs and logs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ValidationError {
    /// The kind of fault.
    pub reason: Reason,
    /// What is wrong, in one sentence; empty for an error that a caller built from facts alone.
    pub message: String,
    /// The facts behind it.
    pub details: Details,
}

impl ValidationError {
    /// Creates an error for the caller's own use, without facts.
    pub fn new(reason: Reason) -> ValidationError {
        ValidationError { reason, message: String::new(), details: Details::None }
    }

    /// Adds a fact. Facts of other kinds, as set by the validator, are replaced.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> ValidationError {
        let pair = (key.into(), value.into());
        match &mut self.details {
            Details::Pairs(pairs) => pairs.push(pair),
            other => *other = Details::Pairs(vec![pair]),
        }
        self
    }

    /// The JSON-RPC error code to reply with.
    pub fn code(&self) -> i64 {
        let of_finding = match &self.details {
            Details::Findings(findings) => findings.first().and_then(|finding| finding.code),
            _ => None,
        };
        of_finding.unwrap_or_else(|| self.reason.code().code())
    }

    pub(super) fn of(
        reason: Reason,
        message: impl Into<String>,
        details: Details,
    ) -> ValidationError {
        ValidationError { reason, message: message.into(), details }
    }

    /// The facts for a log, with values that may come from the traffic masked.
    pub(super) fn masked(&self) -> String {
        let facts = self.details.facts();
        let facts: Vec<String> = facts
            .iter()
            .map(|fact| {
                let value = if fact.shows_payload { "…" } else { fact.value.as_str() };
                format!("{}={value}", fact.key)
            })
            .collect();
        facts.join(", ")
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            return f.write_str(&format_validation_error(self));
        }
        f.write_str(&self.message)?;
        if let Details::Name { did_you_mean: Some(near), .. } = &self.details {
            write!(f, "; did you mean `{near}`?")?;
        }
        if !f.alternate() {
            return Ok(());
        }
        match &self.details {
            Details::Findings(findings) => findings.iter().try_for_each(|finding| {
                f.write_str("\n  ")?;
                if let Some(at) = finding.pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
                    write!(f, "at {at}: ")?;
                }
                write!(f, "{} [{}]", finding.message, finding.rule.name)?;
                finding.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
            }),
            Details::Violations(violations) => violations.iter().try_for_each(|violation| {
                let place = match violation.instance_path.as_str() {
                    "" => "the value itself",
                    path => path,
                };
                write!(f, "\n  at {place}: {}", violation.message)
            }),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ValidationError {}

impl Reason {
    /// The error code a receiver replies with where nothing more precise is known.
    const fn code(self) -> ErrorCode {
        match self {
            Reason::ParseError => ErrorCode::ParseError,
            Reason::UnknownMethod | Reason::UnknownNotification => ErrorCode::MethodNotFound,
            Reason::TypeMismatch
            | Reason::MissingRequiredFields
            | Reason::SchemaViolation
            | Reason::InvalidUri => ErrorCode::InvalidParams,
            _ => ErrorCode::InvalidRequest,
        }
    }
}

/// Escapes control characters, so that data from a peer cannot forge a line.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// Formats reason and facts on one line: `invalid_method: method=bad`, facts joined by commas.
///
/// ```
/// use mcp_rules::{Reason, ValidationError, format_validation_error};
///
/// let error = ValidationError::new(Reason::InvalidMethod).with("method", "bad");
/// assert_eq!(format_validation_error(&error), "invalid_method: method=bad");
/// ```
pub fn format_validation_error(error: &ValidationError) -> String {
    let facts = error.details.facts();
    let facts: Vec<String> =
        facts.iter().map(|fact| format!("{}={}", fact.key, on_one_line(&fact.value))).collect();
    match (facts.is_empty(), error.message.is_empty()) {
        (false, _) => format!("{}: {}", error.reason, facts.join(", ")),
        (true, false) => format!("{}: {}", error.reason, error.message),
        (true, true) => error.reason.to_string(),
    }
}
