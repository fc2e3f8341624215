//! A server of our own must be spotless at every revision, and a run must be repeatable.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{net::Ipv4Addr, sync::Arc};

use http::HeaderMap;
use mcp_core::Revision;
use mcp_probe::{Event, Outcome, Phase, Report, Run, Seed, Settings, Target};
use mcp_rules::{Engine, Layer};
use mcp_schema::Schemas;
use mcp_sdk::Server;
use mcp_transport::{
    WsListener,
    http::server::{HttpSettings, ServeSettings, serve},
    ws::WsServerSettings,
};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
struct Words {
    text: String,
}

fn server() -> Server {
    Server::builder("spotless", "1.0.0")
        .tool("count_words", "Counts words", async |words: Words, _| {
            Ok(words.text.split_whitespace().count().to_string())
        })
        .build()
        .unwrap()
}

async fn start() -> String {
    let server = server();
    let listener = mcp_transport::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let service = server.http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));
    url
}

async fn test(url: &str, settings: Settings) -> Report {
    let target = Target::url(url, HeaderMap::new()).unwrap();
    let engine = Arc::new(Engine::new(Schemas::embedded(), mcp_rules::Settings::default()));
    let mut ignored = |_: &Event<'_>| {};
    Run::new(target, engine, settings).run(&mut ignored).await.unwrap()
}

#[track_caller]
fn assert_spotless(report: &Report) {
    let found: Vec<String> = report
        .results
        .iter()
        .flat_map(|result| result.failures.iter().map(move |failure| (result, failure)))
        .map(|(result, failure)| {
            let finding = &failure.finding;
            format!(
                "{} {}: {} {}",
                result.name, result.revision, finding.rule.name, finding.message
            )
        })
        .collect();
    assert_eq!(found, [""; 0]);
    assert_eq!(report.restarts, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_ours_is_spotless_at_every_revision() {
    let url = start().await;
    let settings = Settings {
        revisions: Revision::ALL.to_vec(),
        phases: vec![Phase::Protocol],
        ..Settings::default()
    };
    let report = test(&url, settings).await;
    assert_eq!(report.found.offers.len(), Revision::ALL.len(), "{:?}", report.found.refused);
    assert_spotless(&report);
    let passed = report.results.iter().filter(|result| result.outcome == Outcome::Passed).count();
    assert!(passed > 150, "{passed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_ours_is_spotless_over_web_socket() {
    let address = (Ipv4Addr::LOCALHOST, 0);
    let listener = WsListener::bind(address, WsServerSettings::default()).await.unwrap();
    let url = format!("ws://{}", listener.local_addr());
    tokio::spawn(async move { server().serve_ws_on(listener, std::future::pending()).await });
    let settings = Settings { revisions: Revision::ALL.to_vec(), ..Settings::default() };
    let report = test(&url, settings).await;
    assert_eq!(report.found.offers.len(), Revision::ALL.len(), "{:?}", report.found.refused);
    assert_spotless(&report);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_sends_the_same_messages() {
    let url = start().await;
    let settings = Settings {
        seed: Seed::new(7),
        only: vec!["ids".into(), "requests".into(), "lists".into()],
        ..Settings::default()
    };
    let sent = |report: &Report| -> Vec<Vec<String>> {
        let said = |text: Vec<u8>| {
            let lines = String::from_utf8(text).unwrap();
            let of_client = lines.lines().filter(|line| line.starts_with("{\"from\":\"client\""));
            // What a session is called is up to the server.
            of_client
                .filter_map(|line| {
                    let record: serde_json::Value = serde_json::from_str(line).unwrap();
                    record.get("msg").map(ToString::to_string)
                })
                .collect()
        };
        report.recordings.iter().map(|recording| said(recording.text())).collect()
    };
    let first = test(&url, settings.clone()).await;
    let second = test(&url, settings).await;
    assert_eq!(sent(&first), sent(&second));
    assert_eq!(first.results.len(), second.results.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_sends_nothing_but_questions_about_the_offer() {
    let url = start().await;
    let report = test(&url, Settings { dry_run: true, ..Settings::default() }).await;
    assert!(report.recordings.iter().all(|recording| recording.name().contains("discover")));
    assert!(report.results.iter().any(|result| result.outcome == Outcome::Planned));
}

#[test]
fn every_rule_about_behaviour_is_in_the_catalogue() {
    let count = mcp_rules::catalogue().filter(|rule| rule.layer == Layer::Behaviour).count();
    assert!(count >= 25, "{count}");
}
