//! The phase `tools`: nothing is found about servers of ours that keep to their schemas, what is
//! wrong with others is found by the rule that is meant, and everything can be repeated.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc, time::Duration};

use http::HeaderMap;
use mcp_core::Revision;
use mcp_probe::{Event, Limits, Outcome, Phase, Report, Run, Safety, Seed, Settings, Target};
use mcp_rules::Engine;
use mcp_schema::Schemas;
use mcp_sdk::{Failure, Server};
use mcp_transport::http::server::{HttpSettings, ServeSettings, serve};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize, JsonSchema)]
struct Text {
    text: String,
    #[serde(default)]
    prefix: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the schema matters")]
struct Search {
    #[schemars(length(min = 1, max = 50))]
    query: String,
    #[schemars(range(min = 1, max = 20))]
    limit: Option<u32>,
    order: Option<Order>,
    tags: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Newest,
    Oldest,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

async fn start() -> String {
    let server = Server::builder("spotless", "1.0.0")
        .tool("echo", "Echoes its text", async |text: Text, _| Ok(text.prefix + &text.text))
        .tool("search", "Searches", async |_: Search, _| Ok("nothing found".to_owned()))
        .tool("status", "Tells the status", async |_: Nothing, _| Ok("ready".to_owned()))
        .build()
        .unwrap();
    serve_it(server).await
}

async fn serve_it(server: Server) -> String {
    let listener = mcp_transport::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let service = server.http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));
    url
}

fn settings() -> Settings {
    Settings {
        phases: vec![Phase::Tools],
        safety: Safety { allow_destructive: true, ..Safety::default() },
        seed: Seed::new(7),
        ..Settings::default()
    }
}

async fn test(url: &str, settings: Settings) -> Report {
    let target = Target::url(url, HeaderMap::new()).unwrap();
    let engine = Arc::new(Engine::new(Schemas::embedded(), mcp_rules::Settings::default()));
    let mut ignored = |_: &Event<'_>| {};
    Run::new(target, engine, settings).run(&mut ignored).await.unwrap()
}

