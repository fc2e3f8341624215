//! The results of one tested server, for the reports.

use std::collections::BTreeSet;

use mcp_probe::{Failure, ProbeResult, Report};

use super::{located::Locator, repeat::Repeat};
use crate::{baseline::Baseline, report::Summary};

/// The results of testing one server.
pub(super) struct Tested {
    /// Its name in plumb.toml.
    pub(super) name: Option<String>,
    pub(super) report: Report,
    pub(super) repeat: Repeat,
    /// Tools that were not called, with the reason and the flag that includes them.
    pub(super) left_out: Vec<String>,
    /// The failures in the baseline, by index of probe and failure.
    known: BTreeSet<(usize, usize)>,
}

impl Tested {
    /// Counts the failures; those in the baseline count as known.
    pub(super) fn new(
        name: Option<String>,
        report: Report,
        repeat: Repeat,
        left_out: Vec<String>,
        mut baseline: Option<&mut Baseline>,
        summary: &mut Summary,
    ) -> Tested {
        summary.files += report.recordings.len() as u64;
        let lines = report.recordings.iter().map(|recording| recording.len() as u64);
        summary.messages += lines.sum::<u64>();
        let mut known = BTreeSet::new();
        for (at, result) in report.results.iter().enumerate() {
            let locator = locator(name.as_deref(), result);
            if let Some(baseline) = &mut baseline {
                baseline.enter(Some(locator.file().as_ref()));
            }
            for (index, failure) in result.failures.iter().enumerate() {
                if baseline.as_mut().is_some_and(|known| known.knows(&failure.finding)) {
                    summary.known += 1;
                    known.insert((at, index));
                } else {
                    summary.add(&failure.finding);
                }
            }
            if let Some(baseline) = &mut baseline {
                baseline.leave();
            }
        }
        Tested { name, report, repeat, left_out, known }
    }

    /// Locates findings in reports, where a probe stands in for a file.
    pub(super) fn locator(&self, result: &ProbeResult) -> Locator {
        locator(self.name.as_deref(), result)
    }

    /// Every probe with its failures, and whether the baseline has them.
    pub(super) fn results(
        &self,
    ) -> impl Iterator<Item = (&ProbeResult, impl Iterator<Item = (&Failure, bool)>)> {
        self.report.results.iter().enumerate().map(move |(at, result)| {
            let failures = result.failures.iter().enumerate();
            (result, failures.map(move |(i, failure)| (failure, self.known.contains(&(at, i)))))
        })
    }
}

fn locator(name: Option<&str>, result: &ProbeResult) -> Locator {
    match name {
        Some(name) => Locator::new(&format!("{name}/{}", result.name), result.revision),
        None => Locator::new(&result.name, result.revision),
    }
}
