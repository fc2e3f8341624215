use std::fmt;

use mcp_core::{Revision, Side};
use mcp_rules::{
    Finding, LineReader, Observer, ParsedLine, ReadLine, RecordingInfo, Ruling, Severity,
    SuspendedObserver,
};

use super::{
    Counts, Knowledge, Observation, Passage, Rules, Watcher,
    observation::Scribe,
    queue::{Item, Next, Queue, Taker},
};
use crate::{BadTools, Policy, Recorder, Verdict, bad_tools};

/// Takes lines of a recording one after the other: numbers, records and judges them.
pub(super) struct Journal {
    rules: Rules,
    scribe: Scribe,
    /// Always there, except while a line is judged.
    observer: Option<SuspendedObserver>,
    reader: LineReader,
    recorder: Option<Recorder>,
    watchers: Vec<Watcher>,
    counts: Counts,
    /// How many observations were lost since a watcher was told.
    newly_lost: u64,
    /// Whether the last line was not judged, so that the conversations are not known any more.
    has_missed: bool,
}

/// The line for an observation.
#[derive(Debug)]
struct Written {
    line: Vec<u8>,
    /// If it is the one that was parsed last.
    parsed: Option<ParsedLine>,
}

/// Whether a line may be held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Observe,
    Enforce,
}

/// How a line was judged, for watchers.
#[derive(Debug, Clone, Copy)]
struct Telling {
    judged: bool,
    knowledge: Knowledge,
    passes_in_part: bool,
}

impl Telling {
    fn of(knowledge: Knowledge) -> Telling {
        Telling { judged: true, knowledge, passes_in_part: false }
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
            scribe: Scribe::new(limits.json()),
            rules,
            recorder,
            watchers,
            counts: Counts::default(),
            newly_lost: 0,
            has_missed: false,
        }
    }

    /// Takes all lines of a queue until it is closed.
    pub(super) fn run(mut self, queue: &Queue) -> Counts {
        let mut items = Taker::new(queue);
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

    /// Goes on with other rules.
    pub(super) fn change_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Takes a line that passes whatever is found.
    pub(super) fn observe(&mut self, observation: &Observation) {
        self.take_observed(observation, Mode::Observe);
        self.flush();
    }

    /// Takes a line that passes only as the verdict says.
    pub(super) fn judge(&mut self, observation: &Observation) -> Verdict {
        let verdict = self.judge_next(observation);
        self.flush();
        verdict
    }

    /// The same as part of several, after which the recording is to be flushed.
    pub(super) fn judge_next(&mut self, observation: &Observation) -> Verdict {
        let mode = self.mode(observation);
        self.take_observed(observation, mode)
    }

    fn take_observed(&mut self, observation: &Observation, mode: Mode) -> Verdict {
        let Written { line, parsed } = self.write(observation);
        let verdict = self.take_parsed(&line, parsed.as_ref(), Some(observation), mode);
        self.scribe.reuse(line);
        verdict
    }

    /// Writes the line for an observation. Nearly every message can be written as it is, and whether
    /// it can is seen when the line is parsed, as it has to be anyway.
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

    /// How to judge what is about to pass.
    pub(super) fn mode(&self, observation: &Observation) -> Mode {
        let is_enforced = self.rules.policy.enforces_on(observation.from());
        if is_enforced { Mode::Enforce } else { Mode::Observe }
    }

    /// Reports what is only known at the end.
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
            self.tell(b"", None, Telling::of(Knowledge::Own), &ruling);
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
        self.take_in(Knowledge::Own, line, observation, mode, |journal, number| {
            let Some(mut observer) = journal.observer.take() else { return Ruling::default() };
            if std::mem::take(&mut journal.has_missed) {
                let mut resumed = observer.resume(&journal.rules.engine);
                resumed.forget();
                observer = resumed.suspend();
            }
            let (observer, ruling) = journal.rule_on(observer, number, (line, parsed), mode);
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
        let telling = Telling { passes_in_part, ..Telling::of(knowledge) };
        self.tell(line, observation, telling, &ruling);
        verdict.refusals = ruling.refusals;
        verdict
    }

    /// Judges a line by what an observer knows.
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
        let mut observer = observer.resume(&self.rules.engine);
        let before = observer.messages();
        let policy = &self.rules.policy;
        let rule = |read: &ReadLine<'_>| {
            observer.decide(number, read, |reason| match mode {
                // What passes anyway is judged as in a recording.
                Mode::Observe => Some(false),
                Mode::Enforce => policy.blocks(reason),
            })
        };
        let ruling = match parsed {
            Some(parsed) => self.reader.read_parsed(parsed, line, rule),
            None => self.reader.read(line, rule),
        };
        self.counts.messages += observer.messages() - before;
        (observer.suspend(), ruling)
    }

    /// Takes in a line that was recorded and judged before, as part of another conversation.
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
        let telling = Telling { judged: false, ..Telling::of(knowledge) };
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
        telling: Telling,
        ruling: &Ruling,
    ) {
        let Telling { judged, knowledge, passes_in_part } = telling;
        self.counts.apart += u64::from(knowledge == Knowledge::Missing);
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
            passes_in_part,
        };
        for watcher in &mut self.watchers {
            watcher(&passage);
        }
    }
}

/// Decides about lists of tools that are held back only for some of them.
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
