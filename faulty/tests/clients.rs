//! Every fault of `faulty-client` is found by its rule and no other; without a fault there are no
//! findings.
//!
//! This program is also the server that clients start, so it has no test harness.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test, which fails by panicking")]

use std::{collections::BTreeSet, ffi::OsString, process::Command, sync::Arc, time::Duration};

use mcp_core::{Era, Revision};
use mcp_probe::{
    Event, Launch, Limits, Outcome, Report,
    client::{self, ClientRun, ClientSettings, ClientUnderTest, ConnectVia},
};
use mcp_rules::Engine;
use mcp_schema::Schemas;
use tokio::{sync::Semaphore, task::JoinSet};

const CLIENT: &str = env!("CARGO_BIN_EXE_faulty-client");
const RELAY: &str = "--relay";
/// The option of a correct client that cancels slow requests.
const IMPATIENT: &str = "--impatient";
/// Number of concurrent tests.
const AT_ONCE: usize = 4;
/// Other rules that a fault breaks: a client that takes every read for a message fails whenever two
/// messages arrive together, for example a log message with an answer.
const CONSEQUENCES: [(&str, &str); 3] = [
    ("reads-once", "unknown-notification-not-ignored"),
    ("reads-once", "notification-not-tolerated"),
    ("log-strict", "valid-answer-not-understood"),
];

/// A fault and where it shows, or no fault.
#[derive(Debug, Clone)]
struct Case {
    fault: String,
    shows: String,
    rule: String,
    revision: Revision,
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
    let mut cases = cases();
    if let Some(part) = words.iter().find(|word| !word.starts_with("--")) {
        cases.retain(|case| case.fault.contains(part.as_str()));
    }
    let wrong = runtime.block_on(test_all(cases));
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
    if case.fault == IMPATIENT {
        arguments.push(IMPATIENT.into());
    } else if !case.fault.is_empty() {
        arguments.extend(["--fault".into(), case.fault.clone().into()]);
    }
    arguments.extend(is_modern.then(|| "--modern".into()));
    arguments.push(if case.shows.ends_with("http") { "{url}" } else { "{server}" }.into());
    let client = ClientUnderTest {
        launch: Launch { program: CLIENT.into(), arguments, ..Launch::default() },
        connect_via: ConnectVia::CommandOrUrl,
        server: vec![std::env::current_exe().unwrap().into(), RELAY.into()],
    };
    let settings = ClientSettings {
        limits: Limits { answer: Duration::from_secs(3), ..Limits::default() },
        revisions: vec![case.revision],
        // The only finding there is that the client waits.
        skip: vec!["answers/late".to_owned()],
        ..ClientSettings::default()
    };
    let mut ignored = |_: &Event<'_>| {};
    ClientRun::new(client, engine, settings).run(&mut ignored).await.unwrap()
}

/// Describes what is wrong with the report, if anything.
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
    let is_right = found == expected && (passed > 10 || !case.rule.is_empty());
    let skipped = report.results.iter().filter_map(|result| match &result.outcome {
        Outcome::Skipped(reason) => Some(format!("{}: {reason}", result.name)),
        _ => None,
    });
    (!is_right).then(|| {
        let skipped: Vec<String> = skipped.collect();
        format!("{case:?}: found {found:?}, {passed} passed, skipped {skipped:?}")
    })
}

fn cases() -> Vec<Case> {
    let listed = Command::new(CLIENT).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let faults = listed.lines().map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        let revision = match (parts[1], parts[2]) {
            (shows, _) if shows.starts_with("modern") => Revision::V2026_07_28,
            (_, "batch-not-understood") => Revision::V2025_03_26,
            _ => Revision::V2025_11_25,
        };
        case(parts[0], parts[1], parts[2], revision)
    });
    let faults: Vec<Case> = faults.collect();
    assert!(faults.len() > 75, "{}", faults.len());
    let legacy = Revision::ALL.iter().copied().filter(|at| at.era() == Era::Legacy);
    let sound = legacy.flat_map(|revision| {
        // 2024-11-05 has another HTTP transport.
        let wires: &[&str] =
            if revision == Revision::V2024_11_05 { &["stdio"] } else { &["stdio", "http"] };
        wires.iter().map(move |wire| case("", wire, "", revision))
    });
    let newest = Revision::V2026_07_28;
    let others = [
        case("", "modern", "", newest),
        case("", "modern-http", "", newest),
        case(IMPATIENT, "stdio", "", Revision::V2025_11_25),
        // Faults that are the same at every revision are found at the oldest one.
        case("ping-ignored", "stdio", "ping-unanswered", Revision::V2024_11_05),
        case("unknown-code", "stdio", "unknown-request-code", Revision::V2024_11_05),
        case("initialized-left-out", "stdio", "initialized-missing", Revision::V2025_03_26),
        case("session-left-out", "http", "session-id-missing", Revision::V2025_03_26),
        case("session-lost", "http", "session-not-restarted", Revision::V2025_06_18),
        case(
            "version-header-left-out",
            "http",
            "protocol-version-header-missing",
            Revision::V2025_06_18,
        ),
    ];
    sound.chain(others).chain(faults).collect()
}

fn case(fault: &str, shows: &str, rule: &str, revision: Revision) -> Case {
    Case { fault: fault.into(), shows: shows.into(), rule: rule.into(), revision }
}
