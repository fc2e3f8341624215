//! Faults that show only after certain steps are found and shrunk to those steps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use http::HeaderMap;
use mcp_core::Revision;
use mcp_probe::{
    Event, Failure, Launch, Outcome, Phase, Report, Run, Safety, Seed, Settings, Target,
};
use mcp_rules::Engine;
use mcp_schema::Schemas;
use serde_json::Value;

const SERVER: &str = env!("CARGO_BIN_EXE_faulty-server");

fn over_stdio(fault: Option<&str>) -> Target {
    let arguments = fault.iter().flat_map(|fault| ["--fault", fault]).map(Into::into).collect();
    Target::Command(Launch { program: SERVER.into(), arguments, ..Launch::default() })
}

/// An HTTP server, killed on drop.
struct Served(Child, String);

impl Served {
    fn start(fault: Option<&str>) -> Served {
        let mut command = Command::new(SERVER);
        command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
        command.args(fault.iter().flat_map(|fault| ["--fault", fault]));
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Served(child, url.trim().to_owned())
    }

    fn target(&self) -> Target {
        Target::url(&self.1, HeaderMap::new()).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn walks(revisions: &[Revision]) -> Settings {
    Settings {
        seed: Seed::new(1),
        phases: vec![Phase::Stateful],
        revisions: revisions.to_vec(),
        safety: Safety { allow_writes: true, ..Safety::default() },
        ..Settings::default()
    }
}

async fn test(target: Target, settings: Settings) -> Report {
    let engine = Arc::new(Engine::new(Schemas::embedded(), mcp_rules::Settings::default()));
    let mut ignored = |_: &Event<'_>| {};
    Run::new(target, engine, settings).run(&mut ignored).await.unwrap()
}

/// The client's messages before a failure, without the opening and the liveness check.
fn said(failure: &Failure) -> Vec<String> {
    let text = String::from_utf8(failure.recording.text()).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let last = failure.finding.line.unwrap_or(u64::MAX);
    let of_client = (1..).zip(records).filter(|(line, it)| *line <= last && it["from"] == "client");
    let methods = of_client.filter_map(|(_, it)| Some(it["msg"]["method"].as_str()?.to_owned()));
    let is_opening = |method: &str| {
        matches!(method, "initialize" | "notifications/initialized" | "server/discover")
    };
    methods.filter(|method| !is_opening(method)).collect()
}

/// The report of the first seed with which a rule is broken, since walks are random.
async fn found(target: &Target, settings: &Settings, is_meant: impl Fn(&str) -> bool) -> Report {
    let mut others = Vec::new();
    for seed in 1..=8 {
        let settings = Settings { seed: Seed::new(seed), ..settings.clone() };
        let report = test(target.clone(), settings).await;
        if report.failures().any(|failure| is_meant(failure.finding.rule.name)) {
            return report;
        }
        others.extend(report.failures().map(|failure| failure.finding.rule.name));
    }
    panic!("nothing was found but {others:?}");
}

#[track_caller]
fn first<'r>(report: &'r Report, rule: &str) -> &'r Failure {
    let found: Vec<&str> = report.failures().map(|failure| failure.finding.rule.name).collect();
    report
        .failures()
        .find(|failure| failure.finding.rule.name == rule)
        .unwrap_or_else(|| panic!("no {rule} in {found:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn dying_at_a_list_after_a_subscription_takes_two_steps() {
    let target = over_stdio(Some("list-after-subscribe-dies"));
    let settings = walks(&[Revision::V2025_11_25]);
    let report = found(&target, &settings, |rule| rule == "server-died").await;
    let said = said(first(&report, "server-died"));
    assert_eq!(said, ["resources/subscribe", "tools/list"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_third_call_takes_three_calls() {
    let target = over_stdio(Some("third-call-empty"));
    let report = test(target, walks(&[Revision::V2025_11_25])).await;
    let said_so = said(first(&report, "result-invalid"));
    assert_eq!(said_so, ["tools/call"; 3]);
    let served = Served::start(Some("third-call-empty"));
    let report = test(served.target(), walks(&[Revision::V2025_06_18])).await;
    assert_eq!(said(first(&report, "result-invalid")), ["tools/call"; 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_hangs_after_a_subscription_has_ended_is_found() {
    let mut settings = walks(&[Revision::V2025_11_25]);
    settings.limits.answer = std::time::Duration::from_secs(2);
    let report = found(&over_stdio(Some("unsubscribe-wedges")), &settings, |_| true).await;
    let said = said(report.failures().next().unwrap());
    let at = |method: &str| said.iter().position(|said| said == method);
    // How far it shrinks depends on the speed of the machine.
    let ended = at("resources/unsubscribe").unwrap();
    assert!(at("resources/subscribe").unwrap() < ended, "{said:?}");
    assert!(said[ended..].iter().any(|said| said == "resources/read"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn dying_at_a_second_subscription_takes_two_of_them() {
    let report =
        test(over_stdio(Some("second-listen-dies")), walks(&[Revision::V2026_07_28])).await;
    assert_eq!(said(first(&report, "server-died")), ["subscriptions/listen"; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_read_after_a_cancellation_takes_both_also_over_http() {
    let fault = Some("read-after-cancel-empty");
    let served = Served::start(fault);
    for target in [over_stdio(fault), served.target()] {
        let report = test(target, walks(&[Revision::V2025_11_25])).await;
        let said = said(first(&report, "result-invalid"));
        let steps: Vec<&String> = said.iter().filter(|said| *said != "ping").collect();
        assert_eq!(steps, ["tools/call", "notifications/cancelled", "resources/read"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_tasks_are_found_and_take_as_many_steps_as_they_need() {
    for (fault, rule, steps) in [
        ("task-result-unrelated", "task-result-related-missing", &["tasks/result"][..]),
        ("task-revives", "task-result-not-blocking", &["tasks/result", "tasks/get"]),
    ] {
        let served = Served::start(Some(fault));
        for target in [over_stdio(Some(fault)), served.target()] {
            let settings = walks(&[Revision::V2025_11_25]);
            let report = found(&target, &settings, |found| found == rule).await;
            let said = said(first(&report, rule));
            assert_eq!(said, [&["tools/call"], steps].concat(), "{fault}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_with_its_stream_takes_the_end_of_a_stream() {
    let served = Served::start(Some("http-get-end-ends-session"));
    let settings = walks(&[Revision::V2025_11_25]);
    let report = found(&served.target(), &settings, |rule| rule == "answer-missing").await;
    let failure = first(&report, "answer-missing");
    let text = String::from_utf8(failure.recording.text()).unwrap();
    let left = r#"{"from":"client","http":{"exchange":"#;
    let is_end = |line: &str| line.starts_with(left) && line.ends_with(r#""end":true}}"#);
    let at = text.lines().position(is_end).unwrap() as u64;
    assert!(failure.finding.line > Some(at), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_end_of_a_subscription_breaks_is_found_over_http() {
    let served = Served::start(Some("http-listen-end-breaks-lists"));
    let settings = walks(&[Revision::V2026_07_28]);
    let report = found(&served.target(), &settings, |rule| rule == "answer-missing").await;
    let said = said(first(&report, "answer-missing"));
    assert!(said.last().unwrap().ends_with("/list"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_closing_the_connection_of_a_call_breaks_is_found() {
    let served = Served::start(Some("http-hang-up-breaks-calls"));
    let settings = walks(&[Revision::V2026_07_28]);
    let report = found(&served.target(), &settings, |rule| rule == "answer-missing").await;
    let said = said(first(&report, "answer-missing"));
    assert_eq!(said.last().unwrap(), "tools/call", "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_that_nobody_is_told_of_are_found_over_every_transport() {
    for (fault, revision) in [
        ("tool-list-changed-missing", Revision::V2025_11_25),
        ("listen-untold", Revision::V2026_07_28),
    ] {
        let served = Served::start(Some(fault));
        for target in [over_stdio(Some(fault)), served.target()] {
            let report = found(&target, &walks(&[revision]), |rule| rule == "list-unstable").await;
            let said = said(first(&report, "list-unstable"));
            let call = said.iter().position(|said| said == "tools/call").unwrap();
            assert!(said[..call].iter().any(|said| said.ends_with("/list")), "{fault} {said:?}");
            assert!(said[call..].iter().any(|said| said.ends_with("/list")), "{fault} {said:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_that_nobody_subscribed_to_are_heard_on_the_stream_of_a_get() {
    let served = Served::start(Some("http-sessions-mixed"));
    let settings = walks(&[Revision::V2025_11_25]);
    let rule = "resource-updated-not-subscribed";
    let report = found(&served.target(), &settings, |found| found == rule).await;
    first(&report, rule);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_fault_nothing_is_found() {
    let served = Served::start(None);
    for target in [over_stdio(None), served.target()] {
        for seed in [1, 2, 3] {
            let mut settings = walks(&Revision::ALL);
            settings.seed = Seed::new(seed);
            let report = test(target.clone(), settings).await;
            let found: Vec<String> = report
                .results
                .iter()
                .flat_map(|result| result.failures.iter().map(move |it| (result, it)))
                .map(|(result, failure)| {
                    let text = String::from_utf8(failure.recording.text()).unwrap();
                    format!(
                        "{} {}: {} {} line {:?}\n{text}",
                        result.name,
                        result.revision,
                        failure.finding.rule.name,
                        failure.finding.message,
                        failure.finding.line
                    )
                })
                .collect();
            assert!(found.is_empty(), "{}", found.join("\n"));
            let walked = report.results.iter().filter(|it| it.name.starts_with("walk/"));
            let passed = walked.filter(|result| result.outcome == Outcome::Passed).count();
            assert_eq!(passed, 6 * Revision::ALL.len());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_seed_sends_the_same_messages() {
    let sent = async |seed| {
        let mut settings = walks(&[Revision::V2025_11_25]);
        (settings.seed, settings.only) = (Seed::new(seed), vec!["walk/1".into()]);
        let report = test(over_stdio(None), settings).await;
        let walk = report.recordings.iter().find(|it| it.name().contains("walk")).unwrap();
        let text = String::from_utf8(walk.text()).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("{\"from\":\"client\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(sent(5).await, sent(5).await);
    assert_ne!(sent(5).await, sent(6).await);
}
