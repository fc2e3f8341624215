//! Writes the HTTP exchanges of a recording as a HAR capture, which browsers and other tools open.

use std::collections::HashMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_rules::{Content, HttpRecord, ReadLine, Record, SseRecord};
use serde_json::{Value, json};

use super::EVENT_STREAM;
use crate::date_time;

/// Collects the exchanges of a recording, line by line. Lines that belong to no exchange are
/// skipped, and so are exchanges whose request is not in the recording.
#[derive(Debug, Default)]
pub struct HarWriter {
    exchanges: Vec<Exchange>,
    /// Where the exchanges of each conversation are, by their numbers.
    places: HashMap<(Vec<u8>, u64), usize>,
}

#[derive(Debug)]
struct Exchange {
    /// Milliseconds since 1970.
    began: Option<i64>,
    ended: Option<i64>,
    method: String,
    url: String,
    request: Part,
    /// 0 if there was no response.
    status: u16,
    response: Part,
}

#[derive(Debug, Default)]
struct Part {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    has_events: bool,
}

impl HarWriter {
    /// Creates a writer without exchanges.
    pub fn new() -> HarWriter {
        HarWriter::default()
    }

    /// Adds a line of the recording.
    pub fn add(&mut self, line: &ReadLine<'_>) {
        let Some(record) = line.record() else { return };
        let Some(http) = record.http.as_deref() else { return };
        let Some(number) = http.exchange else { return };
        let key = (record.session.to_vec(), number);
        if let Some(method) = &http.method {
            self.places.insert(key, self.exchanges.len());
            self.exchanges.push(Exchange {
                began: record.millis,
                ended: None,
                method: method.to_string(),
                url: absolute(http),
                request: Part::of(record, http),
                status: 0,
                response: Part::default(),
            });
            return;
        }
        let Some(place) = self.places.get(&key) else { return };
        let exchange = &mut self.exchanges[*place];
        exchange.ended = record.millis.or(exchange.ended);
        if let Some(event) = &http.sse {
            exchange.response.has_events = true;
            write_event(event, body_of(record, http), &mut exchange.response.body);
        } else if let Some(status) = http.status {
            exchange.status = status;
            exchange.response = Part::of(record, http);
        }
    }

    /// Whether there are no exchanges.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// The capture as JSON. `name` and `version` identify the program that created it.
    pub fn finish(self, name: &str, version: &str) -> Vec<u8> {
        let entries: Vec<Value> = self.exchanges.into_iter().map(Exchange::into_entry).collect();
        let creator = json!({ "name": name, "version": version });
        let log = json!({ "version": "1.2", "creator": creator, "entries": entries });
        // `log` comes first: a capture is recognised by how it begins.
        json!({ "log": log }).to_string().into_bytes()
    }
}

impl Exchange {
    fn into_entry(self) -> Value {
        let Exchange { began, ended, method, url, request, status, response } = self;
        let time = began.zip(ended).map_or(0, |(began, ended)| (ended - began).max(0));
        let mut sent = json!({
            "method": method,
            "url": url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": request.headers(),
            "queryString": [],
            "headersSize": -1,
            "bodySize": request.body.len(),
        });
        if !request.body.is_empty() {
            sent["postData"] = request.content();
        }
        let mut content = response.content();
        content["size"] = json!(response.body.len());
        let received = json!({
            "status": status,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": response.headers(),
            "content": content,
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": response.body.len(),
        });
        json!({
            "startedDateTime": date_time(began.unwrap_or_default()),
            "time": time,
            "request": sent,
            "response": received,
            "cache": {},
            "timings": { "send": 0, "wait": time, "receive": 0 },
        })
    }
}

impl Part {
    fn of(record: &Record<'_>, http: &HttpRecord<'_>) -> Part {
        let headers = http.headers.iter().map(|(name, value)| (name.into(), value.into()));
        let body = body_of(record, http).unwrap_or_default().to_vec();
        Part { headers: headers.collect(), body, has_events: false }
    }

    fn headers(&self) -> Value {
        self.headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
    }

    /// The body, as HAR has it.
    fn content(&self) -> Value {
        let declared =
            self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = match declared {
            Some((_, kind)) => kind.as_str(),
            None if self.has_events => EVENT_STREAM,
            None if self.body.is_empty() => "x-unknown",
            None => "application/json",
        };
        if let Ok(text) = std::str::from_utf8(&self.body) {
            return json!({ "mimeType": kind, "text": text });
        }
        let text = BASE64_STANDARD.encode(&self.body);
        json!({ "mimeType": kind, "text": text, "encoding": "base64" })
    }
}

fn body_of<'a>(record: &'a Record<'_>, http: &'a HttpRecord<'_>) -> Option<&'a [u8]> {
    match &record.content {
        Content::Message(message) => Some(message.raw()),
        Content::Raw(text) => Some(text),
        Content::Data | Content::Body | Content::Nothing => http.body.as_deref(),
    }
}

