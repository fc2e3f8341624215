//! Parses lines of a recording.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_core::Side;
use mcp_json::{Fingerprint, Node};

use super::{Content, HttpRecord, Line, ProcessRecord, Record, RecordFault};
use crate::{Carrier, format::date_time};

const FROM: Fingerprint = Fingerprint::of("from");
const SKIPPED: Fingerprint = Fingerprint::of("skipped");
const LOST: Fingerprint = Fingerprint::of("lost");
const MSG: Fingerprint = Fingerprint::of("msg");
const RAW: Fingerprint = Fingerprint::of("raw");
const RAW_BASE64: Fingerprint = Fingerprint::of("rawBase64");
const HTTP: Fingerprint = Fingerprint::of("http");
const SESSION: Fingerprint = Fingerprint::of("session");
const TRANSPORT: Fingerprint = Fingerprint::of("transport");
const END: Fingerprint = Fingerprint::of("end");
const TS: Fingerprint = Fingerprint::of("ts");
const BY: Fingerprint = Fingerprint::of("by");
const REPLACES: Fingerprint = Fingerprint::of("replaces");
const STDERR: Fingerprint = Fingerprint::of("stderr");
const STDERR_BASE64: Fingerprint = Fingerprint::of("stderrBase64");
const EXIT: Fingerprint = Fingerprint::of("exit");
const JSONRPC: Fingerprint = Fingerprint::of("jsonrpc");

