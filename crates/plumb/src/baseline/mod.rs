//! Known findings: a project that has many of them can still fail on every new one.
//!
//! A baseline is a file in the repository. It lists findings by [`Fingerprint`], with their counts,
//! and contains nothing from the traffic itself.

mod directory;
mod entry;
mod file;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

use mcp_rules::Finding;

use self::{directory::BaselineDirectory, entry::Entry};
use crate::report::Fingerprint;

/// More distinct findings than anyone will ever read.
const MAX_ENTRIES: usize = 100_000;

/// Known findings, or findings being collected for a new baseline.
#[derive(Debug)]
pub(crate) struct Baseline {
    path: PathBuf,
    directory: BaselineDirectory,
    purpose: Purpose,
    /// By file name, relative to the baseline.
    files: BTreeMap<String, BTreeMap<Fingerprint, Entry>>,
    /// Files that were checked to the end.
    checked: BTreeSet<String>,
    /// The current file.
    current: String,
    entries: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To look up known findings.
    Use,
    /// To record everything that is found.
    Write,
}

/// An entry that occurs less often than the baseline says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stale<'b> {
    pub(crate) file: &'b str,
    pub(crate) rule: &'b str,
    pub(crate) method: Option<&'b str>,
    pub(crate) at: &'b str,
    /// How many were found.
    pub(crate) seen: u64,
    /// How many the baseline expects.
    pub(crate) count: u64,
}

impl fmt::Display for Stale<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stale { file, rule, method, at, seen, count } = self;
        write!(f, "{file}: {rule}")?;
        match (method, at.is_empty()) {
            (None, true) => {}
            (None, false) => write!(f, " ({at})")?,
            (Some(method), true) => write!(f, " ({method})")?,
            (Some(method), false) => write!(f, " ({method} {at})")?,
        }
        write!(f, ", {seen} of {count}")
    }
}

impl Baseline {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_to_be_written(&self) -> bool {
        self.purpose == Purpose::Write
    }

    /// Starts a file; `None` is standard input.
    pub(crate) fn enter(&mut self, file: Option<&Path>) {
        self.current = self.directory.name(file);
        // A file may be named twice.
        let entries = self.files.get_mut(&self.current).into_iter().flat_map(BTreeMap::values_mut);
        entries.for_each(|entry| entry.seen = 0);
    }

    /// The current file was checked to the end.
    pub(crate) fn leave(&mut self) {
        self.checked.insert(std::mem::take(&mut self.current));
    }

    /// Whether `finding` is known. Counts it, so the next one like it may not be.
    pub(crate) fn knows(&mut self, finding: &Finding) -> bool {
        let print = Fingerprint::of(finding);
        match self.purpose {
            Purpose::Use => {
                let entry = self.files.get_mut(&self.current).and_then(|file| file.get_mut(&print));
                entry.is_some_and(Entry::take)
            }
            Purpose::Write => {
                self.record(print, finding);
                false
            }
        }
    }

    fn record(&mut self, print: Fingerprint, finding: &Finding) {
        if !self.files.contains_key(&self.current) {
            self.files.insert(self.current.clone(), BTreeMap::new());
        }
        let Some(file) = self.files.get_mut(&self.current) else { return };
        if let Some(entry) = file.get_mut(&print) {
            entry.seen += 1;
            return;
        }
        self.entries += 1;
        if self.entries <= MAX_ENTRIES {
            file.insert(print, Entry::of(finding));
        }
    }

    /// Entries that no longer occur. Files that were not checked do not count, unless they are
    /// gone.
    pub(crate) fn stale(&self) -> Vec<Stale<'_>> {
        let is_judged = |file: &str| self.checked.contains(file) || self.directory.lacks(file);
        (self.files.iter())
            .filter(|(file, _)| is_judged(file))
            .flat_map(|(file, entries)| entries.values().map(move |entry| (file, entry)))
            .filter(|(_, entry)| entry.seen < entry.count)
            .map(|(file, entry)| Stale {
                file,
                rule: &entry.rule,
                method: entry.method.as_deref(),
                at: &entry.at,
                seen: entry.seen,
                count: entry.count,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
