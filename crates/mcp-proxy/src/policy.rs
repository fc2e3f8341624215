use std::collections::BTreeMap;

use mcp_core::Side;
use mcp_rules::Finding;

/// What an enforcing proxy does about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "it passes or it does not")]
pub enum Action {
    /// The message passes; the finding is only reported.
    Warn,
    /// The message does not pass.
    Reject,
}

/// Which findings keep a message from passing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whose messages are held back at all, by `Side as usize`.
    enforced: [bool; 2],
    /// By sender and name of the rule; for all others the rule itself decides.
    actions: BTreeMap<(Side, &'static str), Action>,
}

impl Policy {
    /// Everything passes.
    pub fn observe() -> Policy {
        Policy::default()
    }

    /// What breaks the protocol does not pass, whoever sends it.
    pub fn enforce() -> Policy {
        Policy { enforced: [true; 2], actions: BTreeMap::new() }
    }

    /// Sets whether messages of `from` are held back at all.
    #[must_use]
    pub fn enforcing(mut self, from: Side, enforced: bool) -> Policy {
        self.enforced[from as usize] = enforced;
        self
    }

    /// Sets what to do about findings of `rule` in messages of `from`.
    #[must_use]
    pub fn with(mut self, from: Side, rule: &'static str, action: Action) -> Policy {
        self.actions.insert((from, rule), action);
        self
    }

    /// Whether any message may be held back.
    pub fn enforces(&self) -> bool {
        self.enforced.contains(&true)
    }

    /// Whether messages of `from` may be held back.
    pub fn enforces_on(&self, from: Side) -> bool {
        self.enforced[from as usize]
    }

    /// Whether a finding in a message of `from` holds it back; `None` leaves it to its rule.
    pub(crate) fn holds(&self, from: Side, finding: &Finding) -> Option<bool> {
        let action = self.actions.get(&(from, finding.rule.name))?;
        Some(*action == Action::Reject)
    }
}
