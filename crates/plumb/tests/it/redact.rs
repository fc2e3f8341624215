//! `plumb redact`: masked recordings.

use std::fs;

use super::Place;

const TRACE: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"login","arguments":{"user":"ada","password":"hunter22"}}}}
{"from":"client","http":{"exchange":1,"method":"POST","url":"http://h/mcp","headers":{"Authorization":"Bearer abcdef12"}},"msg":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}}}
not JSON, TOKEN=abcdef34"#;

#[test]
fn secrets_are_masked_and_all_else_stays() {
    let place = Place::new().file("t.jsonl", TRACE);
    let masked = place.run(&["redact", "t.jsonl"]).exits(0).stdout;
    assert_eq!(masked.len(), TRACE.len());
    for secret in ["hunter22", "abcdef12", "abcdef34"] {
        assert!(!masked.contains(secret), "{masked}");
    }
    for kept in ["\"user\":\"ada\"", "Bearer ", "not JSON, TOKEN="] {
        assert!(masked.contains(kept), "{masked}");
    }
    assert_eq!(place.run_with_input(&["redact", "-"], TRACE).exits(0).stdout.len(), TRACE.len());
}

#[test]
fn the_findings_stay() {
    let place = Place::new().file("t.jsonl", TRACE);
    place.run(&["redact", "t.jsonl", "-o", "masked.jsonl"]).exits(0);
    let findings = |file: &str| {
        let run = place.run(&["check", "--format", "json", file]).exits(1);
        run.stdout.replace(file, "FILE")
    };
    assert_eq!(findings("t.jsonl"), findings("masked.jsonl"));
}

#[test]
fn a_recording_can_be_masked_in_its_place() {
    let place = Place::new().file("t.jsonl", TRACE);
    place.run(&["redact", "t.jsonl", "-o", "t.jsonl", "--pointer", "/params/arguments/*"]).exits(0);
    let masked = fs::read_to_string(place.0.path().join("t.jsonl")).unwrap();
    assert!(!masked.contains("hunter22") && !masked.contains("\"ada\""), "{masked}");
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 1);
    place.run(&["redact", "t.jsonl", "-o", "new.jsonl", "--only", "--name", "user"]).exits(0);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_new_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new().file("t.jsonl", TRACE);
    place.run(&["redact", "t.jsonl", "-o", "new.jsonl"]).exits(0);
    let mode = fs::metadata(place.0.path().join("new.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = Place::new().file("t.jsonl", TRACE);
    place.run(&["redact", "missing.jsonl"]).exits(2).complains("could not open missing.jsonl");
    place.run(&["redact", "."]).exits(2).complains("could not open .");
    place
        .run(&["redact", "t.jsonl", "-o", "none/x.jsonl"])
        .exits(2)
        .complains("could not write none/x.jsonl");
    place
        .run(&["redact", "t.jsonl", "--pointer", "params"])
        .exits(2)
        .complains("must be empty or begin with `/`");
    place.run(&["redact", "missing.jsonl", "-o", "x.jsonl"]).exits(2);
    assert!(!place.0.path().join("x.jsonl").exists());
    let place = place.file("c.har", "{\"log\": {\"entries\": []}}");
    place.run(&["redact", "c.har"]).exits(2).complains("HAR capture");
}

/// Nobody can tell what is in a line that is too long to be read, so all of it is masked.
#[test]
fn a_line_beyond_the_limit_is_masked_altogether() {
    let long = "s".repeat(33 * 1024 * 1024 + 64 * 1024);
    let text = format!("{{\"a\":1}}\n{long}\n{{\"b\":1}}\n");
    let place = Place::new().file("t.jsonl", &text);
    let masked = place.run(&["redact", "t.jsonl"]).exits(0).stdout;
    assert_eq!(masked.len(), text.len());
    assert!(masked.starts_with("{\"a\":1}\nxxxx") && masked.ends_with("xxxx\n{\"b\":1}\n"));
    assert!(!masked.contains('s'));
}
