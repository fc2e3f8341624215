//! A conversation as lines that `plumb check` reads, judged as they come.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use serde_json::Value;

use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_rules::{
    Engine, Finding, HttpEvent, LineReader, Observer, Origin, Severity, Suspended, TraceEntry,
    TraceWriter,
};

/// What a line takes besides its text: the message read from it, and what was found in it. A server
/// that says little on very many lines must not fill the memory either.
const BESIDES_TEXT: usize = 1 << 10;

/// One conversation. What the side under test gets wrong in it is found while it is recorded, by
/// the same rules and on the same lines as `plumb check` would find it.
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
    observer: Option<Suspended>,
    reader: LineReader,
    findings: Vec<Finding>,
    taken: usize,
}

impl Recording {
    /// An empty recording of a test of a server, under a name that suits a file.
    pub fn new(name: impl Into<String>, engine: Arc<Engine>) -> Recording {
        Recording::of(Side::Server, name, engine)
    }

    /// An empty recording of a test of this side.
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
        // A vector takes everything.
        let _ = match self.tested {
            Side::Server => writer.write(entry),
            // How long a client waits matters to some rules.
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
                kept_now.reader.read(&line, |read| observer.rule(number, read, |_| Some(false)));
            kept_now.observer = Some(observer.suspend());
            let findings = ruling.findings().filter(|finding| self.blames_tested(finding));
            kept_now.findings.extend(findings.cloned());
        }
        kept.bytes += line.len() + BESIDES_TEXT;
        kept.lines.push(line);
        number
    }

    /// Adds a part of an HTTP exchange with its body: a message if it should be JSON and is.
    /// Returns its line, from 1.
    pub(crate) fn add_http(&self, event: HttpEvent<'_>, body: &[u8], is_json: bool) -> u64 {
        if body.is_empty() {
            return self.add(&TraceEntry::http(event));
        }
        let mut tape = Tape::new();
        let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
        let parsed = tape.parse(body, limits);
        // As short-lived as what it now refers to.
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

    /// Judges what only the end shows. Nothing is judged afterwards.
    pub fn finish(&self) {
        let mut kept = self.lock();
        let Some(observer) = kept.observer.take() else { return };
        let mut judged = Vec::new();
        observer.resume(&self.engine).finish(&mut judged);
        let findings = judged.into_iter().flat_map(|judged| judged.findings);
        kept.findings.extend(findings.filter(|finding| self.blames_tested(finding)));
    }

    /// Whether nothing more would be found if it ended now.
    pub(crate) fn is_settled(&self) -> bool {
        let kept = self.lock();
        let mut observer = Observer::new(&self.engine, from_start());
        let mut reader = LineReader::new(&self.engine.settings().limits);
        let mut count = 0;
        for (number, line) in (1..).zip(&kept.lines) {
            let ruling = reader.read(line, |read| observer.rule(number, read, |_| Some(false)));
            count += ruling.findings().filter(|finding| self.blames_tested(finding)).count();
        }
        let mut judged = Vec::new();
        observer.finish(&mut judged);
        let findings = judged.iter().flat_map(|judged| &judged.findings);
        count += findings.filter(|finding| self.blames_tested(finding)).count();
        count == kept.findings.len()
    }

    /// What was found since the last call.
    pub fn take_findings(&self) -> Vec<Finding> {
        let mut kept = self.lock();
        let new = kept.findings[kept.taken..].to_vec();
        kept.taken = kept.findings.len();
        new
    }

    /// Whether something was found that was not taken yet.
    pub(crate) fn has_findings(&self) -> bool {
        let kept = self.lock();
        kept.findings.len() > kept.taken
    }

    /// The same of what is certainly wrong.
    pub(crate) fn has_errors(&self) -> bool {
        let kept = self.lock();
        kept.findings[kept.taken..].iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Whether one of the texts in what the client has sent fits.
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

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// How many lines it has.
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

    /// What we send is often wrong on purpose.
    fn blames_tested(&self, finding: &Finding) -> bool {
        finding.at_fault.or(finding.from) == Some(self.tested)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn from_start() -> Origin {
    let mut origin = Origin::default();
    origin.from_start = true;
    origin
}

#[expect(clippy::disallowed_methods, reason = "a recording says when it was made")]
fn now() -> String {
    humantime::format_rfc3339_micros(SystemTime::now()).to_string()
}
