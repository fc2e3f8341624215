//! Passes findings through the baseline and the limits to the renderer, one by one.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

use mcp_rules::Finding;

use super::{excerpts, lines::Lines};
use crate::{
    args::FailOn,
    baseline::Baseline,
    plan::Shown,
    progress::Progress,
    report::{Kind, Located, Renderer, Summary, Withheld},
};

/// Receives the findings of all files, one file after the other.
pub(super) struct Output<'r> {
    renderer: &'r mut (dyn Renderer + Send),
    progress: &'r Progress,
    pub(super) summary: Summary,
    limit: Shown,
    baseline: Option<&'r mut Baseline>,
    /// Number of findings passed to the renderer.
    shown: u64,
    /// The reader of the report has gone away, as `head` does. Findings are still counted, for the
    /// exit code.
    reader_left: bool,
    fail_on: FailOn,
    /// Reads lines of the current file again.
    lines: Option<Lines>,
    /// Number of findings of each kind in the current file.
    kinds: BTreeMap<Kind, u64>,
}

impl<'r> Output<'r> {
    pub(super) fn new(
        renderer: &'r mut (dyn Renderer + Send),
        progress: &'r Progress,
        limit: Shown,
        fail_on: FailOn,
        baseline: Option<&'r mut Baseline>,
    ) -> Output<'r> {
        Output {
            renderer,
            progress,
            summary: Summary::default(),
            limit,
            baseline,
            shown: 0,
            reader_left: false,
            fail_on,
            lines: None,
            kinds: BTreeMap::new(),
        }
    }

    /// Begins a file, or standard input; `lines` can read its lines again.
    pub(super) fn begin(&mut self, path: Option<&Path>, lines: Option<Lines>) {
        if let Some(baseline) = &mut self.baseline {
            baseline.enter(path);
        }
        self.lines = lines;
        self.kinds.clear();
    }

    /// Records the offset of a line of the file.
    pub(super) fn mark(&mut self, line: u64, offset: u64) {
        if let Some(lines) = &mut self.lines {
            lines.mark(line, offset);
        }
    }

    /// Counts the finding, and shows it unless it is over the limits.
    pub(super) fn finding(&mut self, mut located: Located, sated: &Sated) -> io::Result<()> {
        if (self.baseline.as_mut()).is_some_and(|known| known.knows(&located.finding)) {
            self.summary.known += 1;
            return Ok(());
        }
        self.summary.add(&located.finding);
        if !self.admits(&located.finding, sated) {
            self.summary.dropped += 1;
            return Ok(());
        }
        self.shown += 1;
        if self.reader_left {
            return Ok(());
        }
        if let Some(lines) = self.lines.as_mut().filter(|_| self.renderer.wants_excerpts()) {
            excerpts::complete(&mut located, lines);
        }
        if !self.renderer.wants_exact_text() {
            located.make_visible();
        }
        let written = self.progress.suspend(|| self.renderer.finding(&located));
        self.note_reader(written)
    }

    /// A reader that has gone away is not an error.
    fn note_reader(&mut self, written: io::Result<()>) -> io::Result<()> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_left = true;
                Ok(())
            }
            written => written,
        }
    }

    /// Whether the rest of the input no longer matters: the reader has gone away, and the exit code
    /// is certain.
    pub(super) fn is_settled(&self) -> bool {
        let records = self.baseline.as_ref().is_some_and(|known| known.is_to_be_written());
        self.reader_left && !records && self.summary.fails(self.fail_on)
    }

    fn admits(&mut self, finding: &Finding, sated: &Sated) -> bool {
        match self.limit {
            Shown::All => true,
            Shown::First(most) => self.shown < most,
            Shown::OfEachKind(most) => {
                let kind = Kind::of(finding);
                let count = self.kinds.entry(kind).or_default();
                *count += 1;
                if *count == most {
                    sated.add(kind);
                }
                *count <= most
            }
        }
    }

    /// Records that the file was checked to the end.
    pub(super) fn complete(&mut self) {
        if let Some(baseline) = &mut self.baseline {
            baseline.leave();
        }
    }

    /// Finishes the file, and reports how many findings were not shown.
    pub(super) fn finish(&mut self, file: &Arc<str>) -> io::Result<()> {
        let kinds = std::mem::take(&mut self.kinds);
        let Shown::OfEachKind(most) = self.limit else {
            return Ok(());
        };
        for (kind, count) in kinds {
            if let Some(count) = count.checked_sub(most).filter(|count| *count > 0) {
                let mut withheld = Withheld { file: file.clone(), kind, count };
                withheld.make_visible();
                if self.reader_left {
                    break;
                }
                let written = self.progress.suspend(|| self.renderer.withheld(&withheld));
                self.note_reader(written)?;
            }
        }
        Ok(())
    }
}

/// Kinds of findings that have reached their limit, so they need no more excerpts.
#[derive(Debug, Default)]
pub(super) struct Sated(RwLock<BTreeSet<Kind>>);

impl Sated {
    pub(super) fn contains(&self, finding: &Finding) -> bool {
        let kinds = self.0.read().unwrap_or_else(PoisonError::into_inner);
        !kinds.is_empty() && kinds.contains(&Kind::of(finding))
    }

    fn add(&self, kind: Kind) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(kind);
    }
}
