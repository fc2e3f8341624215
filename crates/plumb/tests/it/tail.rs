//! `plumb tail`: recordings as they are written.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStderr, ChildStdout, Command},
};

use super::{BAD, GOOD, Place};

/// A `plumb tail` that runs, and what it prints. Reading waits for it; nothing here sleeps.
struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    fn start(place: &Place, args: &[&str]) -> Running {
        let mut child = place.command(&[&["tail"], args].concat()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Running { child, stdout, stderr }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    fn note(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn append(path: &PathBuf, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn messages_and_their_findings_are_shown() {
    let trace = r#"{"ts":"2025-11-25T11:00:00.5Z","from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":{"text":"a long text that does not fit into the line, however wide it may be, and goes on"}}}}
{"ts":"2025-11-25T11:00:01Z","from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
{"from":"client","http":{"exchange":1,"method":"GET","url":"/mcp","headers":{"accept":"text/event-stream"}}}
{"from":"server","http":{"exchange":1,"status":405}}

{"from":"server","skipped":20000000}
{"from":"client","lost":3}
{"from":"server","raw":"Listening on port\u001b[2J 3000"}
[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    let place = Place::new().file("t.jsonl", trace);
    let run = place.run(&["tail", "--no-follow", "t.jsonl"]).exits(0);
    assert_eq!(run.stderr, "");
    let piped = place.run_with_input(&["tail", "-"], trace).exits(0);
    assert_eq!(piped.stdout, run.stdout);
    assert!(!run.stdout.contains('\x1b'));
    insta::assert_snapshot!(run.stdout);
    place.run(&["tail", "--no-follow", "t.jsonl", "--color", "always"]).exits(0).prints("\x1b[");
}

#[test]
fn what_is_written_is_shown_and_half_a_line_waits() {
    let place = Place::new().file("t.jsonl", GOOD);
    let path = place.0.path().join("t.jsonl");
    let mut tail = Running::start(&place, &["t.jsonl"]);
    assert!(tail.line().contains("ping"));
    assert!(tail.line().contains("result of ping"));
    let (start, end) = BAD.split_at(40);
    append(&path, start);
    append(&path, end);
    assert!(tail.line().contains("tools/call"));
    assert!(tail.line().contains("error[params-invalid] by the client"));
}

#[test]
fn a_file_that_is_replaced_or_cut_off_is_read_from_its_start() {
    let place = Place::new();
    let path = place.0.path().join("t.jsonl");
    let mut tail = Running::start(&place, &["t.jsonl"]);
    assert!(tail.note().contains("waiting for t.jsonl"));
    append(&path, GOOD);
    assert!(tail.line().contains("ping") && tail.line().contains("result of ping"));
    fs::rename(&path, place.0.path().join("t.1.jsonl")).unwrap();
    append(&path, BAD);
    assert!(tail.line().contains("tools/call") && tail.line().contains("params-invalid"));
    assert!(tail.note().contains("was replaced"));
    File::create(&path).unwrap();
    assert!(tail.note().contains("was truncated"));
    append(&path, GOOD);
    assert!(tail.line().contains("ping"));
}

#[cfg(unix)]
#[test]
fn interrupting_it_is_no_failure() {
    let place = Place::new().file("t.jsonl", GOOD);
    let mut tail = Running::start(&place, &["t.jsonl"]);
    assert!(tail.line().contains("ping"));
    let pid = tail.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(tail.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let place = Place::new().file("t.jsonl", &GOOD.repeat(20_000));
    let mut tail = Running::start(&place, &["--no-follow", "t.jsonl"]);
    assert!(tail.line().contains("ping"));
    let Running { child, .. } = &mut tail;
    let mut child = std::mem::replace(child, Command::new("true").spawn().unwrap());
    drop(tail);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_read_is_said() {
    let place = Place::new();
    place
        .run(&["tail", "--no-follow", "missing.jsonl"])
        .exits(2)
        .complains("could not open missing.jsonl");
    place.run(&["tail", "."]).exits(2).complains("could not open .");
    place
        .run(&["tail", "--no-follow", "--config", "none.toml", "x"])
        .exits(2)
        .complains("none.toml");
}

#[test]
fn settings_are_those_of_check() {
    let place = Place::new().file("t.jsonl", BAD);
    let run =
        place.run(&["tail", "--no-follow", "t.jsonl", "--rule", "params-invalid=off"]).exits(0);
    assert!(!run.stdout.contains("params-invalid"), "{}", run.stdout);
    let place = place.file("plumb.toml", "[rules]\nparams-invalid = 'off'\n");
    let run = place.run(&["tail", "--no-follow", "t.jsonl"]).exits(0);
    assert!(!run.stdout.contains("params-invalid"), "{}", run.stdout);
}
