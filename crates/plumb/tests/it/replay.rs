//! `plumb replay`: a recording is sent to a server again.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::Value;

use super::{GOOD, Place};

const CONVERSATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/conversations");
const PLUMB: &str = env!("CARGO_BIN_EXE_plumb");

/// Those that can be served without what a mock does not do: to send something by itself.
const SERVABLE: [&str; 5] = [
    "2025-06-18-beside-modern",
    "2025-06-18-http-after-probe",
    "2025-06-18-without-session-ids",
    "2025-11-25-after-probe",
    "2026-07-28-input-required",
];

#[test]
fn a_server_that_answers_as_before_makes_no_difference() {
    for name in SERVABLE {
        let trace = format!("{CONVERSATIONS}/{name}.jsonl");
        let run = Place::new().run(&["replay", &trace, "--", PLUMB, "mock", &trace]).exits(0);
        assert!(run.stdout.contains("sent; no difference in"), "{name}: {}", run.stdout);
    }
}

#[test]
fn the_server_may_be_at_a_url() {
    let trace = format!("{CONVERSATIONS}/2025-11-25-after-probe.jsonl");
    let place = Place::new();
    let mut server = place.command(&["mock", &trace, "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut errors = BufReader::new(server.stderr.take().unwrap()).lines();
    let address = errors
        .find_map(|line| line.unwrap().strip_prefix("plumb: listening on ").map(str::to_owned))
        .unwrap();
    let run = place.run(&["replay", &trace, &format!("{address}/mcp")]).exits(0);
    assert!(run.stdout.contains("no difference"), "{}", run.stdout);
    server.kill().unwrap();
    server.wait().unwrap();
}

/// A server that answers each line by a shell's `case`.
fn shell(cases: &str) -> [String; 3] {
    let script = format!("while read -r line; do case \"$line\" in {cases} esac; done");
    ["sh".into(), "-c".into(), script]
}

fn replay(place: &Place, options: &[&str], server: &[String]) -> super::Run {
    let mut args = vec!["replay", "trace.jsonl"];
    args.extend(options);
    args.push("--");
    args.extend(server.iter().map(String::as_str));
    place.run(&args)
}

#[test]
fn what_differs_is_shown_with_what_is_wrong() {
    let trace = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{"t":"2026-01-01T00:00:00Z","n":1}}}}
"#;
    let place = Place::new().file("trace.jsonl", trace);
    let server = shell(
        r#"*tools/call*) echo '{"jsonrpc":"2.0","id":1,"result":{"content":{},"_meta":{"t":"2026-11-18T00:00:00Z","n":2}}}' ;;"#,
    );
    let run = replay(&place, &["--revision", "2025-11-25"], &server).exits(1);
    insta::assert_snapshot!(run.stdout);
    let ignoring = ["--ignore", "/result/*/n", "--ignore", "/result/content", "--rule", "*=off"];
    let run = replay(&place, &ignoring, &server).exits(0);
    assert!(run.stdout.contains("no difference"), "{}", run.stdout);
    let strict = ["--strict", "--ignore", "/result/_meta/n", "--format", "json"];
    let run = replay(&place, &strict, &server).exits(1);
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["changed", "finding"], "{}", run.stdout);
    let places: Vec<&str> = lines[0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(places, ["/result/content", "/result/_meta/t"]);
}

/// The server asks with an id of its own, and makes up another cursor.
#[test]
fn the_client_uses_what_the_new_server_has_made_up() {
    let trace = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":100,"method":"roots/list"}}
{"from":"client","msg":{"jsonrpc":"2.0","id":100,"result":{"roots":[]}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"old"}}}
{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"old"}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}}
"#;
    let place = Place::new().file("trace.jsonl", trace);
    let server = shell(
        r#"*'"id":1,'*) echo '{"jsonrpc":"2.0","id":"x y","method":"roots/list"}' ;;
           *'"id":"x y"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"new"}}' ;;
           *'"cursor":"new"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}' ;;"#,
    );
    let run = replay(&place, &["--record", "new.jsonl"], &server).exits(0);
    assert!(run.stdout.starts_with("3 messages sent; no difference"), "{}", run.stdout);
    let record = fs::read_to_string(place.0.path().join("new.jsonl")).unwrap();
    assert!(record.contains(r#"{"jsonrpc":"2.0","id":"x y","result":{"roots":[]}}"#), "{record}");
}

/// A request is open as long as it was, so that others overtake it.
#[test]
fn what_was_concurrent_is_concurrent_again() {
    let trace = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}}
{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"ping"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
"#;
    let place = Place::new().file("trace.jsonl", trace);
    // Answers the first only after the second.
    let server = shell(
        r#"*'"id":2,'*) echo '{"jsonrpc":"2.0","id":2,"result":{}}'; echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}' ;;"#,
    );
    replay(&place, &[], &server).exits(0).prints("no difference");
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for_forever() {
    let place = Place::new().file("trace.jsonl", GOOD);
    let run = replay(&place, &["--timeout", "1"], &shell("*none*) ;;")).exits(1);
    assert!(run.stdout.contains("1 answer did not come in time"), "{}", run.stdout);
    assert!(run.stdout.contains("lost     ← result of ping, id 1"), "{}", run.stdout);
    let gone = ["sh".into(), "-c".into(), "exit 3".into()];
    let run = replay(&place, &["--format", "json"], &gone).exits(1);
    assert!(run.stdout.contains("exited with status 3"), "{}", run.stdout);
}

/// A server that asks for something new is told that there is no answer.
#[test]
fn a_server_that_asks_for_more_is_answered_with_an_error() {
    let place = Place::new().file("trace.jsonl", GOOD);
    let server = shell(
        r#"*'"error"'*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
           *ping*) echo '{"jsonrpc":"2.0","id":7,"method":"roots/list"}' ;;"#,
    );
    let run = replay(&place, &["--timeout", "1"], &server).exits(1);
    assert!(run.stdout.contains("added    ← roots/list, id 7"), "{}", run.stdout);
    assert!(!run.stdout.contains("lost"), "{}", run.stdout);
}

#[test]
fn a_recording_that_is_cut_off_is_sent_as_far_as_it_goes() {
    let cut = format!("{GOOD}{}", &GOOD[..40]);
    let place = Place::new().file("trace.jsonl", &cut);
    let server = shell(r#"*ping*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;"#);
    replay(&place, &[], &server).exits(0).prints("1 message sent; no difference");
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let only_server = GOOD.lines().nth(1).unwrap();
    let place = Place::new().file("trace.jsonl", only_server).file("good.jsonl", GOOD);
    let server = shell("*) ;;");
    replay(&place, &[], &server).exits(2).complains("it has no message with `\"from\":\"client\"`");
    place.run(&["replay", "none.jsonl", "--", "true"]).exits(2).complains("none.jsonl");
    place.run(&["replay", "good.jsonl", "--", "./no-such"]).exits(2).complains("no such program");
    place
        .run(&["replay", "good.jsonl", "ftp://x"])
        .exits(2)
        .complains("URL of the server cannot be used");
    place.run(&["replay", "good.jsonl"]).exits(2);
}

#[cfg(unix)]
#[test]
fn it_ends_when_it_is_told_to() {
    let place = Place::new().file("trace.jsonl", GOOD);
    let script = "echo started >&2; while read -r line; do :; done";
    let mut child = place
        .command(&["replay", "trace.jsonl", "--", "sh", "-c", script])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
