//! A conversation as lines that `plumb check` reads, judged as they come.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_core::Side;
use mcp_rules::{
    Engine, Finding, LineReader, Observer, Origin, Suspended, TraceEntry, TraceWriter,
};

/// One conversation. What the server gets wrong in it is found while it is recorded, by the same
/// rules and on the same lines as `plumb check` would find it.
#[derive(Debug)]
pub struct Recording {
    name: String,
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
    /// An empty recording under a name that suits a file.
    pub fn new(name: impl Into<String>, engine: Arc<Engine>) -> Recording {
        let mut origin = Origin::default();
        origin.from_start = true;
        let observer = Observer::new(&engine, origin).suspend();
        let kept = Kept {
            lines: Vec::new(),
            bytes: 0,
            observer: Some(observer),
            reader: LineReader::new(&engine.settings().limits),
            findings: Vec::new(),
            taken: 0,
        };
        Recording { name: name.into(), engine, kept: Mutex::new(kept) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds and judges an observation. Returns its line, from 1.
    pub fn add(&self, entry: &TraceEntry<'_>) -> u64 {
        let mut writer = TraceWriter::new(Vec::new());
        // A vector takes everything.
        let _ = writer.write(entry);
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
            kept_now.findings.extend(ruling.findings().filter(|f| is_the_servers(f)).cloned());
        }
        kept.bytes += line.len();
        kept.lines.push(line);
        number
    }

    /// Judges what only the end shows. Nothing is judged afterwards.
    pub fn finish(&self) {
        let mut kept = self.lock();
        let Some(observer) = kept.observer.take() else { return };
        let mut judged = Vec::new();
        observer.resume(&self.engine).finish(&mut judged);
        let findings = judged.into_iter().flat_map(|judged| judged.findings);
        kept.findings.extend(findings.filter(is_the_servers));
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

    /// Whether the client has sent this text, as it is spelled in JSON.
    pub(crate) fn was_sent(&self, text: &str) -> bool {
        let kept = self.lock();
        let mut sent = kept.lines.iter().filter(|line| line.starts_with(b"{\"from\":\"client\""));
        sent.any(|line| memchr::memmem::find(line, text.as_bytes()).is_some())
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

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What we send is often wrong on purpose.
fn is_the_servers(finding: &Finding) -> bool {
    finding.at_fault.or(finding.from) == Some(Side::Server)
}
