//! Several servers behind one address.

use std::sync::{Arc, Mutex};

use mcp_proxy::{Access, Policy, ProxiedServer, ProxiedServerSettings, Routes, metrics::Metrics};
use mcp_transport::http::server::{ServeSettings, serve};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{Recording, parts, raw_client, raw_server};

const PING: &str = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;

fn post(path: &str, headers: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{PING}",
        PING.len()
    )
    .into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_prefix_leads_to_its_server_and_is_named_everywhere() {
    let answer = |text: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"a","result":{{"x":"{text}"}}}}"#);
        let kind = "Content-Type: application/json";
        format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}\r\n\r\n{text}", text.len())
    };
    let (files, files_got) = raw_server(100, answer("files").into_bytes()).await;
    let (git, git_got) = raw_server(100, answer("git").into_bytes()).await;
    let recording = Recording::new(Policy::observe());
    let mut settings = ProxiedServerSettings::default();
    settings.token = Some("right".into());
    let mut routes = Vec::new();
    for (name, upstream) in [("files", files), ("files/git", git)] {
        settings.name = Some(name.into());
        let tap = recording.tap.for_upstream(name.into());
        let url = format!("http://{upstream}/mcp");
        let entrance = ProxiedServer::to_url(&url, &Access::default(), &tap, &settings).unwrap();
        routes.push((format!("/{name}").parse().unwrap(), entrance));
    }
    let routes = Routes::new(routes, settings);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let never = std::future::pending();
    tokio::spawn(serve(listener, routes.clone(), ServeSettings::default(), never));
    let right = "Authorization: Bearer right\r\n";
    for (path, expected, server_sees, got) in [
        ("/files", "files", "POST /mcp HTTP/1.1", files_got),
        ("/files/git/other?a=b", "git", "POST /other?a=b HTTP/1.1", git_got),
    ] {
        let (status, text) = parts(&raw_client(address, &post(path, right)).await);
        assert_eq!(status, 200, "{text}");
        let text: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text["result"]["x"], expected);
        let got = String::from_utf8(got.await.unwrap()).unwrap();
        assert!(got.starts_with(server_sees), "{got}");
    }
    for (path, headers, expected) in
        [("/other", "", 401), ("/other", right, 404), ("/filesystem", right, 404)]
    {
        let (status, text) = parts(&raw_client(address, &post(path, headers)).await);
        assert_eq!(status, expected, "{text}");
        let answer: Value = serde_json::from_str(&text).unwrap();
        if expected == 404 {
            let prefixes = &answer["error"]["data"]["prefixes"];
            assert_eq!(prefixes, &json!(["/files", "/files/git"]));
        }
    }
    routes.close().await;
    let outcome = recording.finish().await;
    let sessions: Vec<Value> = outcome
        .record
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["session"].take())
        .collect();
    assert_eq!(sessions, ["files", "files", "files/git", "files/git"]);
    outcome.assert_same();
}

#[tokio::test]
async fn figures_have_the_name_of_the_server() {
    let metrics = Metrics::of_upstreams(&["files".into(), "git".into()]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&seen);
    let mut count = metrics.watcher();
    let recording = Recording::watched(
        Policy::observe(),
        Box::new(move |event| {
            let observation = event.observation.unwrap();
            names.lock().unwrap().push(observation.upstream().cloned());
            count(event);
        }),
    );
    let tap = recording.tap.for_upstream("git".into());
    tap.observe(mcp_proxy::Observation::stdio(mcp_core::Side::Client, PING));
    tap.observe(mcp_proxy::Observation::stdio(mcp_core::Side::Client, "nonsense"));
    recording.finish().await;
    assert_eq!(*seen.lock().unwrap(), [Some("git".into()), Some("git".into())]);
    let text = metrics.encode();
    for expected in [
        r#"messages_total{upstream="git",from="client",kind="request",method="ping"} 1"#,
        r#"findings_total{upstream="git",rule="stdin-non-json",severity="error",side="client"} 1"#,
        r#"text_bytes_total{upstream="files",from="client"} 0"#,
    ] {
        assert!(text.contains(expected), "{text}");
    }
}
