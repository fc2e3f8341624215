use mcp_core::Side;
use mcp_rules::Finding;

use crate::report::place;

/// Findings that are the same but for their line. All but the counts is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) rule: String,
    pub(super) from: Option<String>,
    pub(super) method: Option<String>,
    pub(super) at: String,
    /// How often it is known to be there.
    pub(super) count: u64,
    /// How often it was found.
    pub(super) seen: u64,
}

impl Entry {
    /// Found for the first time.
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

    /// Whether one more was known to be there.
    pub(super) fn take(&mut self) -> bool {
        let known = self.seen < self.count;
        self.seen += u64::from(known);
        known
    }
}
