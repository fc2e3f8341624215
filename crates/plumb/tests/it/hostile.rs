//! Recordings that were made to hurt whoever checks them: nothing in them reaches the terminal as it
//! is, takes more memory than it weighs, or leads out of its folder.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use crate::{BAD, GOOD, Place};

/// Clears the screen, rings, speaks C1, reverses the text, hides in tags, begins a line.
const HOSTILE: &str = "\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{2066}\u{e0041}\n::error::x\r\u{feff}";

/// No byte of an output may do any of that. Line feeds are ours.
#[track_caller]
fn assert_harmless(output: &str, what: &str) {
    let unseen = |character: char| character != '\n' && mcp_core::is_invisible(character);
    assert!(!output.contains(unseen), "{what}: {output:?}");
    assert!(!output.lines().any(|line| line.starts_with("::error::x")), "{what}: {output:?}");
}

fn trace() -> String {
    let message = |message: serde_json::Value| message.to_string();
    let lines = [
        // Names in messages, in pointers, in help, in titles, and lines that explain others.
        message(serde_json::json!({"from": "client", "msg": {"jsonrpc": "2.0", "id": HOSTILE,
            "method": HOSTILE, "params": {"_meta": {HOSTILE: 1}}}})),
        message(serde_json::json!({"from": "client", "msg": {"jsonrpc": "2.0", "id": 1,
            "method": "tools/list"}})),
        message(serde_json::json!({"from": "server", "msg": {"jsonrpc": "2.0", "id": 1, "result":
            {"tools": [{"name": HOSTILE, "inputSchema": {"type": "object",
            "properties": {HOSTILE: {"type": HOSTILE}}}, "annotations": {"title": {HOSTILE: 1}}}]}}})),
        message(serde_json::json!({"from": "client", "msg": {"jsonrpc": "2.0", "id": HOSTILE,
            "method": "tools/call", "params": {"name": HOSTILE, "arguments": {HOSTILE: {HOSTILE: 1}},
            "task": {"ttl": HOSTILE}, HOSTILE: 1}}})),
        message(serde_json::json!({"from": "client", "msg": {"jsonrpc": "2.0", "id": HOSTILE,
            "method": "logging/setLevel", "params": {"level": HOSTILE}}})),
        message(serde_json::json!({"from": "server", "raw": HOSTILE})),
        message(serde_json::json!({"from": "server", "session": HOSTILE,
            "raw": format!("{{\"{0}\":1,\"{0}\":2}}", "\\u001b\\u202e\\n")})),
    ];
    format!("{}\n{{\"from\":\"{HOSTILE}\n", lines.join("\n"))
}

#[test]
fn nothing_in_a_recording_reaches_the_terminal_as_it_is() {
    let name = format!("{HOSTILE}.jsonl").replace('/', "");
    let place = Place::new().file(&name, &trace());
    for format in ["human", "json", "sarif", "junit", "github"] {
        let run = place.run(&["check", "--color", "never", "--format", format, "-v", &name]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert_harmless(&run.stdout, format);
        assert_harmless(&run.stderr, format);
        assert!(run.stdout.contains("params-invalid"), "{format}: {}", run.stdout);
    }
    let run = place.run(&["check", "--color", "never", "--max-findings", "1", &name]);
    assert_harmless(&run.stdout, "what was left out");
    let run = place.run(&["check", "--write-baseline", "b.json", &name]);
    assert_harmless(&run.stderr, "a baseline");
    fs::write(place.0.path().join(&name), GOOD).unwrap();
    let run = place.run(&["check", "--baseline", "b.json", &name]);
    assert_harmless(&run.stderr, "a stale baseline");
}

#[test]
fn json_is_exact_although_it_is_harmless() {
    let place = Place::new().file("a.jsonl", &trace());
    let run = place.run(&["check", "--format", "json", "a.jsonl"]);
    let pointers: Vec<String> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|finding| Some(finding["pointer"].as_str()?.to_owned()))
        .collect();
    assert!(pointers.iter().any(|pointer| pointer == "/\u{1b}\u{202e}\n"), "{pointers:?}");
}

