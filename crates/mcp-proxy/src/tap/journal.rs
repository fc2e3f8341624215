use std::{fmt, sync::Arc};

use mcp_core::{Refusal, Revision, Side};
use mcp_rules::{Engine, Finding, LineReader, Observer, Origin, Ruling, Severity, Suspended};

use super::{
    Counts, Knowledge, Observation, Passage, Watcher,
    observation::Scribe,
    queue::{Item, Next, Queue},
};
use crate::{Policy, Recorder};

/// Takes lines of a recording one after the other: numbers, records and judges them.
pub(super) struct Journal {
    engine: Arc<Engine>,
    policy: Arc<Policy>,
    scribe: Scribe,
    /// Always there, except while a line is judged.
    observer: Option<Suspended>,
    reader: LineReader,
    recorder: Option<Recorder>,
    watchers: Vec<Watcher>,
    counts: Counts,
    /// How many observations were lost since a watcher was told.
    newly_lost: u64,
    /// Whether the last line was not judged, so that the conversations are not known any more.
    has_missed: bool,
}

impl Journal {
    pub(super) fn new(
        engine: Arc<Engine>,
        policy: Policy,
        revision: Option<Revision>,
        recorder: Option<Recorder>,
        watchers: Vec<Watcher>,
    ) -> Journal {
        let mut origin = Origin::default();
        origin.revision = revision;
        let observer = Observer::new(&engine, origin).suspend();
        Journal {
            reader: LineReader::new(&engine.settings().limits),
            observer: Some(observer),
            scribe: Scribe::new(engine.settings().limits.json()),
            engine,
            policy: Arc::new(policy),
            recorder,
            watchers,
            counts: Counts::default(),
            newly_lost: 0,
            has_missed: false,
        }
    }

    /// Takes all lines of a queue until it is closed.
    pub(super) fn run(mut self, queue: &Queue) -> Counts {
        let mut is_flushed = true;
        loop {
            match queue.next(!is_flushed) {
                Next::Item { item, behind } => {
                    is_flushed = false;
                    let Item { observation, lost, .. } = item;
                    self.note_lost(lost);
                    let line = self.scribe.line(&observation);
                    if behind {
                        self.pass_unjudged(&line, &observation);
                    } else {
                        self.take(&line, Some(&observation), &Policy::observe());
                    }
                }
                Next::Idle => {
                    self.flush();
                    is_flushed = true;
                }
                Next::Closed { lost } => {
                    self.note_lost(lost);
                    return self.finish();
                }
            }
        }
    }

    /// Takes a line that passes whatever is found.
    pub(super) fn observe(&mut self, observation: &Observation) {
        let line = self.scribe.line(observation);
        self.take(&line, Some(observation), &Policy::observe());
        self.flush();
    }

    /// Takes a line that passes only if nothing is returned.
    pub(super) fn judge(&mut self, observation: &Observation) -> Vec<Refusal> {
        let policy = Arc::clone(&self.policy);
        let line = self.scribe.line(observation);
        let refusals = self.take(&line, Some(observation), &policy);
        self.flush();
        refusals
    }

    /// Reports what is only known at the end.
    pub(super) fn finish(mut self) -> Counts {
        let mut judged = Vec::new();
        if let Some(observer) = self.observer.take() {
            let mut observer = observer.resume(&self.engine);
            let before = observer.messages();
            observer.finish(&mut judged);
            self.counts.messages += observer.messages() - before;
        }
        let ruling = {
            let mut ruling = Ruling::default();
            ruling.judged = judged;
            ruling
        };
        if ruling.findings().next().is_some() {
            self.tell(b"", None, (true, Knowledge::Own), &ruling);
        }
        self.flush();
        self.counts
    }

    pub(super) fn take(
        &mut self,
        line: &[u8],
        observation: Option<&Observation>,
        policy: &Policy,
    ) -> Vec<Refusal> {
        self.take_in(Knowledge::Own, line, observation, policy, |journal, number| {
            let Some(mut observer) = journal.observer.take() else { return Ruling::default() };
            if std::mem::take(&mut journal.has_missed) {
                let mut resumed = observer.resume(&journal.engine);
                resumed.forget();
                observer = resumed.suspend();
            }
            let (observer, ruling) = journal.rule(observer, number, line, policy);
            journal.observer = Some(observer);
            ruling
        })
    }

