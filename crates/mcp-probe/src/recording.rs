//! Recordings of conversations in the format of `plumb check`, judged as they grow.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use serde_json::Value;

use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_rules::{
    Engine, Finding, HttpEvent, LineReader, Observer, RecordingInfo, Severity, SuspendedObserver,
    TraceEntry, TraceWriter,
};

/// Estimated memory of a line besides its text: its parsed message and its findings. Many short
/// lines must not fill the memory either.
const BESIDES_TEXT: usize = 1 << 10;

/// The recording of one conversation. Findings about the side under test are made while it is
/// recorded, by the same rules and on the same lines as `plumb check` would.
#[derive(Debug)]
pub struct Recording {
    name: String,
    tested: Side,
    engine: Arc<Engine>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    lines: Vec<Vec<u8>>,
    bytes: usize,
    observer: Option<SuspendedObserver>,
    reader: LineReader,
    findings: Vec<Finding>,
    taken: usize,
}

impl Recording {
    /// An empty recording of a server test. The name must be suitable for a file.
    pub fn new(name: impl Into<String>, engine: Arc<Engine>) -> Recording {
        Recording::of(Side::Server, name, engine)
    }

    /// An empty recording of a test of side `tested`.
    pub fn of(tested: Side, name: impl Into<String>, engine: Arc<Engine>) -> Recording {
        let observer = Observer::new(&engine, from_start()).suspend();
        let kept = Kept {
            lines: Vec::new(),
            bytes: 0,
            observer: Some(observer),
            reader: LineReader::new(&engine.settings().limits),
            findings: Vec::new(),
            taken: 0,
        };
        Recording { name: name.into(), tested, engine, kept: Mutex::new(kept) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds and judges an observation. Returns its line, from 1.
    pub fn add(&self, entry: &TraceEntry<'_>) -> u64 {
        let mut writer = TraceWriter::new(Vec::new());
        // Writing to a vector does not fail.
        let _ = match self.tested {
            Side::Server => writer.write(entry),
            // Some rules depend on how long a client waits.
            Side::Client => writer.write(&entry.at(&now())),
        };
        let mut line = writer.into_inner();
        line.pop();
        let mut kept = self.lock();
        let number = kept.lines.len() as u64 + 1;
        let kept_now = &mut *kept;
        if let Some(observer) = kept_now.observer.take() {
            let mut observer = observer.resume(&self.engine);
            let ruling =
                kept_now.reader.read(&line, |read| observer.decide(number, read, |_| Some(false)));
            kept_now.observer = Some(observer.suspend());
            let findings = ruling.findings().filter(|finding| self.blames_tested(finding));
            kept_now.findings.extend(findings.cloned());
        }
        kept.bytes += line.len() + BESIDES_TEXT;
        kept.lines.push(line);
        number
    }

    /// Adds a part of an HTTP exchange with its body, which is recorded as a message if it is JSON.
    /// Returns its line, from 1.
    pub(crate) fn add_http(&self, event: HttpEvent<'_>, body: &[u8], is_json: bool) -> u64 {
        if body.is_empty() {
            return self.add(&TraceEntry::http(event));
        }
        let mut tape = Tape::new();
        let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
        let parsed = tape.parse(body, limits);
        // Shorten its lifetime to that of the body.
        let mut event = event;
        match &parsed {
            Ok(document) if is_json => event.message = Some(document.root()),
            Ok(_) => event.body = Some(body),
            Err(error) => {
                event.body = Some(body);
                event.error = is_json.then_some(*error);
            }
        }
        self.add(&TraceEntry::http(event))
    }

    /// Makes the findings that depend on the end. Nothing is judged afterwards.
    pub fn finish(&self) {
        let mut kept = self.lock();
        let Some(observer) = kept.observer.take() else { return };
        let mut judged = Vec::new();
        observer.resume(&self.engine).finish(&mut judged);
        let findings = judged.into_iter().flat_map(|judged| judged.findings);
        kept.findings.extend(findings.filter(|finding| self.blames_tested(finding)));
    }

    /// Whether ending now would make no further findings.
    pub(crate) fn is_settled(&self) -> bool {
        let kept = self.lock();
        let mut observer = Observer::new(&self.engine, from_start());
        let mut reader = LineReader::new(&self.engine.settings().limits);
        let mut count = 0;
        for (number, line) in (1..).zip(&kept.lines) {
            let ruling = reader.read(line, |read| observer.decide(number, read, |_| Some(false)));
            count += ruling.findings().filter(|finding| self.blames_tested(finding)).count();
        }
        let mut judged = Vec::new();
        observer.finish(&mut judged);
        let findings = judged.iter().flat_map(|judged| &judged.findings);
        count += findings.filter(|finding| self.blames_tested(finding)).count();
        count == kept.findings.len()
    }

    /// The findings since the last call.
    pub fn take_findings(&self) -> Vec<Finding> {
        let mut kept = self.lock();
        let new = kept.findings[kept.taken..].to_vec();
        kept.taken = kept.findings.len();
        new
    }

    /// Whether there are findings not taken yet.
    pub(crate) fn has_findings(&self) -> bool {
        let kept = self.lock();
        kept.findings.len() > kept.taken
    }

    /// Whether there are new findings that are errors.
    pub(crate) fn has_errors(&self) -> bool {
        let kept = self.lock();
        kept.findings[kept.taken..].iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Whether `fits` holds for one of the strings that the client sent.
    pub(crate) fn has_sent(&self, fits: impl Fn(&str) -> bool) -> bool {
        let kept = self.lock();
        let sent = kept.lines.iter().filter(|line| line.starts_with(b"{\"from\":\"client\""));
        let mut pending: Vec<Value> =
            sent.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        while let Some(value) = pending.pop() {
            match value {
                Value::String(text) if fits(&text) => return true,
                Value::Array(elements) => pending.extend(elements),
                Value::Object(members) => {
                    pending.extend(members.into_iter().map(|(_, value)| value));
                }
                _ => {}
            }
        }
        false
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.lock().lines.len()
    }

    /// Whether it has no line yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Line `number`, from 1.
    pub fn line(&self, number: u64) -> Option<Vec<u8>> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lock().lines.get(index).cloned()
    }

    /// All lines, each ending in a line feed.
    pub fn text(&self) -> Vec<u8> {
        self.lock().lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
    }

    /// Whether a finding blames the side under test: messages of plumb itself are often wrong on
    /// purpose.
    fn blames_tested(&self, finding: &Finding) -> bool {
        finding.at_fault.or(finding.from) == Some(self.tested)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn from_start() -> RecordingInfo {
    let mut info = RecordingInfo::default();
    info.from_start = true;
    info
}

#[expect(clippy::disallowed_methods, reason = "a recording says when it was made")]
fn now() -> String {
    humantime::format_rfc3339_micros(SystemTime::now()).to_string()
}