#[test]
fn neither_paths_nor_settings_reach_standard_error_as_they_are() {
    let place = Place::new().file("a.jsonl", GOOD);
    let hostile = HOSTILE.replace('/', "");
    for path in [hostile.clone(), format!("{hostile}*")] {
        let run = place.run(&["check", "--color", "never", &path]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert_harmless(&run.stderr, "a path");
    }
    for config in [
        "\"a\u{202e}\u{9b}\" = \"\u{1b}[2J\"\n".to_owned(),
        "\"\u{202e}\u{2066}\u{e0041}\" = 1\nprofile = \"\\u001b[2J\\n\"\n".to_owned(),
        "[rules]\n\"\\u001b[2J\\n\" = \"error\"\n".to_owned(),
        "profile = \"\\u001b[2J\u{202e}\"\n".to_owned(),
    ] {
        let place = Place::new().file("a.jsonl", GOOD).file("plumb.toml", &config);
        let run = place.run(&["check", "--color", "never", "a.jsonl"]);
        assert_eq!(run.code, Some(2), "{config:?}: {}", run.stderr);
        assert_harmless(&run.stderr, &config);
    }
    let named = format!("{hostile}.toml");
    let place = Place::new().file("a.jsonl", GOOD).file(&named, "x = 1\n");
    let run = place.run(&["check", "--color", "never", "--config", &named, "a.jsonl"]);
    assert_harmless(&run.stderr, "the path of a configuration");
    assert_eq!(run.code, Some(2));
}

#[test]
fn the_exit_code_is_right_although_the_reader_has_left() {
    // Far more than fits into a pipe.
    let place = Place::new().file("bad.jsonl", &BAD.repeat(3000)).file("good.jsonl", GOOD);
    for format in ["human", "json", "sarif", "junit", "github"] {
        for (file, fail_on, code) in
            [("bad.jsonl", "error", 1), ("bad.jsonl", "never", 0), ("good.jsonl", "error", 0)]
        {
            let args = ["check", "--format", format, "--fail-on", fail_on, "--max-findings", "all"];
            let mut child = place.command(&[&args[..], &[file]].concat()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{format} {file} --fail-on {fail_on}");
            assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{format}");
        }
    }
    // Nothing is read at all, and what is to be written is.
    let mut command = place.command(&["check", "--write-baseline", "b.json", "bad.jsonl"]);
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    let baseline = fs::read_to_string(place.0.path().join("b.json")).unwrap();
    assert!(baseline.contains("3000"), "{baseline}");
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_walk_stays_in_its_folder_and_opens_regular_files_only() {
    let place = Place::new()
        .file("secret.txt", "PASSWORD=hunter2\n")
        .file("elsewhere/e.jsonl", BAD)
        .file("traces/good.jsonl", GOOD)
        .file("traces/deep/bad.jsonl", BAD);
    let folder = place.0.path().join("traces");
    symlink("../secret.txt", folder.join("secret.jsonl")).unwrap();
    symlink("/dev/zero", folder.join("endless.jsonl")).unwrap();
    symlink("../elsewhere", folder.join("out")).unwrap();
    symlink("nowhere", folder.join("dangling.jsonl")).unwrap();
    symlink("deep/bad.jsonl", folder.join("inside.jsonl")).unwrap();
    symlink("../secret.txt", folder.join("not-a-trace.txt")).unwrap();
    make_fifo(&folder.join("pipe.jsonl"));
    let run = place.run(&["check", "--format", "json", "traces"]).exits(1);
    let files: Vec<String> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|finding| finding["file"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, ["traces/deep/bad.jsonl", "traces/inside.jsonl"]);
    assert!(!run.stdout.contains("hunter2"));
    let skipped: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        skipped,
        [
            "note: skipped traces/dangling.jsonl: the link is broken",
            "note: skipped traces/endless.jsonl: the link leads out of the directory; name it on the command line to read it",
            "note: skipped traces/out: links to directories are not followed",
            "note: skipped traces/pipe.jsonl: it is not a regular file; name it on the command line to read it",
            "note: skipped traces/secret.jsonl: the link leads out of the directory; name it on the command line to read it",
        ]
    );
}

#[test]
fn what_is_named_is_opened_whatever_it_is() {
    let place = Place::new().file("outside/a.jsonl", BAD);
    let pipe = place.0.path().join("pipe");
    make_fifo(&pipe);
    let writer = thread::spawn(move || {
        fs::OpenOptions::new().write(true).open(pipe).unwrap().write_all(BAD.as_bytes()).unwrap();
    });
    place.run(&["check", "pipe"]).exits(1).prints("params-invalid");
    writer.join().unwrap();
    symlink("outside/a.jsonl", place.0.path().join("link")).unwrap();
    symlink("outside", place.0.path().join("folder")).unwrap();
    place.run(&["check", "link"]).exits(1);
    place.run(&["check", "folder"]).exits(1);
}

#[test]
fn lines_that_wait_for_their_end_take_little_memory() {
    let place = Place::new();
    let count = 400_000;
    for (name, line) in [("braces", "{\n"), ("elements", "1,\n"), ("words", "x\n")] {
        let script = format!(
            "ulimit -v 400000; exec {} check --jobs 1 --from server --format human -",
            env!("CARGO_BIN_EXE_plumb")
        );
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let text = format!("[\n{}", line.repeat(count));
        let writer = thread::spawn(move || {
            // It may have run out of memory.
            let _ = input.write_all(text.as_bytes());
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
    }
}
