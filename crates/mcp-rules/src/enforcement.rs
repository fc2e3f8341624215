use crate::Severity;

/// What a gate that enforces the protocol does about the findings of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "gates have to know all of them")]
pub enum Enforcement {
    /// An error keeps the message from passing, a warning does not.
    BySeverity,
    /// The same, but the receiver knows how to go on: the message passes to a side that the gate
    /// guards, while that side must not send such a thing itself. A result without a type counts as
    /// complete, for example, and a tool whose header cannot be is left out of its list.
    Tolerated,
    /// What a peer has promised is broken: the schema of a tool, a form. The message does not pass,
    /// although the specification may only warn. Who receives it judges it by the contract, which
    /// says more, so the message passes to a side that the gate guards.
    Contract,
}

impl Enforcement {
    /// Whether a finding of this severity keeps its message from passing. `arrives` says that the
    /// message is meant for a side that the gate guards.
    pub(crate) fn blocks(self, severity: Severity, arrives: bool) -> bool {
        match self {
            Enforcement::BySeverity => severity == Severity::Error,
            Enforcement::Tolerated => severity == Severity::Error && !arrives,
            Enforcement::Contract => !arrives,
        }
    }
}
