//! A client of our own must be spotless at every revision, over a command and over a URL.
//!
//! This program is also the client, and the server that it starts, so it has no test harness.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test, which fails by panicking")]

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use mcp_core::Revision;
use mcp_probe::{
    Event, Launch, Outcome, Report,
    client::{self, ClientRun, ClientSettings, ClientUnderTest, ConnectVia},
};
use mcp_rules::Engine;
use mcp_schema::Schemas;
use mcp_sdk::{Client, transport::ChildCommand};
use serde_json::json;

const RELAY: &str = "--relay";
const CLIENT: &str = "--client";

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [RELAY, address, token] => client::relay(address, token).unwrap(),
        [CLIENT, target, ..] => {
            if visit(target, &words[2..]).await.is_err() {
                std::process::exit(1);
            }
        }
        ["--list", ..] => println!("sdk_client: test"),
        _ => {
            assert_spotless(&test("{server}", None).await, Revision::ALL.len());
            // 2024-11-05 has another HTTP transport.
            assert_spotless(&test("{url}", None).await, Revision::ALL.len() - 1);
            let only = Some(Revision::V2025_06_18);
            assert_spotless(&test("{server}", only).await, 1);
            println!("a client of ours is spotless");
        }
    }
}

/// Does what a small client does.
async fn visit(target: &str, arguments: &[String]) -> anyhow::Result<()> {
    let builder = Client::builder("spotless", "1.0.0");
    let client = if target.starts_with("http://") {
        builder.connect_http(target).await?
    } else {
        builder.connect_child(&ChildCommand::new(target).args(arguments)).await?
    };
    if client.server_capabilities().is_some_and(|offers| offers.tools.is_some()) {
        client.tools().try_collect::<Vec<_>>().await?;
        client.call_tool("echo", json!({ "text": "hello" })).await?;
    }
    client.close().await;
    Ok(())
}

async fn test(target: &str, only: Option<Revision>) -> Report {
    let own = std::env::current_exe().unwrap();
    let client = ClientUnderTest {
        launch: Launch {
            program: own.clone().into(),
            arguments: vec![CLIENT.into(), target.into()],
            ..Launch::default()
        },
        connect_via: ConnectVia::CommandOrUrl,
        server: vec![own.into(), RELAY.into()],
    };
    let engine = Arc::new(Engine::new(Schemas::embedded(), mcp_rules::Settings::default()));
    let settings =
        ClientSettings { revisions: only.into_iter().collect(), ..ClientSettings::default() };
    let mut ignored = |_: &Event<'_>| {};
    ClientRun::new(client, engine, settings).run(&mut ignored).await.unwrap()
}

#[track_caller]
fn assert_spotless(report: &Report, revisions: usize) {
    let found: Vec<String> = report
        .results
        .iter()
        .flat_map(|result| result.failures.iter().map(move |failure| (result, failure)))
        .map(|(result, failure)| {
            let finding = &failure.finding;
            let (name, revision) = (&result.name, result.revision);
            format!("{name} {revision}: {} {}", finding.rule.name, finding.message)
        })
        .collect();
    assert_eq!(found, [""; 0]);
    let plain = report.results.iter().filter(|result| result.name == "handshake/plain").count();
    assert_eq!(plain, revisions);
    let passed = report.results.iter().filter(|result| result.outcome == Outcome::Passed).count();
    assert!(passed > 25, "{passed}");
}
