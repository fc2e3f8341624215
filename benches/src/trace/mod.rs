//! Long synthetic traces, for measuring the command on realistic input.
//!
//! The lines are what a [`TraceWriter`] makes of the traffic. Several sessions run at once; each
//! begins with its handshake, every request gets its answer, and no rule is broken.

mod clock;
mod http;
mod session;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use mcp_json::Tape;
use mcp_rules::{TraceEntry, TraceWriter};

use self::clock::Clock;
use self::http::HttpSession;
use self::session::Session;
use crate::corpus::Message;
use crate::corpus::rng::Rng;
use crate::corpus::tool_list::{self, Tool};

/// Number of servers; sessions with the same server list the same tools.
const SERVERS: usize = 12;

/// Number of sessions open at the same time.
const OPEN: usize = 4;

/// What kind of sessions a trace has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Long sessions over stdio; most messages are small, some as large as a file.
    Mixed,
    /// Sessions over stdio as people record them: short, with a few tools and small messages.
    Stdio,
    /// The same over HTTP, with the headers that common clients and servers send.
    Http,
}

/// One conversation of any length: a handshake, then whatever a client and a server say, for ever.
#[derive(Debug)]
pub struct Conversation<'a> {
    rng: Rng,
    session: Session<'a>,
}

impl<'a> Conversation<'a> {
    /// Starts a conversation with a server that has these tools.
    pub fn start(tools: &'a [Tool]) -> Conversation<'a> {
        let mut rng = Rng::new(0x0073_6573_7369_6f6e);
        let session = Session::endless(&mut rng, tools);
        Conversation { rng, session }
    }
}

impl Iterator for Conversation<'_> {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        self.session.next(&mut self.rng)
    }
}

/// Statistics of a trace.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Written {
    pub bytes: u64,
    pub lines: u64,
    pub sessions: u64,
}

/// Writes sessions until there are at least `bytes` bytes and all sessions have ended.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn write(out: &mut impl Write, kind: Kind, bytes: u64) -> io::Result<Written> {
    let mut rng = Rng::new(0x7472_6163_6500);
    let servers: Vec<Vec<Tool>> = (0..SERVERS).map(|_| tool_list::tools(&mut rng)).collect();
    let mut recorder = Recorder::new(out);
    let mut written = Written::default();
    let mut open: Vec<Carried<'_>> = Vec::new();
    loop {
        while open.len() < OPEN && recorder.written.bytes < bytes {
            let server = rng.below(SERVERS);
            open.push(Carried::start(&mut rng, kind, &servers[server]));
            written.sessions += 1;
        }
        if open.is_empty() {
            return Ok(Written { sessions: written.sessions, ..recorder.written });
        }
        let turn = rng.below(open.len());
        if !recorder.record(&mut rng, &mut open[turn], true)? {
            open.swap_remove(turn);
        }
    }
}

/// Writes this many files with one session each, by turns over stdio and over HTTP.
///
/// # Errors
///
/// When the folder or a file in it cannot be written.
pub fn write_folder(folder: &Path, files: u64) -> io::Result<Written> {
    let mut rng = Rng::new(0x666f_6c64_6572);
    let servers: Vec<Vec<Tool>> = (0..SERVERS).map(|_| tool_list::tools(&mut rng)).collect();
    fs::create_dir_all(folder)?;
    let mut written = Written::default();
    for file in 0..files {
        let kind = if file % 2 == 0 { Kind::Stdio } else { Kind::Http };
        let server = rng.below(SERVERS);
        let mut session = Carried::start(&mut rng, kind, &servers[server]);
        let mut out = BufWriter::new(File::create(folder.join(format!("{file:06}.jsonl")))?);
        let mut recorder = Recorder::new(&mut out);
        while recorder.record(&mut rng, &mut session, false)? {}
        written.bytes += recorder.written.bytes;
        written.lines += recorder.written.lines;
        written.sessions += 1;
        out.flush()?;
    }
    Ok(written)
}

