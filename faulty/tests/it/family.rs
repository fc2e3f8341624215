//! Every fault is found by name.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use futures_util::{StreamExt as _, stream};
use mcp_probe::{Limits, Phase};

use crate::{
    expected::{Outcome, expected},
    server::{Found, Wire, findings, found_in, settings, test},
};

/// Number of servers tested concurrently.
const AT_ONCE: usize = 4;

/// A fault as the server lists it.
#[derive(Debug, Clone)]
struct Listed {
    wires: Vec<Wire>,
    revision: String,
}

fn listed() -> BTreeMap<String, Listed> {
    let output = Command::new(env!("CARGO_BIN_EXE_faulty-server")).arg("--list").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let wires = match columns[2] {
                "any" => vec![Wire::Stdio, Wire::Http],
                name => vec![Wire::named(name).unwrap()],
            };
            (columns[0].to_owned(), Listed { wires, revision: columns[3].to_owned() })
        })
        .collect()
}

/// The findings about a fault, with only these probes.
async fn found(fault: &str, listed: &Listed, wire: Wire, only: &[&str]) -> Vec<Found> {
    match test(Some(fault), wire, settings(&listed.revision, only)).await {
        Ok(report) => findings(&report),
        Err(_) => Vec::new(),
    }
}

/// A fault that a probe must find by a rule.
#[derive(Clone, Copy)]
struct Run<'a> {
    fault: &'a str,
    about: &'a Listed,
    wire: Wire,
    probe: &'a str,
    rule: &'a str,
}

impl Run<'_> {
    /// The findings instead, if the rule is not among them.
    async fn unseen(self) -> Option<String> {
        let Run { fault, about, wire, probe, rule } = self;
        let found = found(fault, about, wire, &[probe]).await;
        // A fault at either end of a conversation may show in a shared conversation.
        let is_found = found
            .iter()
            .any(|found| [probe, "discover", "end"].contains(&&*found.probe) && found.rule == rule);
        let others: BTreeSet<_> = found.iter().map(|found| &found.rule).collect();
        let wire = wire.name();
        (!is_found)
            .then(|| format!("{fault} over {wire}: {probe} does not find {rule}, but {others:?}"))
    }
}

#[test]
fn every_fault_is_in_the_table() {
    let listed: BTreeSet<String> = listed().into_keys().collect();
    let rows: BTreeSet<String> = expected().iter().map(|row| row.fault.to_owned()).collect();
    assert_eq!(rows.difference(&listed).collect::<Vec<_>>(), [""; 0], "no such faults");
    assert_eq!(listed.difference(&rows).collect::<Vec<_>>(), [""; 0], "no rows for these");
}

#[test]
fn nearly_every_fault_that_can_be_seen_is_found() {
    let rows = expected();
    let faults: BTreeSet<_> = rows.iter().map(|row| row.fault).collect();
    let of_kind = |fits: fn(&Outcome) -> bool| {
        rows.iter().filter(|row| fits(&row.outcome)).map(|row| row.fault).collect::<BTreeSet<_>>()
    };
    let missed = of_kind(|outcome| matches!(outcome, Outcome::Missed { .. }));
    let found = of_kind(|outcome| matches!(outcome, Outcome::Found { .. }));
    assert!(missed.is_disjoint(&found));
    assert!(missed.len() * 20 <= faults.len(), "{} of {} are missed", missed.len(), faults.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_found_by_the_rule_that_is_meant() {
    let listed = listed();
    let mut runs = Vec::new();
    for row in expected() {
        let Outcome::Found { wire, probe, rule } = row.outcome else { continue };
        let about = &listed[row.fault];
        for at in about.wires.iter().filter(|at| wire.is_none_or(|wire| wire == **at)) {
            runs.push(Run { fault: row.fault, about, wire: *at, probe, rule });
        }
    }
    let missed: Vec<Run<'_>> = stream::iter(runs)
        .map(|run| async move { run.unseen().await.map(|_| run) })
        .buffer_unordered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    // A call must still be running when it is cancelled, which may fail on a busy machine: try
    // those again alone.
    let wrong: Vec<String> =
        stream::iter(missed).filter_map(|run| async move { run.unseen().await }).collect().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_found_is_not_found() {
    let listed = listed();
    let mut runs = Vec::new();
    for row in expected() {
        let Outcome::Missed { reason } = row.outcome else { continue };
        let about = &listed[row.fault];
        runs.extend(about.wires.iter().map(|wire| (row.fault, about, *wire, reason)));
    }
    let wrong: Vec<String> = stream::iter(runs)
        .map(|(fault, about, wire, reason)| async move {
            // Slowness must not be blamed here.
            let mut settings = settings(&about.revision, &[]);
            settings.limits = Limits::default();
            settings.phases = vec![Phase::Protocol, Phase::Tools];
            let found = findings(&test(Some(fault), wire, settings).await.unwrap());
            let text =
                || format!("{fault} over {} is found after all ({reason}): {found:?}", wire.name());
            (!found.is_empty()).then(text)
        })
        .buffer_unordered(2)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An answer of the client and a cancellation by the server may cross, so this is not blamed,
/// although `plumb check` warns about it in a recording.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_after_the_answer_is_not_held_against_a_server() {
    let settings = settings("2025-11-25", &["handshake", "ids", "lists", "calls"]);
    let report = test(Some("cancels-completed"), Wire::Stdio, settings).await.unwrap();
    assert_eq!(findings(&report), []);
    let warned = report
        .recordings
        .iter()
        .filter(|recording| found_in(&recording.text()).contains(&"cancel-completed-request"));
    assert!(warned.count() > 0);
}

/// Prints everything that is found about each fault.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "shows what the table could say"]
#[expect(clippy::print_stdout, reason = "prints a table")]
async fn survey() {
    let listed = listed();
    let runs = listed
        .iter()
        .flat_map(|(fault, about)| about.wires.iter().map(move |wire| (fault, about, *wire)));
    let mut results =
        stream::iter(runs)
            .map(|(fault, about, wire)| async move {
                (fault, wire, found(fault, about, wire, &[]).await)
            })
            .buffer_unordered(AT_ONCE);
    while let Some((fault, wire, found)) = results.next().await {
        for Found { probe, rule, .. } in found {
            println!("{fault}\t{}\t{probe}\t{rule}", wire.name());
        }
    }
}
