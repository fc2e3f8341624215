//! Recordings hold what was found live, and no credentials.

use std::{fs, path::Path, sync::Arc};

use mcp_core::Side;
use mcp_proxy::{Counts, Observation, Policy, RecordSettings, Recorder, Tap, TapSettings};
use mcp_sdk::{
    Client, Server,
    transport::http::server::{HttpSettings, ServeSettings, serve},
};
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::{Proxy, engine, findings_in, parts, post, raw_client, raw_server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

async fn sdk_server() -> std::net::SocketAddr {
    let server = Server::builder("server", "1")
        .tool("echo", "Repeats", async |text: Echo, _| Ok(text.text))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = server.http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_conversation_is_clean_and_faults_are_the_same_in_the_record() {
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::start(sdk_server().await, policy).await;
        let url = format!("http://{}/mcp", proxy.address);
        let client = Client::builder("client", "1").connect_http(&url).await.unwrap();
        client.list_tools(None).await.unwrap();
        client.close().await;
        let outcome = proxy.stop().await;
        assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
        assert!(outcome.counts.messages >= 4, "{:?}", outcome.counts);
        outcome.assert_same();
    }
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::start(sdk_server().await, policy).await;
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            "{",
            "[]",
        ] {
            let (status, _) = parts(&raw_client(proxy.address, &post(body, "")).await);
            assert!(status == 200 || (400..500).contains(&status), "{status}");
        }
        let outcome = proxy.stop().await;
        assert!(outcome.live.len() >= 4, "{:?}", outcome.live);
        outcome.assert_same();
    }
}

#[tokio::test]
async fn credentials_do_not_reach_the_record() {
    let answer = "HTTP/1.1 200 OK\r\nSet-Cookie: secret-cookie\r\nContent-Length: 0\r\n\r\n";
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let request = post(&body, "Authorization: Bearer secret-token\r\nCookie: secret-crumb\r\n");
    let (upstream, serving) = raw_server(request.len() - 30, answer.into()).await;
    let proxy = Proxy::start(upstream, Policy::observe()).await;
    raw_client(proxy.address, &request).await;
    let received = String::from_utf8(serving.await.unwrap()).unwrap();
    assert!(received.contains("Bearer secret-token") && received.contains("secret-crumb"));
    let outcome = proxy.stop().await;
    assert!(!outcome.record.contains("secret"), "{}", outcome.record);
    assert!(outcome.record.contains("Bearer xxxxxxxxxxxx"), "{}", outcome.record);
}

/// Shows lines of stdio to a tap that records to `path`; each has a conversation, a side and a text.
fn record(path: &Path, settings: RecordSettings, lines: &[(Option<&str>, Side, String)]) -> Counts {
    let recorder = Some(Recorder::with(path, "run", settings).unwrap());
    let tap = Tap::new(engine(), TapSettings { recorder, ..TapSettings::default() });
    for (session, from, text) in lines {
        let seen = Observation::stdio(*from, text.clone());
        tap.observe(seen.in_session(session.map(Arc::from)));
    }
    tap.finish()
}

/// A flawless conversation of `count` calls, each answered after the next is asked.
fn conversation(
    session: Option<&'static str>,
    count: u32,
) -> Vec<(Option<&'static str>, Side, String)> {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let opened = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let mut lines = vec![
        (session, Side::Client, initialize.to_owned()),
        (session, Side::Server, opened.to_owned()),
        (
            session,
            Side::Client,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        ),
    ];
    let ask = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    lines.push((session, Side::Client, ask(1)));
    for id in 1..count {
        lines.push((session, Side::Client, ask(id + 1)));
        lines.push((session, Side::Server, answer(id)));
    }
    lines.push((session, Side::Server, answer(count)));
    lines
}

/// The names of the files in a folder, and the names of those that were rotated out by number.
fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    names
}

fn sized(max_size: u64) -> RecordSettings {
    let mut settings = RecordSettings::default();
    settings.max_size = Some(max_size);
    settings
}

#[test]
fn a_recording_is_divided_by_size_and_each_part_is_clean_by_itself() {
    let lines = conversation(None, 500);
    for max in [600, 1_000, 4_000, 20_000] {
        let folder = tempfile::tempdir().unwrap();
        let counts = record(&folder.path().join("r.jsonl"), sized(max), &lines);
        assert!(!counts.record_failed);
        let names = files(folder.path());
        assert!(names.len() > 2, "{names:?}");
        let mut recorded = 0;
        for name in &names {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(text.len() as u64 <= max && text.ends_with('\n'), "{name}: {}", text.len());
            assert_eq!(findings_in(&text), [""; 0], "{name} of {max}");
            recorded += text.lines().filter(|line| line.contains("\"msg\"")).count();
            let is_continued = text.trim_end().ends_with("\"lost\":0}");
            assert_eq!(is_continued, name != "r.jsonl", "{name}");
        }
        assert_eq!(recorded, lines.len(), "nothing is lost between files");
    }
}

#[test]
fn only_the_newest_files_are_kept_and_numbers_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    fs::write(folder.path().join("r.other.jsonl"), "mine").unwrap();
    let mut settings = sized(2_000);
    settings.keep = Some(3);
    record(&path, settings.clone(), &conversation(None, 200));
    let names = files(folder.path());
    let [first, .., last] = &names[..] else { panic!("{names:?}") };
    assert_eq!((names.len(), &**first, &**last), (5, "r.jsonl", "r.other.jsonl"), "{names:?}");
    let newest = |names: &[String]| -> u64 {
        let numbers = names.iter().filter_map(|name| name.split('.').nth(1)?.parse().ok());
        numbers.max().unwrap()
    };
    let before = newest(&names);
    record(&path, settings, &conversation(None, 200));
    let names = files(folder.path());
    assert!(newest(&names) > before, "{names:?}");
    assert_eq!(names.len(), 5, "{names:?}");
}

#[test]
fn every_conversation_gets_a_file_that_holds_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    // More of them than files may be open, all at the same time.
    let names: Vec<&'static str> =
        (0..150).map(|number| &*Box::leak(format!("s{number}").into_boxed_str())).collect();
    let each: Vec<_> = names.iter().map(|name| conversation(Some(name), 4)).collect();
    let lines: Vec<_> =
        (0..each[0].len()).flat_map(|row| each.iter().map(move |one| one[row].clone())).collect();
    let mut settings = RecordSettings::default();
    settings.per_conversation = true;
    let counts = record(&path, settings.clone(), &lines);
    assert_eq!((counts.lines, counts.record_failed), (lines.len() as u64, false));
    assert_eq!(files(&path).len(), names.len());
    for (number, name) in names.iter().enumerate() {
        let text = fs::read_to_string(path.join(format!("run-{}.jsonl", number + 1))).unwrap();
        assert_eq!(text.lines().count(), each[0].len());
        assert!(text.lines().all(|line| line.contains(&format!("\"session\":\"{name}\""))));
        assert_eq!(findings_in(&text), [""; 0]);
    }
    settings.keep = Some(10);
    let other = folder.path().join("kept");
    record(&other, settings.clone(), &each.concat());
    assert_eq!(files(&other).len(), 11, "ten that are finished, and the last");
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(Recorder::with(&file, "run", settings).is_err());
}
