use std::{collections::BTreeMap, sync::Arc};

use mcp_core::Revision;
use mcp_rules::lock::Lock;
use serde_json::Value;

use crate::{Limits, Phase, Safety, Seed};

/// Settings of a run.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct Settings {
    /// The seed of random choices.
    pub seed: Seed,
    /// Limits of the run.
    pub limits: Limits,
    /// Which tools may be called.
    pub safety: Safety,
    /// The phases to run; empty for all.
    pub phases: Vec<Phase>,
    /// Probes to run: those with one of these names, or below one (`ids` includes `ids/zero`);
    /// empty for all.
    pub only: Vec<String>,
    /// Probes to skip, named in the same way.
    pub skip: Vec<String>,
    /// The revisions to test at. Empty for the newest of each era that the server speaks, and all
    /// of them for probes that differ between revisions.
    pub revisions: Vec<Revision>,
    /// Whether to report what would be sent instead of sending it. Discovery still takes place.
    pub dry_run: bool,
    /// Sample arguments for tools that need real ones, by tool.
    pub arguments: BTreeMap<String, Vec<Value>>,
    /// The lock to compare the server with.
    pub lock: Option<Arc<Lock>>,
}

impl Settings {
    /// Whether a probe is selected.
    pub fn chooses(&self, phase: Phase, name: &str) -> bool {
        (self.phases.is_empty() || self.phases.contains(&phase))
            && chooses(&self.only, &self.skip, name)
    }
}

/// The entries of `only` that match none of `names`.
pub(crate) fn unknown<'n>(only: &[String], names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let mut unknown = only.to_vec();
    unknown.retain(|pattern| !names.iter().any(|name| fits(pattern, name)));
    unknown
}

/// Whether a name equals `pattern` or is below it.
fn fits(pattern: &str, name: &str) -> bool {
    name.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a name matches `only`, and not `skip`.
pub(crate) fn chooses(only: &[String], skip: &[String], name: &str) -> bool {
    let fits = |pattern: &String| fits(pattern, name);
    (only.is_empty() || only.iter().any(fits)) && !skip.iter().any(fits)
}
