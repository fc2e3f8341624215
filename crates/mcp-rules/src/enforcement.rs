use crate::Severity;

/// How a gate that enforces the protocol treats the findings of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "gates have to know all of them")]
pub enum Enforcement {
    /// An error blocks the message, a warning does not.
    BySeverity,
    /// The same, except that receivers must tolerate such a message: it passes to a side that the
    /// gate guards, while that side must not send one itself. For example, a result without a type
    /// counts as complete, and a tool with an invalid header annotation is dropped from its list.
    Tolerated,
    /// The message violates a contract: a tool's schema or a form. It is blocked, even where the
    /// specification only advises. It still passes to a side that the gate guards, as that side
    /// checks the contract itself, and more precisely.
    Contract,
    /// A limit was reached, so that the message was not judged completely. It is blocked whatever
    /// the level of the rule, even if the rule is off.
    Unjudged,
}

impl Enforcement {
    /// Whether a finding of this severity blocks its message. `arrives` is true if the message is
    /// addressed to a side that the gate guards.
    pub(crate) fn blocks(self, severity: Severity, arrives: bool) -> bool {
        match self {
            Enforcement::BySeverity => severity == Severity::Error,
            Enforcement::Tolerated => severity == Severity::Error && !arrives,
            Enforcement::Contract => !arrives,
            Enforcement::Unjudged => true,
        }
    }
}
