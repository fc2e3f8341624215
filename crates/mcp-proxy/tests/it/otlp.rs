//! Spans, as a collector gets them.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::mpsc,
    thread,
    time::Duration,
};

use mcp_core::Side;
use mcp_proxy::{
    Observation, Tap, TapSettings,
    otlp::{Exporter, ExporterSettings, SpanCounts},
};
use serde_json::{Value, json};

use crate::support::engine;

/// A collector that answers each request with the next status, and shows what it got.
fn collector(statuses: &'static [u16]) -> (SocketAddr, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        for status in statuses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            let mut length = 0;
            while reader.read_line(&mut head).unwrap() > 2 {
                let line = head.lines().last().unwrap().to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let answer = format!(
                "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}"
            );
            stream.write_all(answer.as_bytes()).unwrap();
            sender.send((head, serde_json::from_slice(&body).unwrap())).unwrap();
        }
    });
    (address, received)
}

fn settings(counts: &SpanCounts) -> ExporterSettings {
    let mut settings = ExporterSettings::default();
    settings.counts = counts.clone();
    settings.pause = Duration::from_millis(1);
    settings
}

/// Shows lines to a tap that exports, and ends both.
fn export(exporter: Exporter, lines: &[(Side, String)]) -> SpanCounts {
    let watchers = vec![exporter.watcher()];
    let tap = Tap::new(engine(), TapSettings { watchers, ..TapSettings::default() });
    let tap = tap.for_upstream("files".into());
    for (from, text) in lines {
        tap.observe(Observation::stdio(*from, text.clone()).in_session(Some("s1".into())));
    }
    tap.finish();
    exporter.finish()
}

fn spans(body: &Value) -> &Vec<Value> {
    assert_eq!(
        body["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"],
        "plumb"
    );
    body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap()
}

fn attribute<'a>(holder: &'a Value, key: &str) -> Option<&'a str> {
    let all = holder["attributes"].as_array().unwrap();
    all.iter().find(|one| one["key"] == key)?["value"]["stringValue"].as_str()
}

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn a_request_and_its_answer_are_a_span_without_their_values() {
    let (address, received) = collector(&[200]);
    let counts = SpanCounts::default();
    let exporter = Exporter::start(&format!("http://{address}"), settings(&counts)).unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "weather",
        "arguments": { "city": "secret-city" },
        "_meta": { "traceparent": PARENT, "tracestate": "a=1" },
    } });
    let failed = json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32000, "message": "secret-reason" } });
    let bad =
        json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": { "name": 4711 } });
    let answer = json!({ "jsonrpc": "2.0", "id": 8, "result": { "content": [], "isError": true } });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "secret" } });
    let lines = [
        (Side::Client, call),
        (Side::Server, note),
        (Side::Client, bad),
        (Side::Server, answer),
        (Side::Server, failed),
        (Side::Client, json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" })),
    ];
    let lines = lines.map(|(from, message)| (from, message.to_string()));
    let counts = export(exporter, &lines);
    assert_eq!((counts.exported(), counts.dropped()), (2, 0));
    let (head, body) = received.recv().unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("content-type: application/json"), "{head}");
    let text = body.to_string();
    assert!(!text.contains("secret") && !text.contains("4711"), "{text}");
    let [second, first] = &spans(&body)[..] else { panic!("{text}") };

    assert_eq!(first["name"], "tools/call weather");
    assert_eq!(first["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(
        (&first["parentSpanId"], &first["traceState"]),
        (&json!("b7ad6b7169203331"), &json!("a=1"))
    );
    assert_eq!((&first["kind"], &first["status"]["code"]), (&json!(2), &json!(2)));
    for (key, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.tool.name", "weather"),
        ("mcp.session.id", "s1"),
        ("plumb.upstream", "files"),
        ("jsonrpc.request.id", "7"),
        ("rpc.response.status_code", "-32000"),
        ("error.type", "-32000"),
    ] {
        assert_eq!(attribute(first, key), Some(value), "{key}");
    }
    let time = |name: &str| -> u128 { first[name].as_str().unwrap().parse().unwrap() };
    assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));

    assert_eq!(second.get("parentSpanId"), None);
    assert_eq!(second["traceId"].as_str().unwrap().len(), 32);
    assert_ne!(second["traceId"], first["traceId"]);
    assert_eq!(attribute(second, "error.type"), Some("tool_error"));
    let event = &second["events"][0];
    assert_eq!(event["name"], "plumb.finding");
    assert_eq!(attribute(event, "plumb.rule"), Some("params-invalid"));
    assert_eq!(attribute(event, "plumb.at_fault"), Some("client"));
}

fn calls(count: u32) -> Vec<(Side, String)> {
    let ask = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
    let answer = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string();
    (0..count).flat_map(|id| [(Side::Client, ask(id)), (Side::Server, answer(id))]).collect()
}

#[test]
fn a_collector_that_is_busy_gets_them_again() {
    let (address, received) = collector(&[503, 429, 200]);
    let counts = SpanCounts::default();
    let mut settings = settings(&counts);
    settings.batch = 2;
    let exporter = Exporter::start(&format!("http://{address}/v1/traces"), settings).unwrap();
    let watchers = vec![exporter.watcher()];
    let tap = Tap::new(engine(), TapSettings { watchers, ..TapSettings::default() });
    for (from, text) in calls(2) {
        tap.observe(Observation::stdio(from, text));
    }
    let bodies: Vec<Value> = received.iter().map(|(_, body)| body).collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| spans(body).len() == 2 && body == &bodies[0]));
    tap.finish();
    assert_eq!((exporter.finish().exported(), counts.dropped()), (2, 0));
}

#[test]
fn a_collector_that_is_away_costs_spans_and_nothing_else() {
    // Nobody listens there any more.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let counts = SpanCounts::default();
    let mut settings = settings(&counts);
    (settings.queue, settings.batch) = (10, 4);
    let exporter = Exporter::start(&format!("http://{address}"), settings).unwrap();
    let watchers = vec![exporter.watcher()];
    let tap = Tap::new(engine(), TapSettings { watchers, ..TapSettings::default() });
    for (from, text) in calls(1000) {
        tap.observe(Observation::stdio(from, text));
    }
    let seen = tap.finish();
    assert_eq!((seen.messages, seen.lost), (2000, 0));
    exporter.finish();
    assert_eq!((counts.exported(), counts.dropped()), (0, 1000));
}

#[test]
fn a_collector_that_never_answers_does_not_keep_the_proxy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let counts = SpanCounts::default();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let exporter = Exporter::start(&url, settings(&counts)).unwrap();
    export(exporter, &calls(3));
    assert_eq!((counts.exported(), counts.dropped()), (0, 3));
    assert!(Exporter::start("ftp://x", settings(&counts)).is_err());
}