impl<'a> Line<'a> {
    /// Parses the value of one line.
    ///
    /// # Errors
    ///
    /// If it is meant to be a record but is not a valid one.
    pub fn read(value: Node<'a>) -> Result<Line<'a>, RecordFault> {
        let members = Members::of(value);
        if !members.make_a_record() {
            return Ok(Line::Bare(value));
        }
        let from = match members.from.ok_or(RecordFault::FromMissing)? {
            from if from.str_eq("client") => Side::Client,
            from if from.str_eq("server") => Side::Server,
            _ => return Err(RecordFault::FromInvalid),
        };
        let http = members.http.map(HttpRecord::read).transpose()?.map(Box::new);
        Ok(Line::Record(Record {
            from,
            content: members.content(http.as_deref())?,
            carrier: members.carrier(http.as_deref()),
            ends: http.is_none() && members.end.and_then(Node::as_bool) == Some(true),
            http,
            skipped: members.skipped.and_then(Node::as_u64),
            is_gap: members.lost.is_some(),
            is_stand_in: members.by.is_some(),
            replaces: members.replaces.and_then(Node::as_u64),
            process: members.process()?,
            session: members.session.and_then(Node::str_bytes).unwrap_or_default(),
            millis: members
                .time
                .and_then(Node::str_bytes)
                .and_then(|text| date_time::rfc3339_millis(&text)),
        }))
    }
}

/// Decodes a member that holds Base64.
pub(super) fn read_base64(name: &'static str, value: Node<'_>) -> Result<Vec<u8>, RecordFault> {
    let text = value.str_bytes().ok_or(RecordFault::NotString(name))?;
    BASE64_STANDARD.decode(&*text).map_err(|_| RecordFault::NotBase64(name))
}

/// The message in the value of a line, if it needs no further parsing.
pub fn message_of(value: Node<'_>) -> Option<Node<'_>> {
    let members = Members::of(value);
    if members.make_a_record() { members.msg } else { Some(value) }
}

/// The known members of a line, found in one pass.
#[derive(Default)]
struct Members<'a> {
    from: Option<Node<'a>>,
    msg: Option<Node<'a>>,
    raw: Option<Node<'a>>,
    raw_base64: Option<Node<'a>>,
    http: Option<Node<'a>>,
    session: Option<Node<'a>>,
    transport: Option<Node<'a>>,
    end: Option<Node<'a>>,
    time: Option<Node<'a>>,
    skipped: Option<Node<'a>>,
    lost: Option<Node<'a>>,
    by: Option<Node<'a>>,
    replaces: Option<Node<'a>>,
    stderr: Option<Node<'a>>,
    stderr_base64: Option<Node<'a>>,
    exit: Option<Node<'a>>,
    jsonrpc: bool,
}

impl<'a> Members<'a> {
    fn of(value: Node<'a>) -> Members<'a> {
        let mut members = Members::default();
        for (name, value) in value.members() {
            members.note(name, value);
        }
        members
    }

    fn note(&mut self, name: Node<'a>, value: Node<'a>) {
        let member = match name.fingerprint() {
            FROM if name.str_eq("from") => &mut self.from,
            MSG if name.str_eq("msg") => &mut self.msg,
            RAW if name.str_eq("raw") => &mut self.raw,
            RAW_BASE64 if name.str_eq("rawBase64") => &mut self.raw_base64,
            HTTP if name.str_eq("http") => &mut self.http,
            SESSION if name.str_eq("session") => &mut self.session,
            TRANSPORT if name.str_eq("transport") => &mut self.transport,
            END if name.str_eq("end") => &mut self.end,
            TS if name.str_eq("ts") => &mut self.time,
            SKIPPED if name.str_eq("skipped") => &mut self.skipped,
            LOST if name.str_eq("lost") => &mut self.lost,
            BY if name.str_eq("by") => &mut self.by,
            REPLACES if name.str_eq("replaces") => &mut self.replaces,
            STDERR if name.str_eq("stderr") => &mut self.stderr,
            STDERR_BASE64 if name.str_eq("stderrBase64") => &mut self.stderr_base64,
            EXIT if name.str_eq("exit") => &mut self.exit,
            JSONRPC if name.str_eq("jsonrpc") => {
                self.jsonrpc = true;
                return;
            }
            _ => return,
        };
        *member = Some(value);
    }

    /// Whether the line is a record rather than a message.
    fn make_a_record(&self) -> bool {
        let has_record_member = self.from.is_some()
            || self.msg.is_some()
            || self.raw.is_some()
            || self.raw_base64.is_some();
        has_record_member && !self.jsonrpc
    }

    fn content(&self, http: Option<&HttpRecord<'a>>) -> Result<Content<'a>, RecordFault> {
        if let Some(message) = self.msg {
            return Ok(Content::Message(message));
        }
        if let Some(raw) = self.raw {
            let text = raw.str_bytes().ok_or(RecordFault::NotString("raw"))?;
            return Ok(Content::Raw(text));
        }
        if let Some(encoded) = self.raw_base64 {
            return Ok(Content::Raw(Cow::Owned(read_base64("rawBase64", encoded)?)));
        }
        let Some(http) = http else { return Ok(Content::Nothing) };
        let has_data = http.sse.as_ref().is_some_and(|sse| sse.data.is_some());
        Ok(match has_data {
            true => Content::Data,
            false if http.has_json_body() => Content::Body,
            false => Content::Nothing,
        })
    }

    /// The output or exit of a process. Ignored if the line has a message, as older readers ignore it
    /// then, too.
    fn process(&self) -> Result<Option<ProcessRecord<'a>>, RecordFault> {
        let speaks = [self.msg, self.raw, self.raw_base64, self.http];
        if speaks.iter().any(Option::is_some) {
            return Ok(None);
        }
        if let Some(text) = self.stderr {
            let text = text.str_bytes().ok_or(RecordFault::NotString("stderr"))?;
            return Ok(Some(ProcessRecord::Stderr(text)));
        }
        if let Some(encoded) = self.stderr_base64 {
            let text = read_base64("stderrBase64", encoded)?;
            return Ok(Some(ProcessRecord::Stderr(Cow::Owned(text))));
        }
        let number = |exit: Node<'a>, name| exit.get(name).and_then(Node::as_i64);
        Ok(self.exit.map(|exit| {
            let (code, signal) = (number(exit, "code"), number(exit, "signal"));
            ProcessRecord::Exit { code, signal }
        }))
    }

    fn carrier(&self, http: Option<&HttpRecord<'_>>) -> Carrier {
        match http {
            Some(http) if http.sse.is_some() => Carrier::SseEvent,
            Some(_) => Carrier::HttpBody,
            None if self.transport.is_some_and(|name| name.str_eq("ws")) => Carrier::WebSocket,
            None => Carrier::Stdio,
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut tape = Tape::new();
        let document = tape.parse(line.as_bytes(), Limits::default()).unwrap();
        let text = match Line::read(document.root()) {
            Ok(Line::Bare(_)) => "bare".to_owned(),
            Ok(Line::Record(record)) => {
                let content = match &record.content {
                    Content::Message(node) => String::from_utf8_lossy(node.raw()).into_owned(),
                    Content::Nothing => "nothing".into(),
                    _ => format!("{:?}", record.text().unwrap()),
                };
                format!("{} {:?} {content}", record.from, record.carrier)
            }
            Err(fault) => fault.to_string(),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn what_a_process_does_is_no_message() {
        let process = |line: &str| {
            let mut tape = Tape::new();
            let document = tape.parse(line.as_bytes(), Limits::default()).unwrap();
            match Line::read(document.root()) {
                Ok(Line::Record(record)) => format!("{:?}", record.process),
                other => format!("{other:?}"),
            }
        };
        let exit = r#"{"from":"server","exit":{"signal":9}}"#;
        assert_eq!(process(exit), "Some(Exit { code: None, signal: Some(9) })");
        assert_eq!(process(r#"{"from":"server","stderr":"a"}"#), "Some(Stderr([97]))");
        assert_eq!(process(r#"{"from":"server","stderrBase64":"/w=="}"#), "Some(Stderr([255]))");
        assert_eq!(process(r#"{"from":"server","msg":1,"stderr":"a"}"#), "None");
        check(r#"{"from":"server","stderr":"a"}"#, "server Stdio nothing");
    }

    #[test]
    fn records_say_who_sent_what_and_how() {
        check(r#"{"from":"client","msg":{"a":1}}"#, r#"client Stdio {"a":1}"#);
        check(r#"{"msg":[],"from":"server","ts":"x","session":"a"}"#, "server Stdio []");
        check(r#"{"from":"server","raw":"h\ni"}"#, "server Stdio [104, 10, 105]");
        check(r#"{"from":"server","rawBase64":"/w=="}"#, "server Stdio [255]");
        check(r#"{"from":"server","http":{"status":202}}"#, "server HttpBody nothing");
        check(
            r#"{"from":"server","http":{"headers":{"Content-Type":"application/json; a=b"},"body":"x"}}"#,
            "server HttpBody [120]",
        );
        check(
            r#"{"from":"server","http":{"headers":{"Content-Type":"text/html"},"body":"x"}}"#,
            "server HttpBody nothing",
        );
        check(r#"{"from":"server","http":{"sse":{}},"msg":1}"#, "server SseEvent 1");
        check(r#"{"from":"server","http":{"sse":{"data":"x"}}}"#, "server SseEvent [120]");
        check(r#"{"from":"server","http":{"sse":{"retry":5}}}"#, "server SseEvent nothing");
        check(r#"{"from":"client","transport":"ws","msg":1}"#, "client WebSocket 1");
    }

    #[test]
    fn messages_without_a_record_are_bare() {
        check(r#"{"jsonrpc":"2.0","method":"x","from":"client"}"#, "bare");
        check(r#"{"method":"x"}"#, "bare");
        check("[]", "bare");
        check("7", "bare");
    }

    #[test]
    fn broken_records_say_what_is_wrong() {
        check(r#"{"msg":{}}"#, "a trace record needs `from`");
        check(r#"{"from":"proxy","msg":{}}"#, "`from` must be \"client\" or \"server\"");
        check(r#"{"from":"client","raw":7}"#, "`raw` must be a string");
        check(r#"{"from":"client","rawBase64":"%"}"#, "`rawBase64` is not base64");
        for exchange in ["\"1\"", "1.5", "-1", "{}"] {
            let line = format!(r#"{{"from":"client","http":{{"exchange":{exchange}}}}}"#);
            check(&line, "`http.exchange` must be a whole number");
        }
        check(r#"{"from":"client","http":{"headers":[]}}"#, "`http.headers` must be an object");
    }
}