/// A session and how its messages travel.
#[derive(Debug)]
enum Carried<'a> {
    Stdio(Session<'a>),
    Http(Box<HttpSession<'a>>),
}

impl<'a> Carried<'a> {
    fn start(rng: &mut Rng, kind: Kind, tools: &'a [Tool]) -> Carried<'a> {
        match kind {
            Kind::Mixed => Carried::Stdio(Session::start(rng, tools)),
            Kind::Stdio => Carried::Stdio(Session::short(rng, tools)),
            Kind::Http => {
                let session = Session::short(rng, tools);
                Carried::Http(Box::new(HttpSession::new(rng, session)))
            }
        }
    }
}

/// Writes lines and counts them.
struct Recorder<'w, W> {
    writer: TraceWriter<Counted<'w, W>>,
    clock: Clock,
    tape: Tape,
    written: Written,
}

struct Counted<'w, W> {
    out: &'w mut W,
    bytes: u64,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let length = self.out.write(text)?;
        self.bytes += u64::try_from(length).unwrap_or(0);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<'w, W: Write> Recorder<'w, W> {
    fn new(out: &'w mut W) -> Recorder<'w, W> {
        Recorder {
            writer: TraceWriter::new(Counted { out, bytes: 0 }),
            clock: Clock::default(),
            tape: Tape::new(),
            written: Written::default(),
        }
    }

    /// Writes what a session shows next; `false` if it is over.
    fn record(
        &mut self,
        rng: &mut Rng,
        session: &mut Carried<'_>,
        is_named: bool,
    ) -> io::Result<bool> {
        self.clock.advance(rng);
        let time = self.clock.to_string();
        let (writer, tape) = (&mut self.writer, &mut self.tape);
        match session {
            Carried::Stdio(session) => {
                let Some(message) = session.next(rng) else { return Ok(false) };
                let entry = TraceEntry::stdio(message.from, &message.bytes).at(&time);
                writer.write(&if is_named { entry.in_session(session.name()) } else { entry })?;
            }
            Carried::Http(session) => {
                let Some(observed) = session.next(rng) else { return Ok(false) };
                observed.show(tape, |event| {
                    let entry = TraceEntry::http(event).at(&time);
                    writer.write(&if is_named { entry.in_session(session.name()) } else { entry })
                })?;
            }
        }
        self.written.bytes = self.writer.get_mut().bytes;
        self.written.lines += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::Value;

    use mcp_rules::{Engine, Findings, LineReader, Observer, RecordingInfo, Routed, Settings};
    use mcp_schema::Schemas;

    use super::{Kind, write};

    #[test]
    fn no_rule_is_broken() {
        let engine = Engine::new(Schemas::embedded(), Settings::default());
        for kind in [Kind::Mixed, Kind::Stdio, Kind::Http] {
            let mut text = Vec::new();
            let written = write(&mut text, kind, 500_000).unwrap();
            assert!(written.sessions >= 4);
            let mut reader = LineReader::new(&engine.settings().limits);
            let mut observer = Observer::new(&engine, RecordingInfo::default());
            let (mut number, mut found, mut judged) = (0, Vec::new(), Vec::new());
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                number += 1;
                reader.read(line, |line| {
                    let mut findings = Findings::new(engine.settings());
                    if let Routed::Judge(followed) = observer.follow(number, line, &mut judged) {
                        line.judge(&engine, &followed, &mut findings);
                    }
                    found.extend(findings.take());
                });
            }
            observer.finish(&mut judged);
            found.extend(judged.into_iter().flat_map(|judged| judged.findings));
            assert_eq!(written.lines, number);
            assert!(found.is_empty(), "{kind:?}: {found:?}");
        }
    }

    #[test]
    fn every_session_opens_with_the_handshake_and_every_request_is_answered_or_cancelled() {
        let mut text = Vec::new();
        let written = write(&mut text, Kind::Mixed, 3_000_000).unwrap();
        assert_eq!(written.bytes, u64::try_from(text.len()).unwrap());

        let mut open: HashMap<(String, String, String), String> = HashMap::new();
        let mut seen: HashMap<String, u32> = HashMap::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line: Value = serde_json::from_slice(line).unwrap();
            let session = line["session"].as_str().unwrap().to_owned();
            let message = &line["msg"];
            let from = line["from"].as_str().unwrap().to_owned();
            let other = if from == "client" { "server" } else { "client" }.to_owned();
            let id = message["id"].to_string();
            let count = seen.entry(session.clone()).or_default();
            *count += 1;
            match message.get("method").map(|method| method.as_str().unwrap()) {
                Some(method) if *count == 1 => {
                    assert_eq!((method, from.as_str()), ("initialize", "client"));
                    open.insert((session, from, id), method.to_owned());
                }
                Some("notifications/cancelled") => {
                    let id = message["params"]["requestId"].to_string();
                    assert!(open.remove(&(session, from, id)).is_some(), "{line}");
                }
                Some("notifications/initialized") => assert_eq!(*count, 3),
                Some(method) if message.get("id").is_some() => {
                    let known = open.insert((session, from, id), method.to_owned());
                    assert_eq!(known, None);
                }
                Some(_) => {}
                None => assert!(open.remove(&(session, other, id)).is_some(), "{line}"),
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(seen.len() >= 4);
    }
}
