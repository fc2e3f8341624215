//! HTTP requests of a conversation as curl commands.

use mcp_probe::{Failure, Phase};
use serde_json::Value;

use super::{exchange, repeat::quoted};

/// Longer conversations are not shown as commands.
const REQUESTS: usize = 12;
/// Headers that curl sends by itself.
const OWN: [&str; 3] = ["host", "content-length", "connection"];

/// A request of the client.
struct Request {
    exchange: u64,
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

/// The failing request, after those that open its session; for a walk, all requests that led to it.
/// `secrets` are the names of headers that were sent but not recorded.
pub(super) fn snippet(failure: &Failure, phase: Phase, secrets: &[String]) -> Option<String> {
    let last = failure.finding.line.unwrap_or(failure.recording.len() as u64);
    let own = exchange_of(failure, last)?;
    let requests: Vec<Request> = (1..=last).filter_map(|line| request(failure, line)).collect();
    let at = requests.iter().rposition(|request| request.exchange == own)?;
    let has_session = requests[at].session().is_some();
    let mut chosen: Vec<&Request> = match phase {
        Phase::Stateful => requests[..=at].iter().collect(),
        _ if has_session => {
            let opens = |request: &&Request| {
                let body = request.body.as_deref().unwrap_or_default();
                body.contains("\"initialize\"") || body.contains("\"notifications/initialized\"")
            };
            requests[..at].iter().filter(opens).chain([&requests[at]]).collect()
        }
        _ => vec![&requests[at]],
    };
    chosen.dedup_by_key(|request| request.exchange);
    if chosen.len() > REQUESTS {
        return None;
    }
    let mut commands: Vec<String> = Vec::new();
    for (index, request) in chosen.iter().enumerate() {
        let arguments = request.arguments(secrets);
        commands.push(match index {
            0 if has_session && chosen.len() > 1 => format!(
                "SESSION=$(curl -sS -D - -o /dev/null {arguments} | tr -d '\\r' | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p')"
            ),
            _ => format!("curl -sSi {arguments}"),
        });
    }
    Some(commands.join("\n"))
}

impl Request {
    fn session(&self) -> Option<&str> {
        let is_session = |name: &str| name.eq_ignore_ascii_case("mcp-session-id");
        self.headers.iter().find(|(name, _)| is_session(name)).map(|(_, value)| value.as_str())
    }

    fn arguments(&self, secrets: &[String]) -> String {
        let mut words = vec![quoted(&self.url)];
        if self.method != "POST" || self.body.is_none() {
            words.push(format!("-X {}", quoted(&self.method)));
        }
        for (name, value) in &self.headers {
            let of_url = name.eq_ignore_ascii_case("host") && !self.url.contains(value.as_str());
            if OWN.contains(&name.to_ascii_lowercase().as_str()) && !of_url {
                continue;
            }
            words.push(if name.eq_ignore_ascii_case("mcp-session-id") {
                format!("-H \"{name}: $SESSION\"")
            } else {
                format!("-H {}", quoted(&format!("{name}: {value}")))
            });
        }
        words.extend(secrets.iter().map(|name| format!("-H {}", quoted(&format!("{name}: …")))));
        words.extend(self.body.iter().map(|body| format!("--data-binary {}", quoted(body))));
        words.join(" ")
    }
}

/// The request on a line, if there is one.
fn request(failure: &Failure, line: u64) -> Option<Request> {
    let record: Value = serde_json::from_slice(&failure.recording.line(line)?).ok()?;
    if record["from"] != "client" {
        return None;
    }
    let http = record.get("http")?;
    let text = |name: &str| http[name].as_str().map(str::to_owned);
    let headers = http["headers"].as_object().into_iter().flatten();
    let headers = headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.into())));
    let said = exchange::said(failure, line)?;
    Some(Request {
        exchange: http["exchange"].as_u64()?,
        method: text("method")?,
        url: text("url")?,
        headers: headers.collect(),
        body: if said.is_message { Some(said.text) } else { text("body") },
    })
}

/// The HTTP exchange of a line.
fn exchange_of(failure: &Failure, line: u64) -> Option<u64> {
    let record: Value = serde_json::from_slice(&failure.recording.line(line)?).ok()?;
    record.pointer("/http/exchange")?.as_u64()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::Side;
    use mcp_json::{Limits, Tape};
    use mcp_probe::Recording;
    use mcp_rules::{
        Engine, Finding, Headers, HttpEvent, HttpPart, Settings, Severity, TraceEntry, behaviour,
    };
    use mcp_schema::Schemas;

    use super::*;

    /// The snippet for the last of these requests: headers and bodies.
    fn of(requests: &[(&[(&'static str, &str)], &str)], phase: Phase) -> Option<String> {
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let recording = Arc::new(Recording::new("x", engine));
        for (exchange, (headers, body)) in (1..).zip(requests) {
            let mut all = Headers::new();
            if !headers.iter().any(|(name, _)| *name == "Host") {
                all.push("Host", "localhost:1".to_owned());
            }
            for (name, value) in *headers {
                all.push(*name, (*value).to_owned());
            }
            let url = "http://localhost:1/mcp";
            let part = HttpPart::Request { method: "POST", url, headers: &all };
            let mut event = HttpEvent::new(exchange, Side::Client, part);
            let mut tape = Tape::new();
            let parsed = tape.parse(body.as_bytes(), Limits::default());
            match &parsed {
                Ok(document) => event.message = Some(document.root()),
                Err(_) => event.body = Some(body.as_bytes()),
            }
            recording.add(&TraceEntry::http(event));
        }
        let rule = &behaviour::UNKNOWN_METHOD_ACCEPTED;
        let mut finding = Finding::new(rule, Severity::Error, "x");
        finding.line = Some(requests.len() as u64);
        snippet(&Failure { finding, recording, stderr: None }, phase, &["x-key".to_owned()])
    }

    #[test]
    fn a_session_is_opened_first() {
        let session: &[(&str, &str)] = &[("Mcp-Session-Id", "abc")];
        let requests: [(&[_], &str); 4] = [
            (&[], r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#),
            (session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
            (session, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
            (session, r#"{"jsonrpc":"2.0","id":3,"method":"it's"}"#),
        ];
        let text = of(&requests, Phase::Protocol).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("SESSION=$(curl -sS -D - "), "{text}");
        assert_eq!(
            lines[2],
            r#"curl -sSi http://localhost:1/mcp -H "Mcp-Session-Id: $SESSION" -H 'x-key: …' --data-binary '{"jsonrpc":"2.0","id":3,"method":"it'\''s"}'"#
        );
        // For a walk, every step is needed.
        assert_eq!(of(&requests, Phase::Stateful).unwrap().lines().count(), 4);
    }

    #[test]
    fn bodies_that_are_not_json_are_sent_as_they_were() {
        let text = of(&[(&[("Host", "evil.example")], "not JSON")], Phase::Protocol).unwrap();
        assert!(text.contains("-H 'Host: evil.example'"), "{text}");
        assert!(text.ends_with("--data-binary 'not JSON'"), "{text}");
    }
}
