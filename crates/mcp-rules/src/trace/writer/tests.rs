use mcp_json::SyntaxError;
use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::{Carrier, Content, HttpRecord, Line, LineReader, Record};

fn written(entry: &TraceEntry<'_>) -> String {
    let mut writer = TraceWriter::new(Vec::new());
    writer.write(entry).unwrap();
    let line = String::from_utf8(writer.into_inner()).unwrap();
    assert_eq!(line.find('\n'), Some(line.len() - 1), "{line}");
    line
}

/// Writes and reads back.
fn with_record(entry: &TraceEntry<'_>, check: impl FnOnce(&Record<'_>)) {
    let line = written(entry);
    let mut tape = Tape::new();
    let document = tape.parse(line.trim_end().as_bytes(), Limits::default()).unwrap();
    match Line::read(document.root()) {
        Ok(Line::Record(record)) => check(&record),
        other => panic!("{line} {other:?}"),
    }
}

fn sent<'r>(record: &'r Record<'_>) -> Option<&'r [u8]> {
    match record.content {
        Content::Message(message) => Some(message.raw()),
        _ => record.text(),
    }
}

#[test]
fn messages_are_written_as_they_are_where_that_is_safe() {
    for (text, expected) in [
        (&br#"{"a":[1, 2]}"#[..], r#""msg":{"a":[1, 2]}"#),
        (b"7", r#""msg":7"#),
        (b" {}", r#""raw":" {}""#),
        (b"{}\r", r#""raw":"{}\r""#),
        (b"{\n}", r#""raw":"{\n}""#),
        (b"\xEF\xBB\xBF{}", "\"raw\":\"\u{feff}{}\""),
        (br#"{"a":1,"\u0061":2}"#, r#""raw":"{\"a\":1,\"\\u0061\":2}""#),
        (br#"["\ud800"]"#, r#""raw":"[\"\\ud800\"]""#),
        (b"\xff", r#""rawBase64":"/w==""#),
        (b"", r#""raw":"""#),
    ] {
        let line = written(&TraceEntry::stdio(Side::Server, text));
        assert_eq!(line, format!("{{\"from\":\"server\",{expected}}}\n"));
    }
    let deep = "[".repeat(200) + &"]".repeat(200);
    let line = written(&TraceEntry::web_socket(Side::Client, deep.as_bytes()));
    assert!(line.starts_with(r#"{"from":"client","transport":"ws","raw":"[["#), "{line}");
}

/// The line that is written optimistically, if its message proves to be ordinary.
fn presumed(entry: &TraceEntry<'_>, message: &[u8]) -> Option<String> {
    let mut writer = TraceWriter::new(Vec::new());
    let place = writer.write_optimistic(entry, message).unwrap();
    let line = writer.into_inner();
    assert_eq!(&line[place.clone()], message);
    let mut reader = LineReader::new(&crate::Limits::default());
    let text = line.strip_suffix(b"\n").unwrap();
    let parsed = reader.parse_optimistic(text, &place)?;
    reader.read_parsed(&parsed, text, |read| assert_eq!(read.message().unwrap().raw(), message));
    Some(String::from_utf8(line).unwrap())
}

#[test]
fn a_message_is_presumed_to_be_ordinary_until_the_line_is_parsed() {
    let entry = |text| TraceEntry::stdio(Side::Client, text).at("t").in_session("a");
    for text in [r#"{"a":[1, 2]}"#, "7", r#""\u00e9""#, "[]"] {
        let expected = written(&entry(text.as_bytes()));
        assert_eq!(presumed(&entry(b""), text.as_bytes()), Some(expected), "{text}");
    }
    let deep = "[".repeat(200) + &"]".repeat(200);
    for text in [
        " {}",
        "{}\r",
        "{\n}",
        "\u{feff}{}",
        r#"{"a":1,"\u0061":2}"#,
        r#"["\ud800"]"#,
        "",
        "{",
        &deep,
        // Whatever it does to the line around it, it is not a value by itself.
        r#"1,"msg":2"#,
        r#"1,"raw":"x""#,
        r#"1}{"from":"server","msg":1"#,
        "1}",
    ] {
        assert_eq!(presumed(&entry(b""), text.as_bytes()), None, "{text}");
    }
    assert_eq!(presumed(&entry(b""), b"\"\xff\""), None);
}

#[test]
fn headers_keep_their_order_however_many_there_are() {
    for count in [2, FEW, FEW + 1] {
        let names = (2..count).map(|number| format!("x-{number}"));
        let names: Vec<String> = names.chain(["a".into(), "a".into()]).collect();
        let headers: Headers<'_> = names.iter().map(|name| (name.as_str(), "1")).collect();
        let line = written(&TraceEntry::http(HttpEvent::request(1, "GET", "/", &headers)));
        let single = (2..count).map(|number| format!("\"x-{number}\":\"1\""));
        let members: Vec<String> = single.chain([r#""a":["1","1"]"#.to_owned()]).collect();
        let expected = format!("{{{}}}", members.join(","));
        assert!(line.contains(&expected), "{line}");
    }
}

#[test]
fn http_is_written_as_the_format_says() {
    let headers: Headers<'_> =
        [("accept", "a"), ("Host", "h"), ("accept", "b")].into_iter().collect();
    let request = HttpEvent::request(3, "POST", "/mcp", &headers).with_body(b"a=b");
    let expected = r#"{"from":"client","ts":"t","http":{"exchange":3,"method":"POST","url":"/mcp","headers":{"accept":["a","b"],"Host":"h"},"body":"a=b"}}"#;
    assert_eq!(written(&TraceEntry::http(request).at("t")).trim_end(), expected);
    let unrecorded = Headers::unrecorded();
    for (event, expected) in [
        (HttpEvent::response(3, 200, &unrecorded), r#""status":200}}"#),
        (
            HttpEvent::response(3, 200, &unrecorded).with_body(b"\xff"),
            r#""status":200,"bodyBase64":"/w=="}}"#,
        ),
        (HttpEvent::event(3, SseEvent::default()), r#""sse":{}}}"#),
        (
            HttpEvent::event(3, SseEvent { id: Some(""), data: Some(b"x"), ..SseEvent::default() }),
            r#""sse":{"id":"","data":"x"}}}"#,
        ),
        (
            HttpEvent::event(
                3,
                SseEvent { data: Some(b"\xff"), retry: Some(5), ..SseEvent::default() },
            ),
            r#""sse":{"retry":5}},"rawBase64":"/w=="}"#,
        ),
        (HttpEvent::end(3, Side::Server), r#""end":true}}"#),
    ] {
        let line = written(&TraceEntry::http(event));
        assert_eq!(
            line.trim_end(),
            format!(r#"{{"from":"server","http":{{"exchange":3,{expected}"#)
        );
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..40),
        ".{0,40}".prop_map(String::into_bytes),
        r#"[ \n]?[\{\[]"?[a-z\\\\u0-9"]{0,12}"?[:,]?[0-9a-z"\{\} ]{0,12}[\}\]][\r\n ]?"#
            .prop_map(String::into_bytes),
        any::<(String, i64)>().prop_map(|(name, value)| {
            serde_json::json!({"jsonrpc": "2.0", "id": value, "method": name})
                .to_string()
                .into_bytes()
        }),
    ]
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Client), Just(Side::Server)]
}

proptest! {
    #[test]
    fn streams_read_back(
        from in side(),
        text in text(),
        session in option::of(any::<String>()),
        kind in 0..3,
    ) {
        let mut entry = match kind {
            0 => TraceEntry::stdio(from, &text),
            1 => TraceEntry::unterminated(from, &text),
            _ => TraceEntry::web_socket(from, &text),
        }
        .at("2025-01-01T00:00:00.001Z");
        if let Some(session) = &session {
            entry = entry.in_session(session);
        }
        with_record(&entry, |record| {
            assert_eq!((record.from, record.ends), (from, kind == 1));
            assert_eq!(sent(record), Some(&*text));
            assert_eq!(*record.session, *session.as_deref().unwrap_or_default().as_bytes());
            assert_eq!(record.millis, Some(1_735_689_600_001));
            let is_web_socket = record.carrier == Carrier::WebSocket;
            assert_eq!((is_web_socket, record.http.is_none()), (kind == 2, true));
        });
    }

    #[test]
    fn what_is_presumed_and_confirmed_is_what_would_be_written(
        text in text(),
        status in any::<u16>(),
        kind in 0..3,
    ) {
        let headers: Headers<'_> = [("content-type", "application/json")].into_iter().collect();
        let event = HttpEvent::new(1, Side::Server, HttpPart::Response { status, headers: &headers });
        let mut tape = Tape::new();
        let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
        let parsed = tape.parse(&text, limits);
        let (whole, without) = match kind {
            0 => (TraceEntry::stdio(Side::Client, &text), TraceEntry::stdio(Side::Client, b"")),
            1 => {
                (TraceEntry::web_socket(Side::Client, &text), TraceEntry::web_socket(Side::Client, b""))
            }
            _ => {
                let whole = match &parsed {
                    Ok(document) => event.with_message(document.root()),
                    Err(error) => event.with_unreadable(&text, *error),
                };
                (TraceEntry::http(whole), TraceEntry::http(event))
            }
        };
        let expected = written(&whole);
        match presumed(&without, &text) {
            Some(line) => prop_assert_eq!(line, expected),
            None => prop_assert!(!expected.contains("\"msg\":"), "{}", expected),
        }
    }

    #[test]
    fn http_reads_back(
        from in side(),
        exchange in any::<u64>(),
        body in option::of(text()),
        meant in any::<bool>(),
        kind in 0..4,
        texts in any::<[String; 2]>(),
        pairs in option::of(vec(("[a-cA-C]", any::<String>()), 0..6)),
        status in any::<u16>(),
        fields in any::<(Option<String>, Option<String>, Option<u64>)>(),
    ) {
        let headers = match &pairs {
            Some(pairs) => pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            None => Headers::unrecorded(),
        };
        let [method, url] = &texts;
        let (id, event, retry) = (fields.0.as_deref(), fields.1.as_deref(), fields.2);
        let sse = SseEvent { id, event, data: None, retry };
        let part = match kind {
            0 => HttpPart::Request { method, url, headers: &headers },
            1 => HttpPart::Response { status, headers: &headers },
            2 => HttpPart::Event(sse),
            _ => HttpPart::End,
        };
        let mut observed = HttpEvent::new(exchange, from, part);
        let body = body.filter(|_| kind != 3);
        let mut tape = Tape::new();
        let parsed: Option<Result<Document<'_>, SyntaxError>> =
            body.as_ref().map(|body| tape.parse(body, Limits::default()));
        if let (Some(body), Some(parsed)) = (&body, &parsed) {
            observed = match parsed {
                Ok(document) if meant => observed.with_message(document.root()),
                Err(error) if meant => observed.with_unreadable(body, *error),
                _ => observed.with_body(body),
            };
        }
        with_record(&TraceEntry::http(observed), |record| {
            assert_eq!(record.from, from);
            let http: &HttpRecord<'_> = record.http.as_deref().unwrap();
            assert_eq!((http.exchange, http.ends), (Some(exchange), kind == 3));
            let read = http.sse.as_ref();
            let data = read.and_then(|sse| sse.data.as_deref());
            let found = sent(record).or(http.body.as_deref()).or(data);
            assert_eq!(found, body.as_deref());
            assert_eq!(http.status, (kind == 1).then_some(status));
            assert_eq!(http.method.as_deref(), (kind == 0).then_some(&**method));
            assert_eq!(&*http.url, if kind == 0 { url } else { "" });
            assert_eq!(read.is_some(), kind == 2);
            if let Some(read) = read {
                let fields = (read.id.as_deref(), read.event.as_deref(), read.retry);
                assert_eq!(fields, (id, event, retry));
            }
            let recorded = kind < 2 && headers.are_recorded();
            assert_eq!(http.headers.are_recorded(), recorded);
            let sorted = |headers: &Headers<'_>| -> Vec<(String, String)> {
                let mut all: Vec<_> =
                    headers.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
                all.sort_by(|one, two| one.0.cmp(&two.0));
                all
            };
            assert_eq!(sorted(&http.headers), if recorded { sorted(&headers) } else { vec![] });
        });
    }
}
