//! Where findings go, one after the other: past the baseline and the limits to the renderer.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

use mcp_rules::Finding;

use super::{excerpts, lines::Lines};
use crate::{
    baseline::Baseline,
    plan::Shown,
    progress::Progress,
    report::{Kind, Located, Renderer, Summary, Withheld},
};

/// Takes the findings of all files, one file after the other.
pub(super) struct Output<'r> {
    renderer: &'r mut (dyn Renderer + Send),
    progress: &'r Progress,
    pub(super) summary: Summary,
    limit: Shown,
    baseline: Option<&'r mut Baseline>,
    /// How many findings reached the renderer.
    shown: u64,
    /// Finds lines of the present file again.
    lines: Option<Lines>,
    /// How many findings of each kind the present file had.
    kinds: BTreeMap<Kind, u64>,
}

impl<'r> Output<'r> {
    pub(super) fn new(
        renderer: &'r mut (dyn Renderer + Send),
        progress: &'r Progress,
        limit: Shown,
        baseline: Option<&'r mut Baseline>,
    ) -> Output<'r> {
        Output {
            renderer,
            progress,
            summary: Summary::default(),
            limit,
            baseline,
            shown: 0,
            lines: None,
            kinds: BTreeMap::new(),
        }
    }

    /// Begins a file, or standard input; `lines` can find its lines again.
    pub(super) fn begin(&mut self, path: Option<&Path>, lines: Option<Lines>) {
        if let Some(baseline) = &mut self.baseline {
            baseline.enter(path);
        }
        self.lines = lines;
        self.kinds.clear();
    }

    /// Remembers where a line of the file begins.
    pub(super) fn mark(&mut self, line: u64, offset: u64) {
        if let Some(lines) = &mut self.lines {
            lines.mark(line, offset);
        }
    }

    /// Counts the finding and shows it, if it is one of those to be shown.
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
        if let Some(lines) = self.lines.as_mut().filter(|_| self.renderer.wants_excerpts()) {
            excerpts::complete(&mut located, lines);
        }
        self.progress.suspend(|| self.renderer.finding(&located))
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

    /// The file was checked to its end.
    pub(super) fn complete(&mut self) {
        if let Some(baseline) = &mut self.baseline {
            baseline.leave();
        }
    }

    /// Nothing more comes of this file: says what was left out.
    pub(super) fn finish(&mut self, file: &Arc<str>) -> io::Result<()> {
        let kinds = std::mem::take(&mut self.kinds);
        let Shown::OfEachKind(most) = self.limit else {
            return Ok(());
        };
        for (kind, count) in kinds {
            if let Some(count) = count.checked_sub(most).filter(|count| *count > 0) {
                let withheld = Withheld { file: file.clone(), kind, count };
                self.progress.suspend(|| self.renderer.withheld(&withheld))?;
            }
        }
        Ok(())
    }
}

/// Kinds of findings of which enough were shown: no excerpt need be made of them any more.
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
