//! Messages that could not be judged do not pass: each limit is tested just below, at and just above
//! it, in both directions.

use super::*;
use crate::Setting;

/// A gate after a handshake in `revision`.
fn gate_with(
    strictness: Strictness,
    revision: &str,
    change: impl FnOnce(&mut Settings),
) -> SessionGate {
    let mut settings = Settings::default();
    change(&mut settings);
    let engine = Arc::new(Engine::new(Schemas::embedded(), settings));
    let mut gate = SessionGate::new(engine, strictness, Carrier::Stdio);
    let opening = [
        (
            Side::Client,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"REVISION",
            "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        ),
        (
            Side::Server,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"REVISION","capabilities":
            {"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
        ),
        (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ];
    for (from, message) in opening {
        let message = message.replace("REVISION", revision);
        assert_eq!(judge(&mut gate, from, &message), Verdict::PASS, "{message}");
    }
    gate
}

/// The rules for which a message is refused, with the entry of the batch that is; an empty name if no
/// finding says why.
fn refused(gate: &mut SessionGate, from: Side, message: &str) -> Vec<(Option<usize>, String)> {
    let mut rules = Vec::new();
    for refusal in judge(gate, from, message).refusals {
        let finding = refusal.findings.first().map(|finding| finding.to_value().unwrap());
        let rule = finding.and_then(|finding| Some(finding["rule"].as_str()?.to_owned()));
        rules.push((refusal.index, rule.unwrap_or_default()));
    }
    rules
}

fn because(rule: &str) -> Vec<(Option<usize>, String)> {
    vec![(None, rule.to_owned())]
}

fn log(data: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{data}}}}}"#
    )
}

fn ping(id: usize, meta: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"_meta":{{"example.com/x":{meta}}}}}}}"#
    )
}

/// A message of one side that contains arbitrary `data`.
fn message_of(side: Side, data: &str) -> String {
    match side {
        Side::Client => ping(2, data),
        Side::Server => log(data),
    }
}

#[test]
fn no_entry_of_a_batch_passes_if_one_is_beyond_the_limit() {
    let batch = |side, entries: usize| {
        let entry = |index: usize| match side {
            Side::Client => ping(index + 2, "1"),
            Side::Server => log("1"),
        };
        format!("[{}]", (0..entries).map(entry).collect::<Vec<_>>().join(","))
    };
    for side in Side::BOTH {
        let gate =
            |strictness| gate_with(strictness, "2025-03-26", |settings| settings.limits.batch = 3);
        for entries in [2, 3] {
            let message = batch(side, entries);
            assert_eq!(refused(&mut gate(Strictness::Enforce), side, &message), []);
        }
        let above = batch(side, 4);
        assert_eq!(
            refused(&mut gate(Strictness::Enforce), side, &above),
            because("batch-size-limit")
        );
        assert_eq!(refused(&mut gate(Strictness::Observe), side, &above), []);
    }
    let mut default = gate_with(Strictness::Enforce, "2025-03-26", |_| ());
    assert_eq!(refused(&mut default, Side::Client, &batch(Side::Client, 1000)), []);
    let mut default = gate_with(Strictness::Enforce, "2025-03-26", |_| ());
    let above = batch(Side::Client, 1001);
    assert_eq!(refused(&mut default, Side::Client, &above), because("batch-size-limit"));
}

#[test]
fn nesting_beyond_the_limit_does_not_pass_whoever_parsed_it() {
    let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for side in Side::BOTH {
        // Levels of the message around the data.
        let around = if side == Side::Client { 3 } else { 2 };
        for (levels, expected) in [(6, vec![]), (7, vec![]), (8, because("json-depth-limit"))] {
            let message = message_of(side, &nested(levels - around));
            let change = |settings: &mut Settings| settings.limits.depth = 7;
            let mut gate = gate_with(Strictness::Enforce, "2025-11-25", change);
            assert_eq!(refused(&mut gate, side, &message), expected, "{side} {levels}");
            // Parsed under the limit of the gate itself.
            let limits = Limits { max_depth: 7, ..Limits::default() };
            if let Err(error) = Parsed::parse(message.clone().into(), limits) {
                let mut gate = gate_with(Strictness::Enforce, "2025-11-25", change);
                let verdict = gate.judge_unreadable(side, message.as_bytes(), &error);
                assert_eq!(verdict.refusals.len(), 1);
            } else {
                assert_eq!(expected, []);
            }
            let mut gate = gate_with(Strictness::Observe, "2025-11-25", change);
            assert_eq!(refused(&mut gate, side, &message), []);
        }
    }
}

#[test]
fn a_message_beyond_the_size_limit_does_not_pass() {
    for side in Side::BOTH {
        let message = message_of(side, &format!("\"{}\"", "x".repeat(1000)));
        for (limit, expected) in [
            (message.len() + 1, vec![]),
            (message.len(), vec![]),
            (message.len() - 1, because("message-size-limit")),
        ] {
            let change = |settings: &mut Settings| settings.limits.message_bytes = limit;
            let mut gate = gate_with(Strictness::Enforce, "2025-11-25", change);
            assert_eq!(refused(&mut gate, side, &message), expected, "{side} {limit}");
        }
    }
}

