//! Following and judging a line in one step, with a decision whether it may pass.

use mcp_core::{Refusal, RefusalReason, Side};

use super::{Judged, Observer, Routed};
use crate::{
    Carrier, Content, Enforcement, Finding, Findings, Identity, Line, ReadLine,
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
}

impl Ruling {
    /// All findings, in order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.judged.iter().flat_map(|judged| &judged.findings)
    }
}

impl Observer<'_> {
    /// Follows and judges line `number`, and decides whether it may pass. A finding holds it back if
    /// `holds` says so; if that returns `None`, the rule of the finding decides. What could not be
    /// judged may not pass.
    pub fn rule(
        &mut self,
        number: u64,
        line: &ReadLine<'_>,
        holds: impl Fn(&Finding) -> Option<bool>,
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
        if let Ok(Line::Record(record)) = line.content {
            let kinds = || message.map(Kinds::of).unwrap_or_default();
            self.refuse(number, record.from, &mut ruling, kinds, holds);
            if ruling.refusals.is_empty() && is_part_of_a_message(line) {
                ruling.refusals.push(incomplete());
            }
        }
        ruling
    }

    fn refuse(
        &self,
        number: u64,
        from: Side,
        ruling: &mut Ruling,
        kinds: impl FnOnce() -> Kinds,
        holds: impl Fn(&Finding) -> Option<bool>,
    ) {
        let holds = |finding: &&Finding| match holds(finding) {
            Some(holds) => {
                let is_own = finding.at_fault.is_none_or(|side| side == from);
                holds && is_own && finding.line == Some(number)
            }
            // Receivers can cope with it, and it is a receiver that the line goes to.
            None if finding.rule.enforcement == Enforcement::Tolerated => false,
            None => blocks(from, number, false, finding),
        };
        // What holds a line back counts as an error only where that is said.
        let mut holding: Vec<Finding> = ruling.findings().filter(holds).cloned().collect();
        if !holding.is_empty() || !self.unjudged.is_empty() {
            let unjudged = self.unjudged.iter();
            ruling.refusals = refuse(holding.iter_mut(), unjudged, &kinds()).refusals;
        }
    }
}

/// Whether a line of a stdio stream may be the beginning of a message that goes on.
fn is_part_of_a_message(line: &ReadLine<'_>) -> bool {
    let Ok(Line::Record(record)) = line.content else { return false };
    record.carrier == Carrier::Stdio
        && matches!(&record.content, Content::Raw(text) if !text.trim_ascii().is_empty())
        && line.message().is_none()
}

fn incomplete() -> Refusal {
    Refusal {
        index: None,
        reason: RefusalReason::NotJson,
        message: "the line is not a whole message".into(),
        facts: None,
        findings: Vec::new(),
    }
}