/// As a stream has it. Data with line breaks is several lines.
fn write_event(event: &SseRecord<'_>, message: Option<&[u8]>, out: &mut Vec<u8>) {
    let mut field = |name: &str, value: &[u8]| {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.push(b'\n');
    };
    if let Some(name) = &event.event {
        field("event", name.as_bytes());
    }
    if let Some(id) = &event.id {
        field("id", id.as_bytes());
    }
    if let Some(retry) = event.retry {
        field("retry", retry.to_string().as_bytes());
    }
    if let Some(data) = message.or(event.data.as_deref()) {
        for line in data.split(|byte| *byte == b'\n') {
            field("data", line);
        }
    }
    out.push(b'\n');
}

/// The URL with its host: proxies record the path alone.
fn absolute(http: &HttpRecord<'_>) -> String {
    if !http.url.starts_with('/') && !http.url.is_empty() {
        return http.url.to_string();
    }
    let host = http.headers.get("host");
    let host = host.filter(|host| !host.is_empty()).unwrap_or("localhost".into());
    format!("http://{host}{}", http.url)
}

#[cfg(test)]
mod tests {
    use mcp_rules::{Limits, LineReader};

    use super::*;

    fn written(lines: &[&str]) -> HarWriter {
        let mut writer = HarWriter::new();
        let mut reader = LineReader::new(&Limits::default());
        for line in lines {
            reader.read(line.as_bytes(), |line| writer.add(line));
        }
        writer
    }

    const ASKED: &str = r#"{"ts":"2026-01-01T10:00:00.000Z","from":"client","http":{"exchange":1,"method":"POST","url":"/mcp","headers":{"host":"h:1","content-type":"application/json","accept":"*/*"}},"msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}}"#;

    #[test]
    fn what_is_written_is_read_as_the_same_messages() {
        let writer = written(&[
            r#"{"from":"server","raw":"no HTTP"}"#,
            ASKED,
            r#"{"ts":"2026-01-01T10:00:00.500Z","from":"server","http":{"exchange":1,"status":200,"headers":{"content-type":"text/event-stream","x":["1","2"]}}}"#,
            r#"{"ts":"2026-01-01T10:00:01.000Z","from":"server","http":{"exchange":1,"sse":{"id":"e1","event":"message"}},"msg":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ä"}}}"#,
            r#"{"ts":"2026-01-01T10:00:02.000Z","from":"server","http":{"exchange":1,"sse":{"data":"two\nlines"}}}"#,
            r#"{"ts":"2026-01-01T10:00:03.000Z","from":"server","http":{"exchange":1,"end":true}}"#,
            r#"{"from":"server","http":{"exchange":9,"status":200,"headers":{}}}"#,
        ]);
        let capture = writer.finish("plumb", "1");
        let har: Value = serde_json::from_slice(&capture).unwrap();
        let entry = &har["log"]["entries"][0];
        assert_eq!(har["log"]["entries"].as_array().unwrap().len(), 1);
        assert_eq!(entry["startedDateTime"], "2026-01-01T10:00:00.000Z");
        assert_eq!(entry["time"], 3000);
        assert_eq!(entry["request"]["url"], "http://h:1/mcp");
        assert!(super::super::sniff(&capture[..]).unwrap().0);
        let trace = super::super::read(&capture[..], 1 << 20).unwrap();
        let lines: Vec<Value> = String::from_utf8(trace.text)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 4, "{lines:#?}");
        assert_eq!(lines[0]["msg"]["params"]["name"], "a");
        assert_eq!(lines[1]["http"]["headers"]["x"], json!(["1", "2"]));
        assert_eq!(lines[2]["http"]["sse"], json!({ "id": "e1", "event": "message" }));
        assert_eq!(lines[2]["msg"]["params"]["data"], "ä");
        assert_eq!(lines[3]["http"]["sse"]["data"], "two\nlines");
    }

    #[test]
    fn events_are_found_where_headers_were_not_recorded() {
        let event = r#"{"from":"server","http":{"exchange":1,"sse":{}},"msg":{"jsonrpc":"2.0","id":1,"result":{}}}"#;
        let writer =
            written(&[ASKED, r#"{"from":"server","http":{"exchange":1,"status":200}}"#, event]);
        let trace = super::super::read(&writer.finish("plumb", "1")[..], 1 << 20).unwrap();
        let text = String::from_utf8(trace.text).unwrap();
        assert!(text.lines().nth(2).unwrap().contains("\"result\":{}"), "{text}");
    }

    #[test]
    fn bodies_that_are_not_text_survive() {
        let answer = r#"{"from":"server","http":{"exchange":1,"status":500,"headers":{"content-type":"application/octet-stream"},"bodyBase64":"/w=="}}"#;
        let trace =
            super::super::read(&written(&[ASKED, answer]).finish("plumb", "1")[..], 1 << 20);
        let text = String::from_utf8(trace.unwrap().text).unwrap();
        assert!(text.lines().nth(1).unwrap().contains("/w=="), "{text}");
        assert!(written(&[answer]).is_empty());
    }
}
