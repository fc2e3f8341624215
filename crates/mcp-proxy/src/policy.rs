use std::collections::BTreeMap;

use mcp_core::Side;
use mcp_rules::{BlockReason, Finding};

use crate::BadTools;

/// What a proxy does about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "one setting, three positions")]
pub enum Action {
    /// Pass the message, and report nothing.
    Off,
    /// Pass the message, and report the finding.
    Warn,
    /// Hold back the message, if enforcement is on for its sender.
    Reject,
}

/// Decides which messages are held back, and which findings are reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whether messages of a side are held back at all, by `Side as usize`.
    enforced: [bool; 2],
    /// By sender and rule name; for other rules, the rule's own default applies.
    actions: BTreeMap<(Side, &'static str), Level>,
    bad_tools: BadTools,
}

/// An action for one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    action: Action,
    /// Whether it was set for this rule by name, not for a group of rules.
    is_own: bool,
}

impl Policy {
    /// Holds nothing back.
    pub fn observe() -> Policy {
        Policy::default()
    }

    /// Holds back what breaks the protocol, from either side.
    pub fn enforce() -> Policy {
        Policy { enforced: [true; 2], ..Policy::default() }
    }

    /// Sets whether messages of `from` are held back at all.
    #[must_use]
    pub fn enforcing(mut self, from: Side, enforced: bool) -> Policy {
        self.enforced[from as usize] = enforced;
        self
    }

    /// Sets what to do if messages of `from` break `rule`, or if that cannot be determined.
    #[must_use]
    pub fn with(self, from: Side, rule: &'static str, action: Action) -> Policy {
        self.set(from, rule, Level { action, is_own: true })
    }

    /// Sets what to do if messages of `from` break `rule`, as part of a group of rules. What could
    /// not be judged is still held back, since the user did not ask for this rule by name.
    #[must_use]
    pub fn with_broad(self, from: Side, rule: &'static str, action: Action) -> Policy {
        self.set(from, rule, Level { action, is_own: false })
    }

    /// Sets what to do with a list of tools if only some of them break a rule.
    #[must_use]
    pub fn with_bad_tools(mut self, bad_tools: BadTools) -> Policy {
        self.bad_tools = bad_tools;
        self
    }

    fn set(mut self, from: Side, rule: &'static str, level: Level) -> Policy {
        self.actions.insert((from, rule), level);
        self
    }

    /// Whether any message may be blocked.
    pub fn enforces(&self) -> bool {
        self.enforced.contains(&true)
    }

    /// Whether messages of `from` may be blocked.
    pub fn enforces_on(&self, from: Side) -> bool {
        self.enforced[from as usize]
    }

    pub(crate) fn bad_tools(&self) -> BadTools {
        self.bad_tools
    }

    /// Whether a message is blocked for this reason; `None` leaves it to the rule.
    pub(crate) fn blocks(&self, reason: BlockReason) -> Option<bool> {
        let level = self.actions.get(&(reason.from, reason.rule.name))?;
        match level.action {
            Action::Off | Action::Warn if reason.is_unjudged && !level.is_own => None,
            Action::Off | Action::Warn => Some(false),
            Action::Reject => Some(true),
        }
    }

    /// Whether a finding is reported.
    pub(crate) fn reports(&self, finding: &Finding) -> bool {
        let Some(from) = finding.from else { return true };
        let level = self.actions.get(&(from, finding.rule.name));
        level.is_none_or(|level| level.action != Action::Off)
    }
}
