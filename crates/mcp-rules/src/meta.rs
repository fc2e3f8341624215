use mcp_core::Revisions;

use crate::{Enforcement, Layer, Level};

/// Static description of a rule.
#[derive(Debug, Clone, Copy)]
pub struct RuleMeta {
    /// Stable, kebab-case, names the defect.
    pub name: &'static str,
    /// The layer it checks.
    pub layer: Layer,
    /// Its severity unless the user overrides it.
    pub level: Level,
    /// The revisions it applies to.
    pub applies: Revisions,
    /// How a gate treats its findings.
    pub enforcement: Enforcement,
    /// Page and heading of the specification, `page#heading`; empty for our own guards.
    pub clause: &'static str,
    /// The Markdown that `plumb explain` prints; the first line is a one-sentence summary.
    pub docs: &'static str,
}

impl RuleMeta {
    /// The one-sentence summary: what is wrong when this rule fires.
    pub fn summary(&self) -> &'static str {
        self.docs.lines().next().unwrap_or_default().trim_start_matches("# ").trim()
    }
}

/// Rules are compared by name: the name is the identifier.
impl PartialEq for RuleMeta {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for RuleMeta {}

/// Defines a table of rules: name, layer, level, revisions, clause, and how gates treat it unless
/// that follows from its severity. The documentation of each is the file with its name under
/// `docs/`.
macro_rules! rules {
    ($($ident:ident: $name:literal, $layer:ident, $level:expr, $applies:expr, $clause:literal $(, $enforcement:ident)?;)*) => {
        $(
            pub(crate) static $ident: crate::RuleMeta = crate::RuleMeta {
                name: $name,
                layer: crate::Layer::$layer,
                level: $level,
                applies: $applies,
                enforcement: enforcement!($($enforcement)?),
                clause: $clause,
                docs: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", $name, ".md")),
            };
        )*
        pub(crate) static RULES: &[&crate::RuleMeta] = &[$(&$ident),*];
    };
}

macro_rules! enforcement {
    () => {
        crate::Enforcement::BySeverity
    };
    ($enforcement:ident) => {
        crate::Enforcement::$enforcement
    };
}
