//! Follows and judges a line in one step, and decides whether it may pass.

use mcp_core::{Refusal, RefusalReason, Side};

use super::{Judged, Observer, Routed};
use crate::{
    Carrier, Content, Enforcement, Finding, Findings, Identity, Line, ReadLine, RuleMeta,
    findings::Unjudged,
    gate::{Kinds, blocks, identities, refuse},
};

/// The findings in one line of a recording, and whether it may pass: for proxies, which record and
/// judge live traffic.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Ruling {
    /// The findings, by the text that they are about.
    pub judged: Vec<Judged>,
    /// The message on the line, or each entry of a batch.
    pub messages: Vec<Identity>,
    /// Why the line may not pass; empty if it may. In a batch, one refusal for each rejected entry,
    /// preceded by that of the line as a whole if there is one.
    pub refusals: Vec<Refusal>,
    /// The findings that block it.
    pub blocking: Vec<Finding>,
    /// The entries of a batch that may not pass because they could not be judged; `None` stands for
    /// the line as a whole.
    pub unjudged: Vec<Option<usize>>,
}

/// A possible reason to block a line.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BlockReason {
    /// The rule that is violated, or may be.
    pub rule: &'static RuleMeta,
    /// Who sent the line.
    pub from: Side,
    /// Whether the message could not be judged: a limit was reached, or parsers may read it
    /// differently.
    pub is_unjudged: bool,
}

impl Ruling {
    /// All findings, in order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.judged.iter().flat_map(|judged| &judged.findings)
    }
}

impl Observer<'_> {
    /// Follows and judges line `number`, and decides whether it may pass. `is_blocked` decides for
    /// each reason; if it returns `None`, the rule's [`Enforcement`] applies, and what could not be
    /// judged may not pass.
    pub fn decide(
        &mut self,
        number: u64,
        line: &ReadLine<'_>,
        is_blocked: impl Fn(BlockReason) -> Option<bool>,
    ) -> Ruling {
        let mut ruling = Ruling::default();
        let routed = self.follow(number, line, &mut ruling.judged);
        let message = line.message();
        if let (Routed::Judge(followed), Some(message)) = (&routed, message) {
            let mut findings = Findings::new(self.engine.settings());
            findings.set_line(number);
            line.judge(self.engine, followed, &mut findings);
            ruling.messages = identities(message, followed);
            self.keep(message.raw(), findings, &mut ruling.judged);
        }
        match line.content {
            Ok(Line::Record(record)) => {
                let kinds = || message.map(Kinds::of).unwrap_or_default();
                self.refuse(number, record.from, &mut ruling, kinds, is_blocked);
                let is_judged = || ruling.findings().any(|finding| finding.line == Some(number));
                if ruling.refusals.is_empty() && is_part_of_a_message(line) && !is_judged() {
                    ruling.refusals.push(incomplete("the line is not a whole message"));
                }
            }
            Ok(Line::Bare(_)) => {}
            Err(_) => ruling.refusals.push(incomplete("the line cannot be read")),
        }
        ruling
    }

    fn refuse(
        &self,
        number: u64,
        from: Side,
        ruling: &mut Ruling,
        kinds: impl FnOnce() -> Kinds,
        is_blocked: impl Fn(BlockReason) -> Option<bool>,
    ) {
        let is_blocking = |finding: &&Finding| {
            let is_own = finding.at_fault.is_none_or(|side| side == from);
            if !is_own || finding.line != Some(number) {
                return false;
            }
            let rule = finding.rule;
            let is_unjudged = finding.ambiguous || rule.enforcement == Enforcement::Unjudged;
            match is_blocked(BlockReason { rule, from, is_unjudged }) {
                Some(blocked) => blocked,
                // The line goes to a receiver, which must tolerate this fault.
                None if rule.enforcement == Enforcement::Tolerated => false,
                None => blocks(from, number, false, finding),
            }
        };
        // Only in refusals do blocking findings become errors, not in the findings themselves.
        ruling.blocking = ruling.findings().filter(is_blocking).cloned().collect();
        let unjudged: Vec<&Unjudged> = (self.unjudged.iter())
            .filter(|Unjudged { rule, .. }| {
                is_blocked(BlockReason { rule, from, is_unjudged: true }).unwrap_or(true)
            })
            .collect();
        if !ruling.blocking.is_empty() || !unjudged.is_empty() {
            let mut blocking = ruling.blocking.clone();
            let of_each = unjudged.iter().copied();
            ruling.refusals = refuse(blocking.iter_mut(), of_each, &kinds()).refusals;
        }
        ruling.unjudged = unjudged.iter().map(|unjudged| unjudged.index).collect();
    }
}

/// Whether a line of a stdio stream may be the beginning of a message that goes on.
fn is_part_of_a_message(line: &ReadLine<'_>) -> bool {
    let Ok(Line::Record(record)) = line.content else { return false };
    record.carrier == Carrier::Stdio
        && matches!(&record.content, Content::Raw(text) if !text.trim_ascii().is_empty())
        && line.message().is_none()
}

fn incomplete(message: &str) -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotJson,
        message: message.to_owned(),
        facts: None,
        findings: Vec::new(),
    }
}
