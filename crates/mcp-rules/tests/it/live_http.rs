//! Live HTTP traffic is judged like its recording.

use std::fs;

use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_rules::{
    Content, Engine, Finding, Findings, HttpEvent, HttpPart, HttpRecord, Line, RecordingInfo,
    Settings, SseEvent,
};
use mcp_schema::Schemas;

use crate::{
    observe::observe,
    traces::{root, settings_for, traces},
};

/// What a program finds that handles the traffic of `file` itself; `None` if it is not all HTTP of
/// one session.
fn judge_live(file: &[u8], settings: Settings) -> Option<Vec<Finding>> {
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut session = engine.session(None);
    let mut found = Vec::new();
    for (position, text) in file.trim_ascii_end().split(|byte| *byte == b'\n').enumerate() {
        let mut tape = Tape::new();
        let document = tape.parse(text, Limits::default()).ok()?;
        let Ok(Line::Record(record)) = Line::read(document.root()) else { return None };
        let http = record.http.as_deref().filter(|_| record.session.is_empty())?;
        let mut inner = Tape::new();
        let parsed = record.text().map(|text| (text, inner.parse(text, Limits::default())));
        for part in parts(http) {
            let mut event =
                HttpEvent::new(http.exchange?, record.from, part).on_line(position as u64 + 1);
            event.millis = record.millis;
            event.body = http.body.as_deref();
            event = match (&record.content, &parsed) {
                _ if matches!(part, HttpPart::End) => event,
                (Content::Message(message), _) => event.with_message(*message),
                (_, Some((_, Ok(document)))) => event.with_message(document.root()),
                (_, Some((text, Err(error)))) => event.with_unreadable(text, *error),
                (_, None) => event,
            };
            let followed = engine.follow_http(&mut session, &event);
            let mut findings = Findings::new(engine.settings());
            engine.judge_http(&event, &followed, &mut findings);
            found.extend(findings.take());
        }
    }
    let mut findings = Findings::new(engine.settings());
    engine.finish(&mut session, &mut findings);
    found.extend(findings.take());
    Some(found)
}

fn parts<'r>(http: &'r HttpRecord<'_>) -> Vec<HttpPart<'r>> {
    let headers = &http.headers;
    let part = match (&http.method, http.status, &http.sse) {
        (Some(method), ..) => Some(HttpPart::Request { method, url: &http.url, headers }),
        (_, _, Some(sse)) => Some(HttpPart::Event(SseEvent {
            id: sse.id.as_deref(),
            event: sse.event.as_deref(),
            data: sse.data.as_deref(),
            retry: sse.retry,
        })),
        (_, Some(status), _) => Some(HttpPart::Response { status, headers }),
        _ => None,
    };
    part.into_iter().chain(http.ends.then_some(HttpPart::End)).collect()
}

#[test]
fn live_traffic_is_judged_as_its_recording_is() {
    let mut count = 0;
    for path in traces(&root()) {
        let file = fs::read(&path).unwrap();
        let Some(live) = judge_live(&file, settings_for(&path)) else { continue };
        let recorded = observe(&file, settings_for(&path), RecordingInfo::default());
        let told = |findings: &[Finding]| -> Vec<_> {
            let mut told: Vec<(Option<u64>, &str, Option<Side>)> =
                findings.iter().map(|found| (found.line, found.rule.name, found.from)).collect();
            told.sort_unstable();
            told
        };
        assert_eq!(told(&live), told(&recorded), "{}", path.display());
        count += 1;
    }
    assert!(count > 100, "{count} traces are HTTP");
}
