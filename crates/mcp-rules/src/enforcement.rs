use crate::Severity;

/// How a gate that enforces the protocol treats the findings of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "gates have to know all of them")]
pub enum Enforcement {
    /// An error blocks the message, a warning does not.
    BySeverity,
    /// The same, but receivers can cope: the message passes to a side that the gate guards, while
    /// that side must not send such a message itself. For example, a result without a type counts
    /// as complete, and a tool with an invalid header annotation is dropped from its list.
    Tolerated,
    /// A peer broke its own promise: a tool's schema, a form. The message is blocked, although the
    /// specification may only warn. It still passes to a side that the gate guards, as the receiver
    /// checks it against the contract, which is more precise.
    Contract,
    /// A limit was reached, so that the message was not judged, or not all of it. It does not pass,
    /// whatever level the rule has, and even if the rule is off.
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
