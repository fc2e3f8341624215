//! The log of frames, and the changes to it.

mod changes;
mod line_handler;
mod numbers;
mod pairs;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_proxy::{TapEvent, Watcher};
use mcp_rules::{Finding, Identity, Limits, LineReader, ReadLine};
use memchr::memmem::Finder;
use tokio::sync::watch;

pub(crate) use self::changes::Since;
use self::{changes::Changes, numbers::Numbers, pairs::Pairs};
use crate::{
    frame::{Frame, Row, finding_size},
    problems::{Problem, Problems},
};

/// Number of frames to search before releasing the lock.
const SEARCHED_AT_ONCE: usize = 256;

/// Limits of a log.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "callers set what they need")]
pub struct LogLimits {
    /// Bytes of frames. The oldest are dropped first. Default: 256 MiB.
    pub bytes: usize,
    /// Number of frames. Default: 200,000.
    pub frames: usize,
}

impl Default for LogLimits {
    fn default() -> Self {
        LogLimits { bytes: 256 << 20, frames: 200_000 }
    }
}

/// The frames of one recording. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Log(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Incremented with every change.
    version: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    limits: LogLimits,
    /// In order; the first has number `first`.
    frames: VecDeque<Frame>,
    first: u64,
    bytes: usize,
    pairs: Pairs,
    problems: Problems,
    changes: Changes,
}

/// The range of rows in the log.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Summary {
    /// Number of the first row that is kept.
    pub(crate) first: u64,
    /// Number of the row after the last.
    pub(crate) next: u64,
    pub(crate) bytes: usize,
}

impl Log {
    /// An empty log.
    pub fn new(limits: LogLimits) -> Log {
        let state = Mutex::new(State::new(limits));
        Log(Arc::new(Shared { state, version: watch::Sender::new(0) }))
    }

    /// A watcher that adds everything that passes a tap. Several taps may share a log: frames are
    /// numbered in order of arrival.
    pub fn watcher(&self, limits: &Limits) -> Watcher {
        self.watcher_telling(limits, |_| {})
    }

    /// Like [`Log::watcher`], and calls `told` with every row.
    pub(crate) fn watcher_telling(
        &self,
        limits: &Limits,
        mut told: impl FnMut(&Row) + Send + 'static,
    ) -> Watcher {
        let log = self.clone();
        let mut reader = LineReader::new(limits);
        let mut numbers = Numbers::default();
        Box::new(move |event: &TapEvent<'_>| {
            let row = reader.read(event.line, |line| log.take(event, line, &mut numbers));
            if let Some(row) = row {
                told(&row);
            }
        })
    }

    fn take(
        &self,
        event: &TapEvent<'_>,
        line: &ReadLine<'_>,
        numbers: &mut Numbers,
    ) -> Option<Row> {
        let mut state = self.lock();
        let mut row = None;
        // Findings known only at the end have no line of their own.
        if !event.line.is_empty() {
            let number = state.next();
            numbers.note(event.number, number, state.first);
            let mut frame = Frame::of(number, line, event.messages);
            frame.row.held_back = !event.refusals.is_empty();
            frame.row.by_proxy = event.observation.is_some_and(mcp_proxy::Observation::is_by_proxy);
            frame.row.judged = event.judged;
            state.append(frame);
            row = state.get(number).map(|frame| frame.row.clone());
        }
        for finding in event.findings {
            if let Some(finding) = numbers.translated(finding) {
                state.add(finding);
            }
        }
        self.tell(state);
        row
    }

    /// Adds line `number`, which must be the next one.
    pub fn append(
        &self,
        number: u64,
        line: &ReadLine<'_>,
        messages: &[Identity],
        complete: impl FnOnce(&mut Row),
    ) {
        let mut frame = Frame::of(number, line, messages);
        complete(&mut frame.row);
        let mut state = self.lock();
        state.append(frame);
        let replaced = line.record().and_then(|record| record.replaces);
        if let Some(held_back) = replaced.and_then(|number| state.get_mut(number)) {
            held_back.row.held_back = true;
            let number = held_back.row.number;
            state.changes.push(number);
        }
        self.tell(state);
    }

    /// Adds line `number`, which is too long to be read.
    pub fn append_too_long(&self, number: u64) {
        let mut state = self.lock();
        state.append(Frame::too_long(number));
        self.tell(state);
    }

    /// Clears the log: the lines that follow are from another recording.
    pub fn begin_anew(&self) {
        let mut state = self.lock();
        let limits = state.limits;
        let changes = std::mem::take(&mut state.changes).begun_anew();
        *state = State { changes, ..State::new(limits) };
        self.tell(state);
    }

    /// Adds findings to the frames that they name.
    pub fn add_findings(&self, findings: impl IntoIterator<Item = Finding>) {
        let mut state = self.lock();
        for finding in findings {
            state.add(finding);
        }
        self.tell(state);
    }

    /// The findings by rule and side, the worst first.
    pub fn problems(&self) -> Vec<Problem> {
        self.lock().problems.sorted()
    }

    /// Passes a frame to `visit`; `None` if it is no longer in the log.
    pub fn frame<R>(&self, number: u64, visit: impl FnOnce(&Frame) -> R) -> Option<R> {
        self.lock().get(number).map(visit)
    }

    pub(crate) fn summary(&self) -> Summary {
        let state = self.lock();
        Summary { first: state.first, next: state.next(), bytes: state.bytes }
    }

    /// Rows from `number` on, at most `most`; those that are gone are left out.
    pub(crate) fn rows_from(&self, number: u64, most: usize) -> Vec<Row> {
        let state = self.lock();
        let numbers = number.max(state.first)..state.next();
        numbers.take(most).filter_map(|number| Some(state.get(number)?.row.clone())).collect()
    }

    /// What has changed since `cursor`, at most `most` rows.
    pub(crate) fn since(&self, cursor: u64, most: usize) -> Since {
        let state = self.lock();
        state.changes.since(cursor, most, |number| state.get(number).map(|frame| frame.row.clone()))
    }

    /// A receiver that is notified of changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.version.subscribe()
    }

    /// The frames whose lines contain all of `words`, or any of them.
    pub(crate) fn search(&self, words: &[String], is_any: bool) -> Vec<u64> {
        let finders: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
        let has = |line: &[u8]| {
            let mut found = finders.iter().map(|finder| finder.find(line).is_some());
            if is_any { found.any(|found| found) } else { found.all(|found| found) }
        };
        let mut found = Vec::new();
        let mut next = 0;
        loop {
            // Release the lock in between, so that traffic does not wait.
            let state = self.lock();
            next = next.max(state.first);
            if next >= state.next() {
                return found;
            }
            let frames = (next..state.next()).take(SEARCHED_AT_ONCE);
            for frame in frames.filter_map(|number| state.get(number)) {
                if has(&frame.line) {
                    found.push(frame.row.number);
                }
                next = frame.row.number + 1;
            }
        }
    }

    /// Passes all frames to `visit`, releasing the lock in between so that traffic does not wait.
    pub(crate) fn visit(&self, mut visit: impl FnMut(&Frame)) {
        let mut next = 0;
        loop {
            let state = self.lock();
            next = next.max(state.first);
            if next >= state.next() {
                return;
            }
            let frames = (next..state.next()).take(SEARCHED_AT_ONCE);
            for frame in frames.filter_map(|number| state.get(number)) {
                visit(frame);
                next = frame.row.number + 1;
            }
        }
    }

    /// All lines in the log, to be saved as a recording.
    pub(crate) fn lines(&self) -> Vec<Vec<u8>> {
        self.lock().frames.iter().map(|frame| frame.line.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, state: MutexGuard<'_, State>) {
        let end = state.changes.end();
        drop(state);
        self.0.version.send_replace(end);
    }
}

