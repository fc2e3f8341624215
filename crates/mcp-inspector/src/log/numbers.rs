//! Maps lines of one recording to frames of a log.

use std::collections::VecDeque;

use mcp_rules::Finding;

/// Maps line numbers of a recording to frame numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Lines and frames, both ascending.
    frames: VecDeque<(u64, u64)>,
}

impl Numbers {
    /// Records that `line` is `frame`; frames before `first` are gone.
    pub(super) fn note(&mut self, line: u64, frame: u64, first: u64) {
        while self.frames.front().is_some_and(|(_, frame)| *frame < first) {
            self.frames.pop_front();
        }
        self.frames.push_back((line, frame));
    }

    /// Translates the line numbers of a finding to frame numbers; `None` if its frame is gone.
    pub(super) fn translated(&self, finding: &Finding) -> Option<Finding> {
        let mut finding = finding.clone();
        finding.line = Some(self.frame(finding.line?)?);
        if let Some(related) = finding.related.take() {
            finding.related =
                self.frame(related.line).map(|line| mcp_rules::Related { line, ..related });
        }
        Some(finding)
    }

    fn frame(&self, line: u64) -> Option<u64> {
        let at = self.frames.binary_search_by_key(&line, |(line, _)| *line).ok()?;
        Some(self.frames[at].1)
    }
}
