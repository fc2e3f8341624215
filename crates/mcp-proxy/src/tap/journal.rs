use std::fmt;

use mcp_core::{Revision, Side};
use mcp_rules::{
    Finding, LineReader, Observer, ParsedLine, ReadLine, RecordingInfo, Ruling, Severity,
    SuspendedObserver,
};

use super::{
    Counts, Observation, Rules, SessionHistory, TapEvent, Watcher,
    observation::ObservationWriter,
    preparer::Prepared,
    queue::{Item, Next, Queue, QueueReader},
};
use crate::{BadTools, Policy, Recorder, Verdict, bad_tools};

/// Numbers, records and judges lines of the recording, one after the other.
pub(super) struct Journal {
    rules: Rules,
    scribe: ObservationWriter,
    /// Always `Some`, except while a line is judged.
    observer: Option<SuspendedObserver>,
    reader: LineReader,
    recorder: Option<Recorder>,
    watchers: Vec<Watcher>,
    counts: Counts,
    /// Number of lost observations not yet reported to watchers.
    newly_lost: u64,
    /// Whether the last line was not judged, so that the state of conversations is no longer known.
    has_missed: bool,
}

/// The line for an observation.
#[derive(Debug)]
struct Written {
    line: Vec<u8>,
    /// Set if it was the last line to be parsed.
    parsed: Option<ParsedLine>,
}

/// Whether lines can be held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Observe,
    Enforce,
}

/// The result of judging a line.
#[derive(Debug)]
struct Ruled {
    observer: SuspendedObserver,
    ruling: Ruling,
    /// The number of messages in it.
    messages: u64,
}

impl Rules {
    /// Judges a line with an observer.
    fn rule(
        &self,
        observer: SuspendedObserver,
        number: u64,
        read: &ReadLine<'_>,
        mode: Mode,
    ) -> Ruled {
        let mut observer = observer.resume(&self.engine);
        let before = observer.messages();
        let ruling = observer.decide(number, read, |reason| match mode {
            // A line that passes in any case is judged as in a recording.
            Mode::Observe => Some(false),
            Mode::Enforce => self.policy.blocks(reason),
        });
        let messages = observer.messages() - before;
        Ruled { observer: observer.suspend(), ruling, messages }
    }
}

/// How a line was judged, as reported to watchers.
#[derive(Debug, Clone, Copy)]
struct Telling {
    judged: bool,
    history: SessionHistory,
    passes_in_part: bool,
}

impl Telling {
    fn of(history: SessionHistory) -> Telling {
        Telling { judged: true, history, passes_in_part: false }
    }
}

impl Journal {
    pub(super) fn new(
        rules: Rules,
        revision: Option<Revision>,
        recorder: Option<Recorder>,
        watchers: Vec<Watcher>,
    ) -> Journal {
        let mut info = RecordingInfo::default();
        info.revision = revision;
        let observer = Observer::new(&rules.engine, info).suspend();
        let limits = &rules.engine.settings().limits;
        Journal {
            reader: LineReader::new(limits),
            observer: Some(observer),
            scribe: ObservationWriter::new(limits.json()),
            rules,
            recorder,
            watchers,
            counts: Counts::default(),
            newly_lost: 0,
            has_missed: false,
        }
    }

