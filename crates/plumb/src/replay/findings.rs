//! Compares the findings of two conversations that should be the same.

use std::collections::BTreeMap;

use mcp_core::Side;
use mcp_rules::{Finding, Layer};

/// Findings of one conversation, by kind.
#[derive(Debug, Default)]
pub(crate) struct FindingTally(BTreeMap<Kind, Alike>);

/// Rule, side at fault and method.
type Kind = (&'static str, Option<Side>, Option<&'static str>);

#[derive(Debug)]
struct Alike {
    count: u64,
    layer: Layer,
    first: Finding,
}

/// A kind of finding that occurs more or less often than before.
#[derive(Debug)]
pub(crate) struct Shift<'a> {
    /// The first such finding in the conversation that has more of them.
    pub(crate) example: &'a Finding,
    pub(crate) then: u64,
    pub(crate) now: u64,
}

impl FindingTally {
    pub(crate) fn add(&mut self, finding: &Finding) {
        let kind = (finding.rule.name, finding.at_fault, finding.method);
        self.0.entry(kind).and_modify(|alike| alike.count += 1).or_insert_with(|| Alike {
            count: 1,
            layer: finding.rule.layer,
            first: finding.clone(),
        });
    }

    /// The kinds of findings that occur more or less often `now`, except in the layers `except`.
    pub(crate) fn shifts<'a>(&'a self, now: &'a FindingTally, except: &[Layer]) -> Vec<Shift<'a>> {
        let all: std::collections::BTreeSet<&Kind> = self.0.keys().chain(now.0.keys()).collect();
        all.into_iter()
            .filter_map(|kind| {
                let (then, now) = (self.0.get(kind), now.0.get(kind));
                let count = |alike: Option<&Alike>| alike.map_or(0, |alike| alike.count);
                let counts = (count(then), count(now));
                let more = if counts.1 > counts.0 { now } else { then }?;
                let differs = counts.0 != counts.1 && !except.contains(&more.layer);
                differs.then_some(Shift { example: &more.first, then: counts.0, now: counts.1 })
            })
            .collect()
    }
}