impl State {
    fn new(limits: LogLimits) -> State {
        State {
            limits,
            frames: VecDeque::new(),
            first: 1,
            bytes: 0,
            pairs: Pairs::default(),
            problems: Problems::default(),
            changes: Changes::default(),
        }
    }

    fn next(&self) -> u64 {
        self.first + self.frames.len() as u64
    }

    fn get(&self, number: u64) -> Option<&Frame> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.frames.get(index)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Frame> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.frames.get_mut(index)
    }

    fn append(&mut self, frame: Frame) {
        let number = frame.row.number;
        if number != self.next() {
            // Lines are missing: drop the older ones, so that the log stays consecutive.
            self.frames.clear();
            self.bytes = 0;
            self.first = number;
        }
        let asked = self.pairs.note(&frame.row);
        self.bytes += frame.size();
        self.frames.push_back(frame);
        self.changes.push(number);
        if let Some(asked) = asked {
            self.join(asked, number);
        }
        while self.frames.len() > self.limits.frames || self.bytes > self.limits.bytes {
            let Some(dropped) = self.frames.pop_front() else { break };
            self.bytes -= dropped.size().min(self.bytes);
            self.first += 1;
        }
    }

    /// Links a request and its answer.
    fn join(&mut self, request: u64, answer: u64) {
        let Some(asked_at) = self.get(request).map(|frame| frame.row.at) else { return };
        let Some(answered) = self.get_mut(answer) else { return };
        answered.row.pair = Some(request);
        let took = asked_at.zip(answered.row.at).map(|(from, to)| (to - from).max(0));
        answered.row.took = took;
        let name = self.get(request).and_then(|frame| frame.row.target.clone());
        if let Some(answered) = self.get_mut(answer) {
            answered.row.target = name;
        }
        if let Some(asked) = self.get_mut(request) {
            // Only the first answer is linked.
            if asked.row.pair.is_none() {
                asked.row.pair = Some(answer);
                asked.row.took = took;
                self.changes.push(request);
            }
        }
    }

    fn add(&mut self, finding: Finding) {
        let Some(number) = finding.line else { return };
        self.problems.add(number, &finding);
        let size = finding_size(&finding);
        if let Some(related) = &finding.related {
            let line = related.line;
            if let Some(frame) = self.get_mut(line).filter(|frame| frame.row.referred.is_none()) {
                frame.row.referred = Some(number);
                self.changes.push(line);
            }
        }
        let Some(frame) = self.get_mut(number) else { return };
        frame.add(finding);
        self.bytes += size;
        self.changes.push(number);
    }
}

#[cfg(test)]
mod tests;
