use serde::Serialize;

use crate::{Finding, Severity};

/// Everything found in a whole message, not only the first fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MessageReport {
    /// Whether there are no errors.
    pub valid: bool,
    /// Every error; in a batch, each has the index of its entry.
    pub errors: Vec<Finding>,
    /// Findings that do not make the message invalid.
    pub warnings: Vec<Finding>,
}

impl MessageReport {
    pub(super) fn of(findings: Vec<Finding>) -> MessageReport {
        let (errors, warnings): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.severity == Severity::Error);
        MessageReport { valid: errors.is_empty(), errors, warnings }
    }

    /// Creates a report on unreadable text, which is invalid whatever the severity of its rule.
    pub(super) fn unreadable(errors: Vec<Finding>) -> MessageReport {
        MessageReport { valid: false, errors, warnings: Vec::new() }
    }
}
