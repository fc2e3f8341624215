use std::{collections::BTreeMap, sync::Arc};

use mcp_core::Revision;
use mcp_rules::lock::Lock;
use serde_json::Value;

use crate::{Limits, Phase, Safety, Seed};

/// How to test.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct Settings {
    /// What random choices follow from.
    pub seed: Seed,
    /// How much to do at most.
    pub limits: Limits,
    /// What may be called.
    pub safety: Safety,
    /// The phases to run; empty for all.
    pub phases: Vec<Phase>,
    /// Only probes whose name is one of these, or begins with one and a `/`; empty for all.
    pub only: Vec<String>,
    /// Probes to leave out, named in the same way.
    pub skip: Vec<String>,
    /// The revisions to test at; empty for the newest of each era that the server speaks, and for
    /// what differs between revisions, all of them.
    pub revisions: Vec<Revision>,
    /// Whether to tell what would be sent instead of sending it. What the server offers is asked
    /// for all the same.
    pub dry_run: bool,
    /// Arguments for tools that need real ones, by tool.
    pub arguments: BTreeMap<String, Vec<Value>>,
    /// What the server must offer, and nothing else.
    pub lock: Option<Arc<Lock>>,
}

impl Settings {
    /// Whether a probe was chosen.
    pub fn chooses(&self, phase: Phase, name: &str) -> bool {
        (self.phases.is_empty() || self.phases.contains(&phase))
            && chooses(&self.only, &self.skip, name)
    }
}

/// Those of `only` by which none of the names is chosen.
pub(crate) fn unknown<'n>(only: &[String], names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let mut unknown = only.to_vec();
    unknown.retain(|pattern| !names.iter().any(|name| fits(pattern, name)));
    unknown
}

/// Whether a name is a pattern or below it.
fn fits(pattern: &str, name: &str) -> bool {
    name.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a name is one of `only` or below one, and not one of `skip` or below one.
pub(crate) fn chooses(only: &[String], skip: &[String], name: &str) -> bool {
    let fits = |pattern: &String| fits(pattern, name);
    (only.is_empty() || only.iter().any(fits)) && !skip.iter().any(fits)
}
