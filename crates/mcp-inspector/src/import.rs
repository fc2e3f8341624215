//! Imported files: recordings and HAR captures, each read into its own log.

use std::{
    collections::HashSet,
    io::{self, Cursor, Read},
};

use mcp_recording::{
    LineHandler, LineStream, Tail, TailError, TailLine,
    har::{self, HarError},
};
use mcp_rules::{Engine, Finding, RecordingInfo};

use crate::{Frame, Kind, Log};

/// Maximum size of a file, in bytes.
pub(crate) const LARGEST: usize = 256 << 20;
/// Maximum size of a capture, in bytes: it has to be held in memory.
const LARGEST_CAPTURE: usize = 128 << 20;

/// Maximum number of ended conversations to remember.
const MOST_ENDED: usize = 10_000;

/// The result of an import.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Imported {
    /// Entries of a capture that are not MCP.
    pub(crate) skipped: usize,
}

/// Why a file cannot be shown.
#[derive(Debug)]
pub(crate) enum ImportError {
    Read(io::Error),
    Capture(HarError),
    /// A capture without MCP.
    NoMcp,
    Empty,
    /// No line of it is JSON.
    NoRecording,
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImportError::Read(error) => write!(f, "the file could not be read: {error}"),
            ImportError::Capture(HarError::Read(error)) => {
                write!(f, "the file could not be read: {error}")
            }
            ImportError::Capture(error) => write!(f, "the file cannot be shown: {error}"),
            ImportError::NoMcp => f.write_str("the HAR capture has no MCP traffic in it"),
            ImportError::Empty => f.write_str("the file is empty"),
            ImportError::NoRecording => f.write_str(
                "the file is neither a recording nor a HAR capture: no line of it is a JSON object",
            ),
        }
    }
}

/// Reads a file into an empty log; its lines are judged as `plumb check` would.
pub(crate) fn read_into(
    log: &Log,
    engine: &Engine,
    source: impl Read,
) -> Result<Imported, ImportError> {
    let (is_capture, source) = har::sniff(source).map_err(ImportError::Read)?;
    if !is_capture {
        follow(log, engine, source)?;
        return Ok(Imported::default());
    }
    let trace = har::read(source, LARGEST_CAPTURE).map_err(ImportError::Capture)?;
    if trace.text.is_empty() {
        return Err(ImportError::NoMcp);
    }
    follow(log, engine, Cursor::new(trace.text))?;
    Ok(Imported { skipped: trace.skipped })
}

/// Follows the lines of a recording.
pub(crate) fn follow(log: &Log, engine: &Engine, source: impl Read) -> Result<(), ImportError> {
    let mut seen = Seen::default();
    let mut tail = Tail::new(
        engine,
        RecordingInfo::default(),
        Into { log: log.clone(), seen: &mut seen, over: HashSet::new() },
    );
    let mut lines = LineStream::new(source, tail.max_line());
    let failed = |error| match error {
        TailError::Read(error) | TailError::Write(error) => ImportError::Read(error),
    };
    tail.read_all(&mut lines).map_err(failed)?;
    tail.finish(&mut lines).map_err(ImportError::Read)?;
    match seen {
        Seen { lines: 0, .. } => Err(ImportError::Empty),
        Seen { json: 0, .. } => Err(ImportError::NoRecording),
        Seen { .. } => Ok(()),
    }
}

#[derive(Debug, Default)]
struct Seen {
    lines: u64,
    /// Number of lines that are records or messages.
    json: u64,
}

/// Appends lines to a log, and counts them.
struct Into<'s> {
    log: Log,
    seen: &'s mut Seen,
    /// Conversations whose server has exited.
    over: HashSet<String>,
}

impl LineHandler for Into<'_> {
    fn line(&mut self, number: u64, shown: TailLine<'_>) -> io::Result<()> {
        self.seen.lines += 1;
        let is_json =
            shown.line.is_some_and(|line| line.record().is_some() || line.message().is_some());
        self.seen.json += u64::from(is_json);
        self.log.line(number, shown)?;
        if let Some(session) = self.log.frame(number, ended_session).flatten()
            && self.over.len() < MOST_ENDED
        {
            self.over.insert(session);
        }
        Ok(())
    }

    /// Keeps findings about missing messages only for conversations that have ended: others may
    /// have gone on after the recording.
    fn end(&mut self, mut findings: Vec<Finding>) -> io::Result<()> {
        findings.retain(|finding| {
            let session = finding.line.and_then(|line| self.log.frame(line, session_of));
            session.is_some_and(|session| self.over.contains(&session))
        });
        self.log.end(findings)
    }
}

fn session_of(frame: &Frame) -> String {
    frame.row.session.clone().unwrap_or_default()
}

fn ended_session(frame: &Frame) -> Option<String> {
    (frame.row.kind == Kind::Exit).then(|| session_of(frame))
}

#[cfg(test)]
mod tests {
    use mcp_rules::Settings;
    use mcp_schema::Schemas;

    use super::*;
    use crate::LogLimits;

    fn import(text: &[u8]) -> Result<(Log, Imported), String> {
        let engine = Engine::new(Schemas::embedded(), Settings::default());
        let log = Log::new(LogLimits::default());
        let imported = read_into(&log, &engine, text).map_err(|error| error.to_string())?;
        Ok((log, imported))
    }

    #[test]
    fn a_recording_is_judged() {
        let text = br#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"from":"server","raw":"a log line"}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{}}}"#;
        let (log, _) = import(text).unwrap();
        let row = |number| log.frame(number, |frame| frame.row.clone()).unwrap();
        assert_eq!((row(1).pair, row(3).pair), (Some(3), Some(1)));
        assert_eq!((row(2).kind, row(2).rules), (Kind::Text, vec!["stdout-non-json"]));
    }

    #[test]
    fn a_capture_is_told_by_its_beginning() {
        let capture = br#"{"log":{"version":"1.2","entries":[
            {"startedDateTime":"2026-01-01T00:00:00Z","time":1,"request":{"method":"POST","url":"http://h/mcp","headers":[],
             "postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"}},
             "response":{"status":202,"headers":[],"content":{}}},
            {"startedDateTime":"2026-01-01T00:00:00Z","time":1,"request":{"method":"GET","url":"http://h/logo","headers":[]},
             "response":{"status":200,"headers":[],"content":{}}}]}}"#;
        let (log, imported) = import(capture).unwrap();
        assert_eq!(imported.skipped, 1);
        assert_eq!(
            log.frame(1, |frame| frame.row.http.clone()).unwrap().unwrap(),
            "POST http://h/mcp"
        );
    }

    #[test]
    fn what_cannot_be_shown_says_why() {
        let refused = |text: &[u8]| import(text).unwrap_err();
        assert_eq!(refused(b""), "the file is empty");
        assert!(refused(b"\x89PNG\r\n\x1a\n...\n").contains("neither a recording nor a HAR"));
        assert!(refused(br#"{"log":{"entries":["#).contains("not a HAR capture"));
        assert!(refused(br#"{"log":{"entries":[]}}"#).contains("no MCP traffic"));
        assert!(refused(br#"{"log":{}}"#).contains("`log.entries` is not an array"));
    }
}
