//! The recording format: one JSON object per line, in wire order as the observer saw it.
//!
//! A line is a [`Record`] (`{"from":"client","msg":{…}}`) or, in a plain NDJSON file, the bare
//! JSON-RPC message itself. Unknown members are ignored.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_core::Side;
use mcp_json::{Kind, Node};

use crate::{Carrier, conversation::Moment, format::date_time};

/// What one line of a file holds.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "a line is one or the other")]
pub enum Line<'a> {
    /// A trace record.
    Record(Record<'a>),
    /// A JSON-RPC message (or something that is meant to be one), without a word on who sent it.
    Bare(Node<'a>),
}

/// One observation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Record<'a> {
    /// Who sent it.
    pub from: Side,
    /// What was sent.
    pub content: Content<'a>,
    /// The HTTP facts, for traffic over HTTP.
    pub http: Option<Node<'a>>,
    /// Which of several interleaved conversations it belongs to.
    pub session: Option<Node<'a>>,
    /// How it travelled.
    pub carrier: Carrier,
    /// Whether the stdio stream ended right after it, without a line break.
    pub ends: bool,
    /// When it was recorded, RFC 3339.
    pub time: Option<Node<'a>>,
}

/// What a record says was sent.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "the format is fixed")]
pub enum Content<'a> {
    /// `msg`: a JSON value.
    Message(Node<'a>),
    /// `raw`, `rawBase64` or the `data` of an event: the exact bytes.
    Raw(Cow<'a, [u8]>),
    /// A body that calls itself JSON, although the recorder could not read it as a message.
    Body(Cow<'a, [u8]>),
    /// None of these: only headers, the end of a stream.
    Nothing,
}

/// Why a line is no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum RecordFault {
    #[error("a trace record needs `from`")]
    FromMissing,
    #[error("`from` must be \"client\" or \"server\"")]
    FromInvalid,
    #[error("`{0}` must be a string")]
    NotString(&'static str),
    #[error("`rawBase64` is not base64")]
    NotBase64,
    #[error("`http.exchange` must be a whole number")]
    ExchangeInvalid,
    #[error("`http.headers` must be an object")]
    HeadersInvalid,
}

impl<'a> Line<'a> {
    /// Reads the value of one line.
    ///
    /// # Errors
    ///
    /// If it is meant as a record but is none.
    pub fn read(value: Node<'a>) -> Result<Line<'a>, RecordFault> {
        let mut members = Members::default();
        for (name, value) in value.members() {
            members.note(name, value);
        }
        let is_record = members.from.is_some()
            || members.msg.is_some()
            || members.raw.is_some()
            || members.raw_base64.is_some();
        if members.jsonrpc || !is_record {
            return Ok(Line::Bare(value));
        }
        let from = match members.from.ok_or(RecordFault::FromMissing)? {
            from if from.str_eq("client") => Side::Client,
            from if from.str_eq("server") => Side::Server,
            _ => return Err(RecordFault::FromInvalid),
        };
        if let Some(http) = members.http {
            check_http(http)?;
        }
        Ok(Line::Record(Record {
            from,
            content: members.content()?,
            http: members.http,
            session: members.session,
            carrier: members.carrier(),
            time: members.time,
            ends: members.http.is_none() && members.end.and_then(Node::as_bool) == Some(true),
        }))
    }
}

impl Record<'_> {
    /// When and where it was seen, as far as the record itself says.
    pub(crate) fn moment(&self, line: u64) -> Moment {
        let millis =
            self.time.and_then(Node::str_bytes).and_then(|text| date_time::to_millis(&text));
        Moment { line: Some(line), millis, ..Moment::default() }
    }
}

/// The members of a line that mean something, found in one pass.
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
    jsonrpc: bool,
}

impl<'a> Members<'a> {
    fn note(&mut self, name: Node<'a>, value: Node<'a>) {
        let Some(name) = name.str_bytes() else { return };
        let member = match &*name {
            b"from" => &mut self.from,
            b"msg" => &mut self.msg,
            b"raw" => &mut self.raw,
            b"rawBase64" => &mut self.raw_base64,
            b"http" => &mut self.http,
            b"session" => &mut self.session,
            b"transport" => &mut self.transport,
            b"end" => &mut self.end,
            b"ts" => &mut self.time,
            b"jsonrpc" => {
                self.jsonrpc = true;
                return;
            }
            _ => return,
        };
        *member = Some(value);
    }

    fn content(&self) -> Result<Content<'a>, RecordFault> {
        if let Some(message) = self.msg {
            return Ok(Content::Message(message));
        }
        if let Some(raw) = self.raw {
            let text = raw.str_bytes().ok_or(RecordFault::NotString("raw"))?;
            return Ok(Content::Raw(text));
        }
        if let Some(encoded) = self.raw_base64 {
            let text = encoded.str_bytes().ok_or(RecordFault::NotString("rawBase64"))?;
            let bytes = BASE64_STANDARD.decode(&*text).map_err(|_| RecordFault::NotBase64)?;
            return Ok(Content::Raw(Cow::Owned(bytes)));
        }
        let data = self.http.and_then(|http| http.get("sse")).and_then(|sse| sse.get("data"));
        if let Some(data) = data.and_then(Node::str_bytes) {
            return Ok(Content::Raw(data));
        }
        Ok(match self.http.and_then(json_body) {
            Some(body) => Content::Body(body),
            None => Content::Nothing,
        })
    }

    fn carrier(&self) -> Carrier {
        match self.http {
            Some(http) if http.kind() == Kind::Object && http.get("sse").is_some() => {
                Carrier::SseEvent
            }
            Some(_) => Carrier::HttpBody,
            None if self.transport.is_some_and(|name| name.str_eq("ws")) => Carrier::WebSocket,
            None => Carrier::Stdio,
        }
    }
}

/// Lines that cannot be tied to their exchange, or whose headers cannot be read, would be judged by
/// half.
fn check_http(http: Node<'_>) -> Result<(), RecordFault> {
    let member = |name| http.get(name).filter(|value| !value.is_null());
    if member("exchange").is_some_and(|exchange| exchange.as_u64().is_none()) {
        return Err(RecordFault::ExchangeInvalid);
    }
    if member("headers").is_some_and(|headers| !headers.is_object()) {
        return Err(RecordFault::HeadersInvalid);
    }
    Ok(())
}

/// The body of a response that calls itself JSON, although the recorder could not read it as a
/// message.
fn json_body(http: Node<'_>) -> Option<Cow<'_, [u8]>> {
    let body = http.get("body")?.str_bytes().filter(|body| !body.is_empty())?;
    let content_type = header(http, "content-type")?;
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json").then_some(body)
}

fn header<'a>(http: Node<'a>, wanted: &str) -> Option<Cow<'a, str>> {
    http.get("headers")?.members().find_map(|(name, value)| {
        let name = name.as_str()?;
        name.eq_ignore_ascii_case(wanted).then_some(value.as_str()?)
    })
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
                    Content::Raw(bytes) | Content::Body(bytes) => format!("{bytes:?}"),
                    Content::Nothing => "nothing".into(),
                };
                format!("{} {:?} {content}", record.from, record.carrier)
            }
            Err(fault) => fault.to_string(),
        };
        assert_eq!(text, expected);
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
