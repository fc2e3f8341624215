use std::collections::BTreeMap;

use mcp_core::Side;
use mcp_rules::{Finding, Severity};

/// What a run amounts to, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Messages seen, an unreadable one included; a batch counts as one.
    pub(crate) messages: u64,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// By rule name and sender, where the sender is known.
    pub(crate) by_rule: BTreeMap<(&'static str, Option<Side>), Counts>,
    pub(crate) errors: u64,
    pub(crate) warnings: u64,
    /// Findings that were counted above but not shown, or not kept, because there were too many.
    pub(crate) dropped: u64,
    /// Inputs that could not be read, or not to their end.
    pub(crate) unreadable: u64,
    /// Messages judged only in part, such as an answer to a request that was not recorded.
    pub(crate) unjudged: u64,
}

/// Findings by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) errors: u64,
    pub(crate) warnings: u64,
}

impl Counts {
    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }
}

impl Summary {
    /// Counts a finding, whether it is shown or not.
    pub(crate) fn add(&mut self, finding: &Finding) {
        let key = (finding.rule.name, finding.from);
        self.by_rule.entry(key).or_default().count(finding.severity);
        match finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }

    /// How many findings there are, of every severity.
    pub(crate) fn findings(&self) -> u64 {
        self.errors + self.warnings
    }

    /// Whether something at least as bad as `threshold` was found.
    pub(crate) fn has_at_least(&self, threshold: Severity) -> bool {
        match threshold {
            Severity::Error => self.errors > 0,
            Severity::Warning => self.findings() > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, severity: Severity, from: Option<Side>) -> Finding {
        let mut finding = Finding::new(mcp_rules::rule(name).unwrap(), severity, "wrong");
        finding.from = from;
        finding
    }

    #[test]
    fn findings_count_by_rule_and_sender() {
        let mut summary = Summary::default();
        summary.add(&found("params-invalid", Severity::Error, Some(Side::Client)));
        summary.add(&found("params-invalid", Severity::Error, Some(Side::Client)));
        summary.add(&found("params-invalid", Severity::Warning, None));
        let client = summary.by_rule[&("params-invalid", Some(Side::Client))];
        assert_eq!(client, Counts { errors: 2, warnings: 0 });
        assert_eq!((summary.errors, summary.warnings, summary.by_rule.len()), (2, 1, 2));
    }

    #[test]
    fn the_threshold_decides_what_fails() {
        let mut summary = Summary::default();
        assert!(!summary.has_at_least(Severity::Warning));
        summary.add(&found("method-unknown", Severity::Warning, None));
        assert!(summary.has_at_least(Severity::Warning));
        assert!(!summary.has_at_least(Severity::Error));
    }
}
