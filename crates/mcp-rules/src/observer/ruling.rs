//! Following and judging a line in one step, with a decision whether it may pass.

use mcp_core::{Refusal, RefusalReason, Side};

use super::{Judged, Observer, Routed};
use crate::{
    Carrier, Content, Enforcement, Finding, Findings, Identity, Line, ReadLine, RuleMeta,
    findings::Unjudged,
    gate::{Kinds, blocks, identities, refuse},
};

/// Everything there is to say about one line of a recording, for whoever records live traffic and
/// judges it on the way.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Ruling {
    /// What was found, by the text that it is about.
    pub judged: Vec<Judged>,
    /// The message on the line, or each entry of a batch.
    pub messages: Vec<Identity>,
    /// Why the line may not pass; empty if it may. Each rejected entry of a batch has its own, and
    /// first comes that of the line as a whole.
    pub refusals: Vec<Refusal>,
    /// The findings that hold it back.
    pub holding: Vec<Finding>,
    /// The entries of a batch that may not pass since they could not be judged; `None` is the line
    /// as a whole.
    pub unjudged: Vec<Option<usize>>,
}

/// A reason why a line may have to be held back.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Ground {
    /// Whether a message that breaks this rule may pass is the question.
    pub rule: &'static RuleMeta,
    /// Who sent the line.
    pub from: Side,
    /// Whether it is unknown what the message is, or whether it breaks the rule: a limit was
    /// reached, or readers may disagree on which message it is.
    pub is_unjudged: bool,
}

impl Ruling {
    /// All findings, in order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.judged.iter().flat_map(|judged| &judged.findings)
    }
}

impl Observer<'_> {
    /// Follows and judges line `number`, and decides whether it may pass. What is wrong with it holds
    /// it back if `holds` says so; if that returns `None`, the rule decides, and what could not be
    /// judged may not pass.
    pub fn rule(
        &mut self,
        number: u64,
        line: &ReadLine<'_>,
        holds: impl Fn(Ground) -> Option<bool>,
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
                self.refuse(number, record.from, &mut ruling, kinds, holds);
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
        holds: impl Fn(Ground) -> Option<bool>,
    ) {
        let is_held = |finding: &&Finding| {
            let is_own = finding.at_fault.is_none_or(|side| side == from);
            if !is_own || finding.line != Some(number) {
                return false;
            }
            let rule = finding.rule;
            let is_unjudged = finding.ambiguous || rule.enforcement == Enforcement::Unjudged;
            match holds(Ground { rule, from, is_unjudged }) {
                Some(holds) => holds,
                // Receivers can cope with it, and it is a receiver that the line goes to.
                None if rule.enforcement == Enforcement::Tolerated => false,
                None => blocks(from, number, false, finding),
            }
        };
        // What holds a line back counts as an error only where that is said.
        ruling.holding = ruling.findings().filter(is_held).cloned().collect();
        let unjudged: Vec<&Unjudged> = (self.unjudged.iter())
            .filter(|Unjudged { rule, .. }| {
                holds(Ground { rule, from, is_unjudged: true }).unwrap_or(true)
            })
            .collect();
        if !ruling.holding.is_empty() || !unjudged.is_empty() {
            let mut holding = ruling.holding.clone();
            let of_each = unjudged.iter().copied();
            ruling.refusals = refuse(holding.iter_mut(), of_each, &kinds()).refusals;
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
