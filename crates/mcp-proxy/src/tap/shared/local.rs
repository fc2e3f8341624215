use std::collections::VecDeque;

use mcp_core::{LogEnd, MissedEntries, Revision};
use mcp_rules::{Engine, Finding, LineReader, Observer, RecordingInfo, Ruling, SuspendedObserver};

use super::entry::{Entry, SavedState, save};

/// The state of a session in this replica, up to some position in its log.
///
/// While lines are judged, they are numbered by their position in the log, so that all replicas
/// agree. Reported findings use the line numbers of our recording.
#[derive(Debug)]
pub(super) struct Local {
    /// Always `Some`, except while a line is judged.
    observer: Option<SuspendedObserver>,
    revision: Option<Revision>,
    /// The name of the conversation in recorded lines.
    pub(super) name: Box<str>,
    pub(super) end: LogEnd,
    /// Whether it was loaded from the store.
    pub(super) is_loaded: bool,
    /// Bytes stored for the session, and bytes of its state among them.
    pub(super) stored: u64,
    pub(super) saved: u64,
    /// Whether another build wrote the state, which must not be replaced then.
    pub(super) is_foreign: bool,
    /// Our own lines: position in the log, number in our recording.
    lines: VecDeque<(u64, u64)>,
    /// Approximate memory use in bytes.
    pub(super) size: usize,
    /// The batch in which it was last used.
    pub(super) used: u64,
}

/// Maximum number of our own lines that findings can refer to.
const MAX_LINES: usize = 4096;

/// Approximate memory of a session, and of a line besides its text.
const FOR_A_SESSION: usize = 4096;
const FOR_A_LINE: usize = 1024;

impl Local {
    pub(super) fn new(engine: &Engine, revision: Option<Revision>) -> Local {
        Local {
            observer: Some(unknowing(engine, revision)),
            revision,
            name: Box::default(),
            end: LogEnd::default(),
            is_loaded: false,
            stored: 0,
            saved: 0,
            is_foreign: false,
            lines: VecDeque::new(),
            size: FOR_A_SESSION,
            used: 0,
        }
    }

    /// Forgets everything: the next line joins the session in the middle.
    pub(super) fn forget(&mut self, engine: &Engine) {
        self.observer = Some(unknowing(engine, self.revision));
        self.size = FOR_A_SESSION + self.lines.len() * size_of::<(u64, u64)>();
    }

    /// Follows lines observed by other replicas, which judged them.
    pub(super) fn catch_up(
        &mut self,
        missed: &MissedEntries,
        engine: &Engine,
        reader: &mut LineReader,
    ) {
        if let Some(state) = &missed.state {
            self.forget(engine);
            self.is_foreign = false;
            self.saved = 0;
            // Positions in another log are meaningless here.
            if self.end.log != missed.end.log {
                self.lines.clear();
            }
            if let Some(state) = state {
                self.restore(state, engine);
            }
        }
        self.end = missed.end;
        let first = missed.end.count.saturating_sub(missed.entries.len() as u64);
        for (number, entry) in (first + 1..).zip(&missed.entries) {
            match Entry::read(entry) {
                Entry::Line(line) => self.follow(number, line, engine, reader),
                Entry::Gap => self.forget(engine),
            }
        }
    }

    fn restore(&mut self, state: &[u8], engine: &Engine) {
        self.saved = state.len() as u64;
        self.size += 2 * state.len();
        match SavedState::read(state) {
            SavedState::Known(session) => {
                let mut observer = Observer::new(engine, info(self.revision));
                observer.restore(self.name.as_bytes(), *session);
                self.observer = Some(observer.suspend());
            }
            SavedState::Nothing => {}
            SavedState::Foreign => self.is_foreign = true,
        }
    }

    /// Follows a line without judging it.
    pub(super) fn follow(
        &mut self,
        number: u64,
        line: &[u8],
        engine: &Engine,
        reader: &mut LineReader,
    ) {
        let Some(observer) = self.observer.take() else { return };
        let mut observer = observer.resume(engine);
        let mut judged = Vec::new();
        reader.read(line, |read| observer.follow(number, read, &mut judged));
        self.observer = Some(observer.suspend());
        self.size += line.len() + FOR_A_LINE;
    }

    /// Judges a line of ours, given its position in the log and its number in our recording.
    pub(super) fn judge(
        &mut self,
        (number, recorded): (u64, u64),
        length: usize,
        rule: impl FnOnce(SuspendedObserver, u64) -> (SuspendedObserver, Ruling),
    ) -> Ruling {
        let Some(observer) = self.observer.take() else { return Ruling::default() };
        let (observer, mut ruling) = rule(observer, number);
        self.observer = Some(observer);
        self.size += length + FOR_A_LINE;
        self.lines.push_back((number, recorded));
        if self.lines.len() > MAX_LINES {
            self.lines.pop_front();
        }
        for judged in &mut ruling.judged {
            judged.findings.iter_mut().for_each(|finding| self.renumber(finding));
        }
        ruling
    }

    /// Translates positions to line numbers; lines of other replicas are not in our recording.
    fn renumber(&self, finding: &mut Finding) {
        finding.line = finding.line.and_then(|line| self.recorded(line));
        finding.related = finding.related.take().and_then(|mut related| {
            related.line = self.recorded(related.line)?;
            Some(related)
        });
    }

    fn recorded(&self, number: u64) -> Option<u64> {
        let place = self.lines.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.lines.get(place).map(|(_, recorded)| *recorded)
    }

    /// Saves the state, to be stored.
    pub(super) fn save(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        let mut observer = self.observer.take()?.resume(engine);
        let state = observer.sessions_mut().next().and_then(|(_, session)| save(session));
        self.observer = Some(observer.suspend());
        if let Some(state) = &state {
            // Now the actual size is known.
            self.size =
                FOR_A_SESSION + 2 * state.len() + self.lines.len() * size_of::<(u64, u64)>();
        }
        state
    }
}

fn info(revision: Option<Revision>) -> RecordingInfo {
    let mut info = RecordingInfo::default();
    info.revision = revision;
    info
}

/// An observer that joins a session in the middle.
pub(super) fn unknowing(engine: &Engine, revision: Option<Revision>) -> SuspendedObserver {
    Observer::new(engine, info(revision)).suspend()
}
