//! Compares two recordings of the same conversation: from both sides of a middlebox, or with two
//! servers.

mod compare;
mod digest;
mod headers;
mod matching;
mod order;
mod recording;
mod report;
mod rewrites;
mod terms;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, io, path::Path};

use mcp_core::Side;

use self::{
    compare::Changes,
    digest::Digester,
    matching::Matching,
    recording::{Entry, Kind},
    rewrites::{Replacements, Rewrites, Rewritten},
};
pub(crate) use self::{
    recording::{Recording, RecordingError},
    report::{DiffReport, HumanDiff, JsonDiff, Totals},
    terms::{Scope, Terms},
};
use crate::message_name::MessageName;

/// Why two recordings could not be compared.
#[derive(Debug)]
pub(crate) enum DiffError {
    /// The first or the second cannot be read.
    Recording(usize, RecordingError),
    /// The report cannot be written.
    Write(io::Error),
}

/// A difference between two recordings.
#[derive(Debug)]
pub(crate) enum Difference {
    /// The message is only in the first one.
    Lost(Place),
    /// The message is only in the second one.
    Added(Place),
    /// The message is in both, but before or after others.
    Moved(Place, Place),
    Changed(Place, Place, Changes),
    Rewritten(Rewritten, Option<Side>, Replacements),
}

/// A message in a recording.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    line: u64,
    from: Option<Side>,
    title: String,
}

/// Compares two recordings, and reports each difference where it comes up.
pub(crate) fn run(
    left: &Path,
    right: &Path,
    report: &mut dyn DiffReport,
) -> Result<Totals, DiffError> {
    let differ = Differ::default();
    let left = differ.read(left).map_err(|error| DiffError::Recording(0, error))?;
    let right = differ.read(right).map_err(|error| DiffError::Recording(1, error))?;
    differ.compare(left, right, report)
}

/// Reads recordings and compares them.
#[derive(Debug, Default)]
pub(crate) struct Differ {
    digester: Digester,
    terms: Terms,
}

impl Differ {
    pub(crate) fn new(terms: Terms) -> Differ {
        Differ { digester: Digester::default(), terms }
    }

    pub(crate) fn read(&self, path: &Path) -> Result<Recording, RecordingError> {
        Recording::read(path, &self.digester, self.terms.scope)
    }

    /// Compares two recordings.
    pub(crate) fn compare(
        &self,
        left: Recording,
        right: Recording,
        report: &mut dyn DiffReport,
    ) -> Result<Totals, DiffError> {
        let matching = matching::best(&left.entries, &right.entries);
        let moved = match self.terms.scope {
            Scope::Everything => order::moved(&left.entries, &matching.to_right),
            // Concurrent messages may come in any order.
            Scope::Server { .. } => BTreeSet::new(),
        };
        let too_long = left.too_long + right.too_long;
        let totals = Totals::new(left.entries.len(), right.entries.len(), too_long);
        let terms = &self.terms;
        let mut comparison = Comparison { left, right, terms, matching, moved, totals, report };
        comparison.run()?;
        Ok(comparison.totals)
    }
}

struct Comparison<'r> {
    left: Recording,
    right: Recording,
    terms: &'r Terms,
    matching: Matching,
    moved: BTreeSet<usize>,
    totals: Totals,
    report: &'r mut dyn DiffReport,
}

impl Comparison<'_> {
    fn run(&mut self) -> Result<(), DiffError> {
        let mut rewrites = Rewrites::default();
        let mut next = 0;
        for index in 0..self.left.entries.len() {
            if !self.counts(&self.left.entries[index]) {
                continue;
            }
            let Some(other) = self.matching.to_right[index] else {
                let place = self.left_place(index)?;
                self.add(&Difference::Lost(place))?;
                continue;
            };
            // Report added messages at their position in the other recording.
            self.add_up_to(&mut next, other)?;
            if self.moved.contains(&index) {
                let places = (self.left_place(index)?, self.right_place(other)?);
                self.add(&Difference::Moved(places.0, places.1))?;
            }
            self.compare(index, other, &mut rewrites)?;
        }
        let end = self.right.entries.len();
        self.add_up_to(&mut next, end)?;
        if self.terms.scope != Scope::Everything {
            return Ok(());
        }
        for (what, side, replacements) in rewrites.into_summary() {
            self.add(&Difference::Rewritten(what, side, replacements))?;
        }
        Ok(())
    }

    fn compare(
        &mut self,
        index: usize,
        other: usize,
        rewrites: &mut Rewrites,
    ) -> Result<(), DiffError> {
        let entry = self.left.entries[index].clone();
        if entry.whole == self.right.entries[other].whole {
            return Ok(());
        }
        let (right, terms) = (&mut self.right, self.terms);
        let mut changes = self
            .left
            .visit(index, |left| right.visit(other, |right| Changes::between(left, right, terms)))
            .map_err(|error| unreadable(0, error))?
            .map_err(|error| unreadable(1, error))?;
        rewrites.take_out(&entry, &mut changes.list);
        if changes.list.is_empty() && !changes.has_more {
            return Ok(());
        }
        let places = (self.left_place(index)?, self.right_place(other)?);
        self.add(&Difference::Changed(places.0, places.1, changes))
    }

    /// Reports the messages added before `end`.
    fn add_up_to(&mut self, next: &mut usize, end: usize) -> Result<(), DiffError> {
        while *next < end {
            let is_added = self.matching.to_left[*next].is_none();
            if is_added && self.counts(&self.right.entries[*next]) {
                let place = self.right_place(*next)?;
                self.add(&Difference::Added(place))?;
            }
            *next += 1;
        }
        Ok(())
    }

    /// Whether an entry is compared.
    fn counts(&self, entry: &Entry) -> bool {
        match self.terms.scope {
            Scope::Everything => true,
            Scope::Server { answers_only } => {
                entry.from == Some(Side::Server) && (!answers_only || entry.kind == Kind::Response)
            }
        }
    }

    fn add(&mut self, difference: &Difference) -> Result<(), DiffError> {
        self.totals.count(difference);
        self.report.difference(difference).map_err(DiffError::Write)
    }

    fn left_place(&mut self, index: usize) -> Result<Place, DiffError> {
        place(&mut self.left, index).map_err(|error| unreadable(0, error))
    }

    fn right_place(&mut self, index: usize) -> Result<Place, DiffError> {
        place(&mut self.right, index).map_err(|error| unreadable(1, error))
    }
}

fn unreadable(index: usize, error: io::Error) -> DiffError {
    DiffError::Recording(index, RecordingError::Read(error))
}

fn place(recording: &mut Recording, index: usize) -> io::Result<Place> {
    let answers = recording.entries[index].answers;
    let method = match answers {
        Some(request) => recording.visit(request, |line| {
            line.message().map(|message| MessageName::of(message).without_id(None))
        })?,
        None => None,
    };
    let title = recording.visit(index, |line| {
        let http = line.record().and_then(|record| record.http.as_deref());
        match (line.message(), http) {
            (Some(message), _) if message.is_array() => format!("batch of {}", message.len()),
            (Some(message), _) => MessageName::of(message).title(method.as_deref()),
            (None, Some(http)) => match (&http.method, http.status) {
                (Some(method), _) => format!("{method} {}", http.url),
                (None, Some(status)) => format!("HTTP {status}"),
                (None, None) => "HTTP".to_owned(),
            },
            (None, None) => "text that is not JSON".to_owned(),
        }
    })?;
    let entry = &recording.entries[index];
    Ok(Place { line: entry.line, from: entry.from, title })
}
