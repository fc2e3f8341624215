use std::collections::BTreeMap;

use mcp_core::Side;
use mcp_rules::{Finding, Severity};

use crate::args::FailOn;

/// The totals of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Messages seen, an unreadable one included; a batch counts as one.
    pub(crate) messages: u64,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    /// By rule name and the side at fault, where that is known.
    pub(crate) by_rule: BTreeMap<(&'static str, Option<Side>), Counts>,
    pub(crate) errors: u64,
    pub(crate) warnings: u64,
    /// Findings that were counted above but not shown, or not kept, because there were too many.
    pub(crate) dropped: u64,
    /// Findings listed in the baseline, counted nowhere else.
    pub(crate) known: u64,
    /// Inputs that could not be read, or not to the end.
    pub(crate) unreadable: u64,
    /// Messages checked only in part, such as an answer to a request that was not recorded.
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
        let key = (finding.rule.name, finding.at_fault);
        self.by_rule.entry(key).or_default().count(finding.severity);
        match finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }

    /// Adds the totals of another run.
    pub(crate) fn merge(&mut self, other: Summary) {
        self.messages += other.messages;
        self.files += other.files;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.dropped += other.dropped;
        self.known += other.known;
        self.unreadable += other.unreadable;
        self.unjudged += other.unjudged;
        for (key, counts) in other.by_rule {
            let own = self.by_rule.entry(key).or_default();
            own.errors += counts.errors;
            own.warnings += counts.warnings;
        }
    }

    /// The number of findings, of any severity.
    pub(crate) fn findings(&self) -> u64 {
        self.errors + self.warnings
    }

    /// By the side at fault, with the unknown side last.
    pub(crate) fn by_side(&self) -> [(Option<Side>, u64); 3] {
        [Some(Side::Client), Some(Side::Server), None].map(|side| {
            let of_side = self.by_rule.iter().filter(|((_, at_fault), _)| *at_fault == side);
            (side, of_side.map(|(_, counts)| counts.errors + counts.warnings).sum())
        })
    }

    /// Whether any finding makes the run fail.
    pub(crate) fn fails(&self, fail_on: FailOn) -> bool {
        (self.errors > 0 && fail_on.fails(Severity::Error))
            || (self.warnings > 0 && fail_on.fails(Severity::Warning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, severity: Severity, at_fault: Option<Side>) -> Finding {
        let mut finding = Finding::new(mcp_rules::rule(name).unwrap(), severity, "wrong");
        finding.at_fault = at_fault;
        finding
    }

    #[test]
    fn findings_count_by_rule_and_side() {
        let mut summary = Summary::default();
        summary.add(&found("params-invalid", Severity::Error, Some(Side::Client)));
        summary.add(&found("params-invalid", Severity::Error, Some(Side::Client)));
        summary.add(&found("params-invalid", Severity::Warning, None));
        let client = summary.by_rule[&("params-invalid", Some(Side::Client))];
        assert_eq!(client, Counts { errors: 2, warnings: 0 });
        assert_eq!((summary.errors, summary.warnings, summary.by_rule.len()), (2, 1, 2));
        assert_eq!(
            summary.by_side(),
            [(Some(Side::Client), 2), (Some(Side::Server), 0), (None, 1)]
        );
    }

    #[test]
    fn the_threshold_decides_what_fails() {
        let mut summary = Summary::default();
        let fails = |summary: &Summary| FailOn::ALL.map(|fail_on| summary.fails(fail_on));
        assert_eq!(fails(&summary), [false, false, false]);
        summary.add(&found("method-unknown", Severity::Warning, None));
        assert_eq!(fails(&summary), [true, false, false]);
        summary.add(&found("params-invalid", Severity::Error, None));
        assert_eq!(fails(&summary), [true, true, false]);
    }
}
