//! Findings that are known already: a project with many of them can still fail on every new one.
//!
//! A baseline is a file in the repository. It says which findings were there and how often, by
//! their [`Fingerprint`], and holds nothing of the traffic itself.

mod entry;
mod file;
mod home;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
};

use mcp_rules::Finding;

use self::{entry::Entry, home::Home};
use crate::report::Fingerprint;

/// More different findings than anybody will ever look through.
const MOST: usize = 100_000;

/// What is known, or is getting known.
#[derive(Debug)]
pub(crate) struct Baseline {
    path: PathBuf,
    home: Home,
    purpose: Purpose,
    /// By the name of their file, relative to the baseline.
    files: BTreeMap<String, BTreeMap<Fingerprint, Entry>>,
    /// Files that were checked to their end.
    checked: BTreeSet<String>,
    /// The file at hand.
    current: String,
    entries: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To say what is known.
    Use,
    /// To be written with whatever is found.
    Write,
}

/// An entry that found less than it says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stale<'b> {
    pub(crate) file: &'b str,
    pub(crate) rule: &'b str,
    pub(crate) method: Option<&'b str>,
    pub(crate) at: &'b str,
    /// How often it was found.
    pub(crate) seen: u64,
    /// How often it says it would be.
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

    /// Begins a file; `None` is standard input.
    pub(crate) fn enter(&mut self, file: Option<&Path>) {
        self.current = self.home.name(file);
        // A file may be named twice.
        let entries = self.files.get_mut(&self.current).into_iter().flat_map(BTreeMap::values_mut);
        entries.for_each(|entry| entry.seen = 0);
    }

    /// The file at hand was checked to its end.
    pub(crate) fn leave(&mut self) {
        self.checked.insert(std::mem::take(&mut self.current));
    }

    /// Whether `finding` is known; the next one like it may not be any more.
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
        if self.entries <= MOST {
            file.insert(print, Entry::of(finding));
        }
    }

    /// What is said to be there and is not. Of files that were not looked at nothing is known,
    /// unless they are gone.
    pub(crate) fn stale(&self) -> Vec<Stale<'_>> {
        let is_judged = |file: &str| self.checked.contains(file) || self.home.lacks(file);
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