    /// Records a line, has it judged by `rule`, and tells of it.
    pub(super) fn take_in(
        &mut self,
        knowledge: Knowledge,
        line: &[u8],
        observation: Option<&Observation>,
        policy: &Policy,
        rule: impl FnOnce(&mut Journal, u64) -> Ruling,
    ) -> Vec<Refusal> {
        self.record(line);
        let mut ruling = rule(self, self.counts.lines);
        if !policy.enforces() {
            ruling.refusals.clear();
        }
        self.counts.rejected += u64::from(!ruling.refusals.is_empty());
        self.tell(line, observation, (true, knowledge), &ruling);
        ruling.refusals
    }

    /// Judges a line by what an observer knows.
    pub(super) fn rule(
        &mut self,
        observer: Suspended,
        number: u64,
        line: &[u8],
        policy: &Policy,
    ) -> (Suspended, Ruling) {
        let mut observer = observer.resume(&self.engine);
        let before = observer.messages();
        let ruling = self.reader.read(line, |read| {
            observer.rule(number, read, |finding| match finding.from {
                // What passes anyway is judged as in a recording.
                _ if !policy.enforces() => Some(false),
                Some(from) => policy.holds(from, finding),
                None => None,
            })
        });
        self.counts.messages += observer.messages() - before;
        (observer.suspend(), ruling)
    }

    /// Takes in a line that was recorded and judged before, as part of another conversation.
    pub(super) fn follow(&mut self, number: u64, line: &[u8]) {
        let Some(observer) = self.observer.take() else { return };
        let mut observer = observer.resume(&self.engine);
        let mut judged = Vec::new();
        self.reader.read(line, |read| observer.follow(number, read, &mut judged));
        self.observer = Some(observer.suspend());
    }

    pub(super) fn pass_unjudged(&mut self, line: &[u8], observation: &Observation) {
        self.has_missed = true;
        self.counts.unjudged += 1;
        self.record_unjudged(Knowledge::Own, line, observation);
    }

    /// Takes a line that is not judged, since the session store is away.
    pub(super) fn record_only(&mut self, observation: &Observation) {
        let line = self.scribe.line(observation);
        self.record_unjudged(Knowledge::Missing, &line, observation);
        self.flush();
    }

    /// Takes a line that is not judged.
    pub(super) fn record_unjudged(
        &mut self,
        knowledge: Knowledge,
        line: &[u8],
        observation: &Observation,
    ) {
        self.record(line);
        self.tell(line, Some(observation), (false, knowledge), &Ruling::default());
    }

    pub(super) fn note_lost(&mut self, lost: u64) {
        if lost == 0 {
            return;
        }
        self.counts.lost += lost;
        self.newly_lost = lost;
        self.has_missed = true;
        let line = self.scribe.gap(lost);
        self.take(&line, None, &Policy::observe());
    }

    /// Counts the line, and records it.
    fn record(&mut self, line: &[u8]) {
        self.counts.lines += 1;
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.write(line)
        {
            self.fail_record(&error);
        }
    }

    pub(super) fn flush(&mut self) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.flush()
        {
            self.fail_record(&error);
        }
    }

    /// Traffic goes on without a record.
    fn fail_record(&mut self, error: &std::io::Error) {
        tracing::error!(%error, "recording has failed and is stopped");
        self.recorder = None;
        self.counts.record_failed = true;
    }

    fn tell(
        &mut self,
        line: &[u8],
        observation: Option<&Observation>,
        (judged, knowledge): (bool, Knowledge),
        ruling: &Ruling,
    ) {
        self.counts.apart += u64::from(knowledge == Knowledge::Missing);
        let findings: Vec<&Finding> = ruling.findings().collect();
        for finding in &findings {
            let side = finding.at_fault.unwrap_or(Side::Server) as usize;
            match finding.severity {
                Severity::Error => self.counts.errors[side] += 1,
                Severity::Warning => self.counts.warnings[side] += 1,
            }
        }
        let passage = Passage {
            number: self.counts.lines,
            line,
            observation,
            lost: std::mem::take(&mut self.newly_lost),
            judged,
            knowledge,
            messages: &ruling.messages,
            findings: &findings,
            refusals: &ruling.refusals,
        };
        for watcher in &mut self.watchers {
            watcher(&passage);
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("counts", &self.counts).finish_non_exhaustive()
    }
}
