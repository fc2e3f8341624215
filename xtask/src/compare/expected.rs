//! The intended differences, from `expected.json`.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use mcp_core::Revision;
use serde::Deserialize;
use serde_json::Value;

use super::differences::Difference;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Table {
    differences: Vec<Entry>,
    added: Vec<Entry>,
    left_out: Vec<Entry>,
}

/// A difference expected in each of `revisions`, for each of `definitions`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    revisions: Vec<String>,
    /// Names, optionally with one `*` as a wildcard.
    definitions: Vec<String>,
    /// Location of the difference in the definition.
    #[serde(default)]
    path: String,
    /// Our document's value there, in normal form; nothing if only the official file has one.
    here: Option<Value>,
    reason: String,
}

/// The table, and which of its entries occurred.
pub(super) struct Expected {
    table: Table,
    met: BTreeSet<(Kind, usize, String, String)>,
    count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Difference,
    Added,
    LeftOut,
}

impl Expected {
    pub(super) fn load() -> Result<Expected> {
        let table =
            serde_json::from_str(include_str!("expected.json")).context("in expected.json")?;
        Ok(Expected { table, met: BTreeSet::new(), count: 0 })
    }

    /// Whether a difference in definition `name` is expected.
    pub(super) fn difference(
        &mut self,
        revision: Revision,
        name: &str,
        difference: &Difference,
    ) -> bool {
        let Difference { path, here, .. } = difference;
        self.meet(Kind::Difference, revision, name, path, here.as_ref())
    }

    /// Whether definition `name` is expected only in our document.
    pub(super) fn added(&mut self, revision: Revision, name: &str) -> bool {
        self.meet(Kind::Added, revision, name, "", None)
    }

    /// Whether definition `name` is expected only in the official file.
    pub(super) fn left_out(&mut self, revision: Revision, name: &str) -> bool {
        self.meet(Kind::LeftOut, revision, name, "", None)
    }

    /// How many differences occurred.
    pub(super) fn met(&self) -> usize {
        self.count
    }

    /// Expected differences that did not occur.
    pub(super) fn unused(&self) -> Vec<String> {
        let mut unused = Vec::new();
        for kind in [Kind::Difference, Kind::Added, Kind::LeftOut] {
            for (position, entry) in self.entries(kind).iter().enumerate() {
                for revision in &entry.revisions {
                    for name in &entry.definitions {
                        if !self.met.contains(&(kind, position, revision.clone(), name.clone())) {
                            let Entry { path, reason, .. } = entry;
                            unused.push(format!(
                                "{revision} {name} {path}: expected to differ ({reason}), but does not"
                            ));
                        }
                    }
                }
            }
        }
        unused
    }

    fn entries(&self, kind: Kind) -> &[Entry] {
        match kind {
            Kind::Difference => &self.table.differences,
            Kind::Added => &self.table.added,
            Kind::LeftOut => &self.table.left_out,
        }
    }

    fn meet(
        &mut self,
        kind: Kind,
        revision: Revision,
        name: &str,
        path: &str,
        here: Option<&Value>,
    ) -> bool {
        let found = (self.entries(kind).iter().enumerate()).find_map(|(position, entry)| {
            if entry.path != path
                || entry.here.as_ref() != here
                || !entry.revisions.iter().any(|date| date == revision.as_str())
            {
                return None;
            }
            let pattern = entry.definitions.iter().find(|pattern| fits(pattern, name))?;
            Some((kind, position, revision.to_string(), pattern.clone()))
        });
        self.count += usize::from(found.is_some());
        found.is_some_and(|met| {
            self.met.insert(met);
            true
        })
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => pattern == name,
    }
}