    /// Processes a queue until it is closed.
    pub(super) fn run(mut self, queue: &Queue) -> Counts {
        let mut items = QueueReader::new(queue);
        let mut is_flushed = true;
        loop {
            match items.next(!is_flushed) {
                Next::Item { item, behind } => {
                    is_flushed = false;
                    let Item { observation, lost, .. } = item;
                    self.note_lost(lost);
                    if behind {
                        let line = self.scribe.line(&observation);
                        self.pass_unjudged(&line, &observation);
                    } else {
                        self.take_observed(&observation, Mode::Observe);
                    }
                }
                Next::Rules(rules) => self.change_rules(*rules),
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

    /// Continues with other rules.
    pub(super) fn change_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Processes a line that passes regardless of findings.
    pub(super) fn observe(&mut self, observation: &Observation) {
        self.take_observed(observation, Mode::Observe);
        self.flush();
    }

    /// Processes a line that passes only as far as the verdict allows.
    pub(super) fn judge(&mut self, observation: &Observation) -> Verdict {
        let verdict = self.take_observed(observation, self.mode(observation));
        self.flush();
        verdict
    }

    /// Like [`Journal::judge`], for one of several lines; the caller flushes afterwards.
    pub(super) fn judge_next(&mut self, next: Prepared<'_>) -> Verdict {
        let Prepared { observation, read } = next;
        let mode = self.mode(observation);
        let Some(read) = read else { return self.take_observed(observation, mode) };
        self.take_own(read.text(), Some(observation), mode, |journal, observer, number| {
            let ruled = journal.rules.rule(observer, number, read, mode);
            journal.count(ruled)
        })
    }

    fn take_observed(&mut self, observation: &Observation, mode: Mode) -> Verdict {
        let Written { line, parsed } = self.write(observation);
        let verdict = self.take_parsed(&line, parsed.as_ref(), Some(observation), mode);
        self.scribe.reuse(line);
        verdict
    }

    /// Writes the line for an observation. Nearly every message can be copied unchanged; whether it
    /// can shows when the line is parsed, which has to be done anyway.
    fn write(&mut self, observation: &Observation) -> Written {
        if let Some((line, message)) = self.scribe.write_optimistic(observation) {
            let parsed = self.reader.parse_optimistic(&line, &message);
            if parsed.is_some() {
                return Written { line, parsed };
            }
            self.scribe.reuse(line);
        }
        Written { line: self.scribe.line(observation), parsed: None }
    }

    /// Whether this observation can be held back.
    pub(super) fn mode(&self, observation: &Observation) -> Mode {
        let is_enforced = self.rules.policy.enforces_on(observation.from());
        if is_enforced { Mode::Enforce } else { Mode::Observe }
    }

    /// Reports findings that are only known at the end.
    pub(super) fn finish(mut self) -> Counts {
        let mut judged = Vec::new();
        if let Some(observer) = self.observer.take() {
            let mut observer = observer.resume(&self.rules.engine);
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
            self.tell(b"", None, Telling::of(SessionHistory::Own), &ruling);
        }
        self.flush();
        self.counts
    }

    pub(super) fn take(
        &mut self,
        line: &[u8],
        observation: Option<&Observation>,
        mode: Mode,
    ) -> Verdict {
        self.take_parsed(line, None, observation, mode)
    }

    fn take_parsed(
        &mut self,
        line: &[u8],
        parsed: Option<&ParsedLine>,
        observation: Option<&Observation>,
        mode: Mode,
    ) -> Verdict {
        self.take_own(line, observation, mode, |journal, observer, number| {
            journal.rule_on(observer, number, (line, parsed), mode)
        })
    }

    /// Processes a line with the journal's own observer.
    fn take_own(
        &mut self,
        line: &[u8],
        observation: Option<&Observation>,
        mode: Mode,
        rule: impl FnOnce(&mut Journal, SuspendedObserver, u64) -> (SuspendedObserver, Ruling),
    ) -> Verdict {
        self.take_in(SessionHistory::Own, line, observation, mode, |journal, number| {
            let Some(mut observer) = journal.observer.take() else { return Ruling::default() };
            if std::mem::take(&mut journal.has_missed) {
                let mut resumed = observer.resume(&journal.rules.engine);
                resumed.forget();
                observer = resumed.suspend();
            }
            let (observer, ruling) = rule(journal, observer, number);
            journal.observer = Some(observer);
            ruling
        })
    }

    /// Records a line, has it judged by `rule`, and notifies watchers.
    pub(super) fn take_in(
        &mut self,
        history: SessionHistory,
        line: &[u8],
        observation: Option<&Observation>,
        mode: Mode,
        rule: impl FnOnce(&mut Journal, u64) -> Ruling,
    ) -> Verdict {
        self.record(line);
        let number = self.counts.lines;
        let mut ruling = rule(self, number);
        let mut verdict = match mode {
            Mode::Observe => {
                ruling.refusals.clear();
                Verdict::default()
            }
            Mode::Enforce => decide(&self.rules.policy, &mut ruling),
        };
        verdict.line = number;
        self.counts.rejected += u64::from(!ruling.refusals.is_empty());
        let passes_in_part = !verdict.bad_tools.is_empty()
            || ruling.refusals.len() < ruling.messages.len()
                && ruling.refusals.iter().all(|refusal| refusal.index.is_some());
        let telling = Telling { passes_in_part, ..Telling::of(history) };
        self.tell(line, observation, telling, &ruling);
        verdict.refusals = ruling.refusals;
        verdict
    }

    /// Judges a line with an observer.
    pub(super) fn rule(
        &mut self,
        observer: SuspendedObserver,
        number: u64,
        line: &[u8],
        mode: Mode,
    ) -> (SuspendedObserver, Ruling) {
        self.rule_on(observer, number, (line, None), mode)
    }

    fn rule_on(
        &mut self,
        observer: SuspendedObserver,
        number: u64,
        (line, parsed): (&[u8], Option<&ParsedLine>),
        mode: Mode,
    ) -> (SuspendedObserver, Ruling) {
        let Journal { rules, reader, .. } = self;
        let rule = |read: &ReadLine<'_>| rules.rule(observer, number, read, mode);
        let ruled = match parsed {
            Some(parsed) => reader.read_parsed(parsed, line, rule),
            None => reader.read(line, rule),
        };
        self.count(ruled)
    }

    fn count(&mut self, ruled: Ruled) -> (SuspendedObserver, Ruling) {
        self.counts.messages += ruled.messages;
        (ruled.observer, ruled.ruling)
    }

    /// Follows a line that was recorded and judged before, as part of another conversation.
    pub(super) fn follow(&mut self, number: u64, line: &[u8]) {
        let Some(observer) = self.observer.take() else { return };
        let mut observer = observer.resume(&self.rules.engine);
        let mut judged = Vec::new();
        self.reader.read(line, |read| observer.follow(number, read, &mut judged));
        self.observer = Some(observer.suspend());
    }

    pub(super) fn pass_unjudged(&mut self, line: &[u8], observation: &Observation) {
        self.has_missed = true;
        self.counts.unjudged += 1;
        self.record_unjudged(SessionHistory::Own, line, observation);
    }

    /// Records a line without judging it, since the session store is unavailable.
    pub(super) fn record_only(&mut self, observation: &Observation) {
        let line = self.scribe.line(observation);
        self.record_unjudged(SessionHistory::Missing, &line, observation);
        self.flush();
    }

    /// Records a line without judging it.
    pub(super) fn record_unjudged(
        &mut self,
        history: SessionHistory,
        line: &[u8],
        observation: &Observation,
    ) {
        self.record(line);
        let telling = Telling { judged: false, ..Telling::of(history) };
        self.tell(line, Some(observation), telling, &Ruling::default());
    }

    pub(super) fn note_lost(&mut self, lost: u64) {
        if lost == 0 {
            return;
        }
        self.counts.lost += lost;
        self.newly_lost = lost;
        self.has_missed = true;
        let line = self.scribe.gap(lost);
        self.take(&line, None, Mode::Observe);
    }

    /// Counts and records the line.
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

    /// Stops recording after an error; traffic goes on.
    fn fail_record(&mut self, error: &std::io::Error) {
        tracing::error!(%error, "recording failed and was stopped");
        self.recorder = None;
        self.counts.record_failed = true;
    }

    fn tell(
        &mut self,
        line: &[u8],
        observation: Option<&Observation>,
        telling: Telling,
        ruling: &Ruling,
    ) {
        let Telling { judged, history, passes_in_part } = telling;
        self.counts.apart += u64::from(history == SessionHistory::Missing);
        let policy = &self.rules.policy;
        let findings: Vec<&Finding> =
            ruling.findings().filter(|finding| policy.reports(finding)).collect();
        for finding in &findings {
            let side = finding.at_fault.unwrap_or(Side::Server) as usize;
            match finding.severity {
                Severity::Error => self.counts.errors[side] += 1,
                Severity::Warning => self.counts.warnings[side] += 1,
            }
        }
        let event = TapEvent {
            number: self.counts.lines,
            line,
            observation,
            lost: std::mem::take(&mut self.newly_lost),
            judged,
            history,
            messages: &ruling.messages,
            findings: &findings,
            refusals: &ruling.refusals,
            passes_in_part,
        };
        for watcher in &mut self.watchers {
            watcher(&event);
        }
    }
}

/// Decides about lists of tools that are held back only because of some of their tools.
fn decide(policy: &Policy, ruling: &mut Ruling) -> Verdict {
    let mut verdict = Verdict::default();
    match policy.bad_tools() {
        BadTools::Reject => {}
        BadTools::Filter => verdict.bad_tools = bad_tools::find(ruling),
        BadTools::Pass => {
            let found = bad_tools::find(ruling);
            ruling.refusals.retain(|refusal| !found.contains_key(&refusal.index));
        }
    }
    verdict
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("counts", &self.counts).finish_non_exhaustive()
    }
}
