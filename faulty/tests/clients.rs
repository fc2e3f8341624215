//! Every fault of `faulty-client` is found by its rule, and by no other; without one it is spotless.
//!
//! This program is also the server that clients start, so it has no test harness.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test, which fails by panicking")]

use std::{collections::BTreeSet, ffi::OsString, process::Command, sync::Arc, time::Duration};

use mcp_core::Revision;
use mcp_probe::{
    Event, Launch, Limits, Outcome, Report,
    client::{self, ClientRun, ClientSettings, ClientUnderTest, Meeting},
};
use mcp_rules::Engine;
use mcp_schema::Schemas;
use tokio::{sync::Semaphore, task::JoinSet};

const CLIENT: &str = env!("CARGO_BIN_EXE_faulty-client");
const RELAY: &str = "--relay";
/// Tests that run at the same time.
const AT_ONCE: usize = 4;
/// What a fault breaks besides: a client that takes every read for a message fails whenever two
/// messages come close together.
const CONSEQUENCES: [(&str, &str); 2] = [
    ("reads-once", "unknown-notification-not-ignored"),
    ("reads-once", "notification-not-tolerated"),
];

/// A fault and where it shows, or none.
#[derive(Debug, Clone)]
struct Case {
    fault: String,
    shows: String,
    rule: String,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, address, token] = &words[..]
        && first == RELAY
    {
        client::relay(address, token).unwrap();
        return;
    }
    if words.iter().any(|word| word == "--list") {
        println!("clients: test");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let wrong = runtime.block_on(test_all(cases()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn test_all(cases: Vec<Case>) -> Vec<String> {
    let engine = Arc::new(Engine::new(Schemas::embedded(), mcp_rules::Settings::default()));
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut tests = JoinSet::new();
    for case in cases {
        let (engine, turns) = (Arc::clone(&engine), Arc::clone(&turns));
        tests.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            let report = test(&case, engine).await;
            judge(&case, &report)
        });
    }
    let count = tests.len();
    let wrong: Vec<String> = tests.join_all().await.into_iter().flatten().collect();
    println!("{} of {count} clients are judged as they should be", count - wrong.len());
    wrong
}

async fn test(case: &Case, engine: Arc<Engine>) -> Report {
    let is_modern = case.shows.starts_with("modern");
    let mut arguments: Vec<OsString> = Vec::new();
    if !case.fault.is_empty() {
        arguments.extend(["--fault".into(), case.fault.clone().into()]);
    }
    arguments.extend(is_modern.then(|| "--modern".into()));
    arguments.push(if case.shows.ends_with("http") { "{url}" } else { "{server}" }.into());
    let client = ClientUnderTest {
        launch: Launch { program: CLIENT.into(), arguments, ..Launch::default() },
        meeting: Meeting::Either,
        server: vec![std::env::current_exe().unwrap().into(), RELAY.into()],
    };
    let revision = match () {
        () if is_modern => Revision::V2026_07_28,
        () if case.rule == "batch-not-understood" => Revision::V2025_03_26,
        () => Revision::V2025_11_25,
    };
    let settings = ClientSettings {
        limits: Limits { answer: Duration::from_secs(3), ..Limits::default() },
        revisions: vec![revision],
        // Nothing is found there but that the client waits.
        skip: vec!["answers/late".to_owned()],
        ..ClientSettings::default()
    };
    let mut ignored = |_: &Event<'_>| {};
    ClientRun::new(client, engine, settings).run(&mut ignored).await.unwrap()
}

/// What is wrong with the report, if anything.
fn judge(case: &Case, report: &Report) -> Option<String> {
    let passed = report.results.iter().filter(|result| result.outcome == Outcome::Passed).count();
    let mut found: BTreeSet<&str> =
        report.failures().map(|failure| failure.finding.rule.name).collect();
    for (fault, rule) in CONSEQUENCES {
        if fault == case.fault {
            found.remove(rule);
        }
    }
    let expected: BTreeSet<&str> =
        Some(case.rule.as_str()).filter(|rule| !rule.is_empty()).into_iter().collect();
    let is_right = found == expected && (passed > 10 || !case.fault.is_empty());
    (!is_right).then(|| format!("{case:?}: found {found:?}, {passed} passed"))
}

fn cases() -> Vec<Case> {
    let listed = Command::new(CLIENT).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let faults = listed.lines().map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        Case { fault: parts[0].into(), shows: parts[1].into(), rule: parts[2].into() }
    });
    let sound = ["stdio", "http", "modern", "modern-http"].map(|shows| Case {
        fault: String::new(),
        shows: shows.into(),
        rule: String::new(),
    });
    let cases: Vec<Case> = sound.into_iter().chain(faults).collect();
    assert!(cases.len() > 60, "{}", cases.len());
    cases
}
