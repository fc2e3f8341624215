use mcp_core::Side;
use mcp_rules::Finding;

use crate::report::place;

/// Findings that differ only in their line. All fields but the counts are for human readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) rule: String,
    pub(super) from: Option<String>,
    pub(super) method: Option<String>,
    pub(super) at: String,
    /// How many the baseline expects.
    pub(super) count: u64,
    /// How many were found.
    pub(super) seen: u64,
}

impl Entry {
    /// An entry for a finding seen for the first time.
    pub(super) fn of(finding: &Finding) -> Entry {
        Entry {
            rule: finding.rule.name.to_owned(),
            from: finding.from.map(|side: Side| side.as_str().to_owned()),
            method: finding.method.map(str::to_owned),
            at: place(finding),
            count: 0,
            seen: 1,
        }
    }

    /// Counts one more, and tells whether the baseline expected it.
    pub(super) fn take(&mut self) -> bool {
        let known = self.seen < self.count;
        self.seen += u64::from(known);
        known
    }
}