#[test]
fn switching_a_limit_off_in_the_report_does_not_open_the_gate() {
    for (rule, message) in [
        ("json-depth-limit", ping(2, "[[[[]]]]")),
        ("message-size-limit", ping(2, &format!("\"{}\"", "x".repeat(500)))),
    ] {
        let mut gate = gate_with(Strictness::Enforce, "2025-11-25", |settings| {
            settings.limits.depth = 6;
            settings.limits.message_bytes = 400;
            settings.rules.insert(rule.to_owned(), Setting::Off);
        });
        assert_eq!(refused(&mut gate, Side::Client, &message), because(""), "{rule}");
    }
}

/// A tool whose schema takes more steps than are allowed for an array of `n` numbers.
fn listing() -> String {
    let branches: Vec<String> = (0..2000).map(|n| format!(r#"{{"const":{n}}}"#)).collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{"a":{{"items":{{"anyOf":[{}]}}}}}}}}"#,
        branches.join(",")
    );
    format!(
        r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{{"name":"t","inputSchema":{schema},
        "outputSchema":{schema}}}]}}}}"#
    )
}

#[test]
fn what_takes_too_many_steps_to_judge_does_not_pass() {
    let numbers = |count| format!("{{\"a\":[{}]}}", vec!["1999"; count].join(","));
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let call = |count| {
        let arguments = numbers(count);
        format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        )
    };
    let answer = |count| {
        let content = numbers(count);
        format!(
            r#"{{"jsonrpc":"2.0","id":3,"result":{{"content":[],"structuredContent":{content}}}}}"#
        )
    };
    let listed = |strictness| {
        let mut gate = gate_with(strictness, "2025-11-25", |_| ());
        assert_eq!(refused(&mut gate, Side::Client, list), []);
        assert_eq!(refused(&mut gate, Side::Server, &listing()), []);
        gate
    };
    // 2,000 alternatives for each, and two million steps.
    for (count, expected) in [(500, vec![]), (5000, because(""))] {
        let mut gate = listed(Strictness::Enforce);
        assert_eq!(refused(&mut gate, Side::Client, &call(count)), expected, "{count}");
        let mut gate = listed(Strictness::Enforce);
        assert_eq!(refused(&mut gate, Side::Client, &call(1)), []);
        assert_eq!(refused(&mut gate, Side::Server, &answer(count)), expected, "{count}");
        let mut gate = listed(Strictness::Observe);
        let judgement = gate.examine(Side::Client, &parsed(&call(count)).unwrap());
        assert_eq!((judgement.verdict, judgement.findings), (Verdict::PASS, vec![]));
    }
    // Behind the gate of a server, the contract of the tool says it.
    let mut gate = listed(Strictness::Enforce).guarding(Side::Server).with_contracts();
    assert_eq!(refused(&mut gate, Side::Client, &call(5000)), []);
}

#[test]
fn a_message_that_two_readers_take_for_two_does_not_pass() {
    let gate = |strictness| gate_with(strictness, "2025-03-26", |_| ());
    for (from, message) in [
        (Side::Client, r#"{"jsonrpc":"2.0","id":2,"method":"ping","method":"ping"}"#),
        (Side::Client, r#"{"jsonrpc":"2.0","id":2,"id":3,"method":"ping"}"#),
        (Side::Client, r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{},"params":{}}"#),
        (Side::Client, r#"{"jsonrpc":"2.0","id":2,"m\u0065thod":"ping","method":"ping"}"#),
        (Side::Server, r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":2,"method":"ping"}"#),
    ] {
        let enforced = refused(&mut gate(Strictness::Enforce), from, message);
        assert_eq!(enforced, because("json-duplicate-key"), "{message}");
        assert_eq!(refused(&mut gate(Strictness::Observe), from, message), []);
        let mut silent = gate_with(Strictness::Enforce, "2025-03-26", |settings| {
            settings.rules.insert("json-duplicate-key".to_owned(), Setting::Off);
        });
        assert_eq!(refused(&mut silent, from, message), because(""), "{message}");
    }
    for message in [
        r#"{"jsonrpc":"2.0","id":2,"method":"ping","x":1,"x":2}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"id":1,"id":2}}}"#,
    ] {
        assert_eq!(refused(&mut gate(Strictness::Enforce), Side::Client, message), []);
    }
    let batch = r#"[{"jsonrpc":"2.0","id":2,"method":"ping"},
        {"jsonrpc":"2.0","id":3,"id":4,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"ping"}]"#;
    let enforced = refused(&mut gate(Strictness::Enforce), Side::Client, batch);
    assert_eq!(enforced, [(Some(1), "json-duplicate-key".to_owned())]);
}

#[test]
fn warnings_do_not_crowd_out_what_must_not_pass() {
    let noise: Vec<String> = (0..40).map(|_| "\"x\":1".to_owned()).collect();
    let message = format!(
        r#"{{"jsonrpc":"2.0","params":{{"_meta":{{{}}}}},"id":2,"method":"ping","method":"ping"}}"#,
        noise.join(",")
    );
    let mut gate =
        gate_with(Strictness::Enforce, "2025-11-25", |settings| settings.limits.findings = 10);
    assert_eq!(refused(&mut gate, Side::Client, &message).len(), 1);
}

#[test]
fn a_batch_before_the_handshake_is_over_does_not_pass() {
    let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
    let mut gate = SessionGate::new(engine, Strictness::Enforce, Carrier::Stdio);
    assert_eq!(judge(&mut gate, Side::Client, HANDSHAKE[0].1), Verdict::PASS);
    let batch = format!("[{}]", ping(2, "1"));
    assert_eq!(refused(&mut gate, Side::Client, &batch), because(""));
}
