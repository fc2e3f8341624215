//! Compares two recordings of the same conversation, one from each side of a middlebox.

mod compare;
mod digest;
mod headers;
mod matching;
mod order;
mod recording;
mod report;
mod rewrites;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, io, path::Path};

use mcp_core::Side;

use self::{
    compare::Changes,
    digest::Digester,
    matching::Matching,
    recording::Recording,
    rewrites::{Replacements, Rewrites, Rewritten},
};
pub(crate) use self::{
    recording::RecordingError,
    report::{DiffReport, HumanDiff, JsonDiff, Totals},
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

/// Compares the recordings, and reports each difference where it comes up.
pub(crate) fn run(
    left: &Path,
    right: &Path,
    report: &mut dyn DiffReport,
) -> Result<Totals, DiffError> {
    let digester = Digester::default();
    let read = |index: usize, path: &Path| {
        Recording::read(path, &digester).map_err(|error| DiffError::Recording(index, error))
    };
    let (left, right) = (read(0, left)?, read(1, right)?);
    let matching = matching::best(&left.entries, &right.entries);
    let moved = order::moved(&left.entries, &matching.to_right);
    let too_long = left.too_long + right.too_long;
    let totals = Totals::new(left.entries.len(), right.entries.len(), too_long);
    let mut comparison = Comparison { left, right, matching, moved, totals, report };
    comparison.run()?;
    Ok(comparison.totals)
}

struct Comparison<'r> {
    left: Recording,
    right: Recording,
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
            let Some(other) = self.matching.to_right[index] else {
                let place = self.left_place(index)?;
                self.add(&Difference::Lost(place))?;
                continue;
            };
            // What was added comes where the other recording has it.
            self.add_up_to(&mut next, other)?;
            if self.moved.contains(&index) {
                let places = (self.left_place(index)?, self.right_place(other)?);
                self.add(&Difference::Moved(places.0, places.1))?;
            }
            self.compare(index, other, &mut rewrites)?;
        }
        let end = self.right.entries.len();
        self.add_up_to(&mut next, end)?;
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
        let right = &mut self.right;
        let mut changes = self
            .left
            .visit(index, |left| right.visit(other, |right| Changes::between(left, right)))
            .map_err(|error| unreadable(0, error))?
            .map_err(|error| unreadable(1, error))?;
        rewrites.take_out(&entry, &mut changes.list);
        if changes.list.is_empty() && !changes.has_more {
            return Ok(());
        }
        let places = (self.left_place(index)?, self.right_place(other)?);
        self.add(&Difference::Changed(places.0, places.1, changes))
    }

    /// Reports what was added before `end`.
    fn add_up_to(&mut self, next: &mut usize, end: usize) -> Result<(), DiffError> {
        while *next < end {
            if self.matching.to_left[*next].is_none() {
                let place = self.right_place(*next)?;
                self.add(&Difference::Added(place))?;
            }
            *next += 1;
        }
        Ok(())
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