/// What the client has sent, in all conversations.
fn sent(report: &Report) -> Vec<Value> {
    let texts = report.recordings.iter().map(|recording| recording.text());
    let lines = texts.flat_map(|text| {
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let of_client = lines.filter(|line| line.starts_with("{\"from\":\"client\""));
    of_client
        .filter_map(|line| serde_json::from_str::<Value>(&line).unwrap().get("msg").cloned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_keep_to_their_schemas_are_spotless() {
    let url = start().await;
    let report = test(&url, Settings { revisions: Revision::ALL.to_vec(), ..settings() }).await;
    let found: Vec<String> = report
        .results
        .iter()
        .flat_map(|result| result.failures.iter().map(move |failure| (result, failure)))
        .map(|(result, failure)| format!("{}: {:?}", result.name, failure.finding))
        .collect();
    assert_eq!(found, [""; 0]);
    let passed = |name: &str| {
        let named = report.results.iter().filter(|result| result.name == name);
        named.filter(|result| result.outcome == Outcome::Passed).count()
    };
    for name in [
        "tools/echo/valid",
        "tools/echo/invalid",
        "tools/echo/hostile",
        "tools/echo/echo",
        "tools/echo/optional",
        "tools/search/valid",
        "tools/search/invalid",
        "tools/search/optional",
        "tools/status/no-arguments",
        "tools-without-capabilities",
    ] {
        assert_eq!(passed(name), Revision::ALL.len(), "{name}");
    }
    let calls = sent(&report).iter().filter(|message| message["method"] == "tools/call").count();
    assert!(calls > 300, "{calls}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_sends_the_same_calls() {
    let url = start().await;
    let first = sent(&test(&url, settings()).await);
    let second = sent(&test(&url, settings()).await);
    assert_eq!(first, second);
    let other = sent(&test(&url, Settings { seed: Seed::new(8), ..settings() }).await);
    assert_ne!(first, other);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_alone_sends_what_it_sends_among_others() {
    let url = start().await;
    let calls = |messages: Vec<Value>| -> Vec<Value> {
        let calls = messages.into_iter().filter(|message| message["method"] == "tools/call");
        calls.map(|message| message["params"]["arguments"].clone()).collect()
    };
    let all = calls(sent(&test(&url, settings()).await));
    let only = Settings { only: vec!["tools/search/invalid".into()], ..settings() };
    let alone = calls(sent(&test(&url, only).await));
    assert!(alone.len() > 10, "{alone:?}");
    let is_part = all.windows(alone.len() / 2).any(|part| part == &alone[..alone.len() / 2]);
    assert!(is_part, "{alone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_may_write_are_left_alone_and_said_so() {
    let url = start().await;
    let report = test(&url, Settings { safety: Safety::default(), ..settings() }).await;
    assert!(sent(&report).iter().all(|message| message["method"] != "tools/call"));
    let reasons: Vec<_> =
        report.results.iter().filter(|result| result.name == "tools/echo").collect();
    assert!(!reasons.is_empty());
    for result in reasons {
        let Outcome::Skipped(reason) = &result.outcome else { panic!("{:?}", result.outcome) };
        assert!(reason.contains("--allow-destructive"), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn given_arguments_are_used_first() {
    let url = start().await;
    let given = json!({ "query": "given" });
    let mut settings = Settings { only: vec!["tools/search/valid".into()], ..settings() };
    settings.arguments.insert("search".into(), vec![given.clone(), json!({ "query": 7 })]);
    let messages = sent(&test(&url, settings).await);
    let first = messages.iter().find(|message| message["method"] == "tools/call").unwrap();
    assert_eq!(first["params"]["arguments"], given);
    let wrong = json!({ "query": 7 });
    assert!(messages.iter().all(|message| message["params"]["arguments"] != wrong));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_calls_holds() {
    let url = start().await;
    let limits = Limits { calls: 20, ..Limits::default() };
    let report = test(&url, Settings { limits, ..settings() }).await;
    let calls = sent(&report).iter().filter(|message| message["method"] == "tools/call").count();
    assert_eq!(calls, 20);
    let skipped = |result: &mcp_probe::ProbeResult| matches!(&result.outcome, Outcome::Skipped(reason) if reason.contains("20 calls"));
    assert!(report.results.iter().any(skipped));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_the_calls() {
    let url = start().await;
    let target = Target::url(&url, HeaderMap::new()).unwrap();
    let engine = Arc::new(Engine::new(Schemas::embedded(), mcp_rules::Settings::default()));
    let mut shown = Vec::new();
    let mut reporter = |event: &Event<'_>| {
        if let Event::ProbeFinished { probe, outcome: Outcome::Planned, .. } = event {
            shown.extend(probe.preview.clone());
        }
    };
    let settings = Settings { dry_run: true, ..settings() };
    Run::new(target, engine, settings).run(&mut reporter).await.unwrap();
    assert!(shown.iter().any(|line| line.starts_with("tools/call {\"arguments\":{\"prefix\"")));
    assert!(shown.contains(&"tools/call {\"name\":\"status\"}".to_owned()), "{shown:?}");
}

/// What is found about a server with one more tool.
async fn found(server: mcp_sdk::ServerBuilder, only: &str) -> Vec<(String, String)> {
    let url = serve_it(server.build().unwrap()).await;
    let report = test(&url, Settings { only: vec![only.into()], ..settings() }).await;
    let failures = report.results.iter().flat_map(|result| {
        result.failures.iter().map(|failure| (result.name.clone(), failure.finding.rule.name))
    });
    let mut failures: Vec<_> = failures.map(|(name, rule)| (name, rule.to_owned())).collect();
    failures.dedup();
    failures
}

fn one(name: &str, rule: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), rule.to_owned())]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_echo_that_changes_text_is_found() {
    let server = Server::builder("mangles", "1.0.0")
        .tool("echo", "Echoes its text", async |text: Text, _| {
            Ok(text.prefix + &text.text.replace(|letter: char| u32::from(letter) > 0xffff, "?"))
        })
        // Says nothing about returning its text, and may do with it what it likes.
        .tool("clean", "Cleans its text", async |text: Text, _| {
            Ok(text.text.replace(|letter: char| !letter.is_ascii(), ""))
        });
    assert_eq!(found(server, "tools").await, one("tools/echo/echo", "argument-not-returned"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_optional_argument_that_is_required_is_found() {
    let server = Server::builder("wants", "1.0.0")
        .tool("search", "Searches", async |search: Search, _| match search.limit {
            Some(_) => Ok("nothing found".to_owned()),
            None => Err(Failure::new("limit is required")),
        })
        // Always fails, so nothing can be said about what it needs.
        .tool("broken", "Fails", async |_: Search, _| {
            Err::<String, _>(Failure::new("out of order"))
        });
    let expected = one("tools/search/optional", "optional-argument-required");
    assert_eq!(found(server, "tools").await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_in_errors_are_found_unless_they_were_sent() {
    let server = Server::builder("leaks", "1.0.0")
        .tool("status", "Tells the status", async |_: Nothing, _| {
            Err::<String, _>(Failure::new("cannot open '/home/deploy/app/status.json'"))
        })
        .tool("open", "Opens a file", async |text: Text, _| {
            // As it came, escaped, and made absolute.
            let text = text.text;
            let is_name = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
            let folder = if is_name && text.len() > 2 { "/var/lib/files/" } else { "" };
            let message = format!("cannot open {text}, {text:?} or {folder}{text}");
            Err::<String, _>(Failure::new(message))
        });
    let found = found(server, "tools").await;
    assert!(found.iter().all(|(_, rule)| rule == "internals-leaked"), "{found:?}");
    assert!(found.iter().any(|(name, _)| name == "tools/status/valid"), "{found:?}");
    assert!(found.iter().all(|(name, _)| !name.starts_with("tools/open")), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_needs_a_listener_is_not_blamed() {
    let (listens, heard) = tokio::sync::watch::channel(false);
    let server = Server::builder("asks", "1.0.0")
        .principal(move |request| {
            listens.send_if_modified(|listens| {
                let begins = !*listens && request.method == http::Method::GET;
                *listens |= begins;
                begins
            });
            None
        })
        // As if it asked for roots on the stream of the GET.
        .tool("roots", "Tells the roots", move |_: Nothing, _| {
            let mut heard = heard.clone();
            async move {
                let _ = heard.wait_for(|heard| *heard).await;
                Ok("none".to_owned())
            }
        })
        .tool("stuck", "Never answers", async |_: Nothing, _| {
            std::future::pending::<()>().await;
            Ok("never".to_owned())
        });
    let url = serve_it(server.build().unwrap()).await;
    let limits = Limits { answer: Duration::from_millis(300), ..Limits::default() };
    let report = test(&url, Settings { limits, only: vec!["tools".into()], ..settings() }).await;
    let blamed: BTreeSet<_> = report
        .results
        .iter()
        .filter(|result| result.revision < Revision::V2026_07_28 && !result.failures.is_empty())
        .map(|result| result.name.as_str())
        .collect();
    assert_eq!(blamed, BTreeSet::from(["tools/stuck/valid"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_call_in_a_walk_is_no_fault() {
    let server = Server::builder("slow", "1.0.0")
        .tool("status", "Tells the status", async |_: Nothing, _| Ok("ready".to_owned()))
        .tool("report", "Takes its time", async |_: Nothing, _| {
            std::future::pending::<()>().await;
            Ok("never".to_owned())
        });
    let url = serve_it(server.build().unwrap()).await;
    let limits = Limits { answer: Duration::from_millis(300), ..Limits::default() };
    let phases = vec![Phase::Stateful];
    let report = test(&url, Settings { limits, phases, ..settings() }).await;
    assert!(report.failures().next().is_none(), "{:?}", report.results);
    let calls = sent(&report).iter().filter(|call| call["params"]["name"] == "report").count();
    assert!(calls > 0, "no walk came to it");
}
