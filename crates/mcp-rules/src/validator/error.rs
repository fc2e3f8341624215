use std::fmt::Write as _;

use mcp_json::SyntaxError;
use mcp_schema::{UriFault, Violation};

use super::{FieldType, Reason};
use crate::Finding;

/// Why a call of the [`Validator`](super::Validator) said no.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ValidationError {
    /// The kind of fault.
    pub reason: Reason,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The facts behind it.
    pub details: Details,
}

/// The facts behind a [`ValidationError`], by kind.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Details {
    /// Where the text stops being JSON, and why.
    Syntax(SyntaxError),
    /// Everything found in a message.
    Findings(Vec<Finding>),
    /// Every way in which a payload breaks its schema.
    Violations(Vec<Violation>),
    /// A name nobody knows, and the one it may have been meant to be.
    Name {
        /// What was given.
        given: String,
        /// The nearest known name.
        did_you_mean: Option<&'static str>,
    },
    /// An error code.
    Code(i64),
    /// A field of the wrong type.
    Field {
        /// Its name.
        name: String,
        /// What it may be.
        expected: Vec<FieldType>,
        /// What it is.
        actual: FieldType,
    },
    /// Fields that are not there.
    Missing(Vec<String>),
    /// What is wrong with a URI.
    Uri(UriFault),
    /// Nothing beyond the message.
    None,
}

impl ValidationError {
    pub(super) fn new(reason: Reason, message: impl Into<String>, details: Details) -> Self {
        ValidationError { reason, message: message.into(), details }
    }
}

/// One fault per line, as a person wants to read it: reason, place, what is wrong, what to do.
pub fn format_validation_error(error: &ValidationError) -> String {
    let mut text = format!("{}: {}", error.reason, error.message);
    match &error.details {
        Details::Findings(findings) => {
            for finding in findings {
                text.push_str("\n  ");
                if let Some(fault) = &finding.schema
                    && !fault.instance_path.is_empty()
                {
                    let _ = write!(text, "at {}: ", fault.instance_path);
                }
                let _ = write!(text, "{} [{}]", finding.message, finding.rule.name);
                if let Some(help) = &finding.help {
                    let _ = write!(text, " ({help})");
                }
            }
        }
        Details::Violations(violations) => {
            for violation in violations {
                let place = match violation.instance_path.as_str() {
                    "" => "the value itself",
                    path => path,
                };
                let _ = write!(text, "\n  at {place}: {}", violation.message);
            }
        }
        Details::Name { did_you_mean: Some(near), .. } => {
            let _ = write!(text, "; did you mean `{near}`?");
        }
        _ => {}
    }
    text
}
