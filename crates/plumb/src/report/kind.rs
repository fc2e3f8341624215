use std::sync::Arc;

use mcp_core::Side;
use mcp_rules::{Finding, Severity};

/// Findings that are similar enough to show only a few of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub(crate) rule: &'static str,
    pub(crate) severity: Severity,
    pub(crate) at_fault: Option<Side>,
}

impl Kind {
    pub(crate) fn of(finding: &Finding) -> Kind {
        let Finding { rule, severity, at_fault, .. } = *finding;
        Kind { rule: rule.name, severity, at_fault }
    }
}

/// Findings of one kind in one file that were counted but not shown.
#[derive(Debug, Clone)]
pub(crate) struct Withheld {
    pub(crate) file: Arc<str>,
    pub(crate) kind: Kind,
    pub(crate) count: u64,
}
