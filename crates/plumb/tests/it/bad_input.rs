//! Bad input is normal input: the outcome is clear, and the other lines are still checked.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use crate::{BAD, GOOD, Place};

/// Rule names by line, from `--format json`.
fn rules(stdout: &str) -> Vec<(u64, String)> {
    stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|finding| {
            (finding["line"].as_u64().unwrap(), finding["rule"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[track_caller]
fn check(file: &[u8], args: &[&str], code: i32, expected: &[(u64, &str)]) {
    let place = Place::new();
    fs::write(place.0.path().join("input.jsonl"), file).unwrap();
    let run = place.run(&[&["check", "--format", "json", "input.jsonl"], args].concat());
    let found = rules(&run.stdout);
    let found: Vec<(u64, &str)> = found.iter().map(|(line, rule)| (*line, &**rule)).collect();
    assert_eq!(found, expected, "{}", run.stderr);
    assert_eq!(run.code, Some(code), "{}", run.stderr);
}

const BARE_BAD: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":7}}"#;
const BARE_GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn an_empty_file_is_clean_and_said_to_be_empty() {
    let place = Place::new().file("empty.jsonl", "");
    let run = place.run(&["check", "empty.jsonl"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.contains("0 messages"), "{}", run.stdout);
    check(b"", &[], 0, &[]);
    check(b"\n\n\n", &[], 0, &[]);
}

#[test]
fn a_binary_file_is_checked_line_by_line() {
    let mut file = vec![0x7f, b'E', b'L', b'F', 0, 1, 2, 0xff, b'\n'];
    file.extend_from_slice(BARE_BAD.as_bytes());
    file.extend_from_slice(b"\n\x00\x00\x00\n");
    check(&file, &[], 1, &[(1, "stdout-non-json"), (2, "params-invalid"), (3, "stdout-non-json")]);
}

#[test]
fn a_line_of_a_gigabyte_is_skipped_in_little_memory() {
    let place = Place::new();
    // The address space is limited: a buffer that grew with the line could not be allocated.
    let script =
        format!("ulimit -v 400000; exec {} check --format json -", env!("CARGO_BIN_EXE_plumb"));
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(place.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        writeln!(stdin, "{BARE_GOOD}").unwrap();
        let block = vec![b'x'; 1 << 20];
        for _ in 0..1024 {
            stdin.write_all(&block).unwrap();
        }
        writeln!(stdin, "\n{BARE_BAD}").unwrap();
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        rules(&stdout),
        [(2, "message-size-limit".to_owned()), (3, "params-invalid".to_owned())],
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_message_over_the_configured_size_is_a_finding() {
    let place = Place::new()
        .file("plumb.toml", "[limits]\nmessage_bytes = 60\n")
        .file("t.jsonl", &format!("{BAD}{GOOD}"));
    let run = place.run(&["check", "--format", "json", "t.jsonl"]);
    assert_eq!(rules(&run.stdout), [(1, "message-size-limit".to_owned())]);
    assert_eq!(run.code, Some(0), "a guard is a warning");
}

#[test]
fn a_batch_over_the_configured_length_is_a_finding() {
    let place = Place::new()
        .file("plumb.toml", "[limits]\nbatch = 2\n")
        .file("t.jsonl", &format!("[{BARE_GOOD},{BARE_GOOD},{BARE_BAD}]\n"));
    let run = place.run(&["check", "--format", "json", "--revision", "2025-03-26", "t.jsonl"]);
    let found = rules(&run.stdout);
    assert!(found.contains(&(1, "batch-size-limit".to_owned())), "{found:?}");
    assert!(!found.contains(&(1, "params-invalid".to_owned())), "beyond the limit: {found:?}");
}

#[test]
fn a_truncated_line_does_not_hide_the_others() {
    let cut = &BAD[..BAD.len() / 2];
    check(
        format!("{GOOD}{cut}\n{BAD}{cut}").as_bytes(),
        &[],
        1,
        &[(3, "trace-line-invalid"), (4, "params-invalid"), (5, "trace-line-invalid")],
    );
    let cut = &BARE_BAD[..BARE_BAD.len() - 5];
    check(
        format!("{cut}\n{BARE_BAD}\n{cut}").as_bytes(),
        &[],
        1,
        &[(1, "stdout-non-json"), (2, "params-invalid"), (3, "stdout-non-json")],
    );
}

#[test]
fn carriage_returns_before_line_breaks_are_whitespace() {
    check(GOOD.replace('\n', "\r\n").as_bytes(), &[], 0, &[]);
    check(BAD.replace('\n', "\r\n").as_bytes(), &[], 1, &[(1, "params-invalid")]);
}

#[test]
fn a_byte_order_mark_is_the_recorders_in_a_trace_and_the_peers_on_the_wire() {
    check(format!("\u{feff}{GOOD}").as_bytes(), &[], 0, &[]);
    check(format!("\u{feff}{BARE_GOOD}\n").as_bytes(), &[], 0, &[(1, "byte-order-mark")]);
    check(
        format!("{BARE_GOOD}\n\u{feff}{BARE_BAD}\n").as_bytes(),
        &[],
        1,
        &[(2, "byte-order-mark"), (2, "params-invalid")],
    );
}

#[test]
fn nul_bytes_and_invalid_utf8_are_found_where_they_are() {
    let mut file = br#"{"jsonrpc":"2.0","id":1,"method":"a"#.to_vec();
    file.extend_from_slice(b"\xff\xfe\"}\n");
    file.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\x00\"id\":1,\"method\":\"ping\"}\n");
    file.extend_from_slice(BARE_BAD.as_bytes());
    check(&file, &[], 1, &[(1, "invalid-utf8"), (2, "stdout-non-json"), (3, "params-invalid")]);
}

#[test]
fn a_hundred_thousand_nested_arrays_are_too_deep_not_a_crash() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{{"a":{deep}}}}}}}"#
    );
    let file = format!("{message}\n{BARE_BAD}\n{deep}\n");
    check(
        file.as_bytes(),
        &[],
        1,
        &[(1, "json-depth-limit"), (2, "params-invalid"), (3, "json-depth-limit")],
    );
}

#[test]
fn unreadable_input_is_reported_and_the_rest_is_checked() {
    let place = Place::new().file("bad.jsonl", BAD);
    let run = place.run(&["check", "--format", "json", "missing.jsonl", "bad.jsonl"]);
    assert_eq!(rules(&run.stdout), [(1, "params-invalid".to_owned())]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("could not open missing.jsonl"), "{}", run.stderr);
}

#[test]
fn a_directory_without_permission_is_reported_and_the_rest_is_checked() {
    let place = Place::new().file("bad.jsonl", BAD).file("secret/t.jsonl", BAD);
    let root = place.0.path();
    fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(root.join("secret"), fs::Permissions::from_mode(0o000)).unwrap();
    // Permissions do not apply to root: become another user, with a copy they can reach.
    let program = root.join("plumb");
    fs::copy(env!("CARGO_BIN_EXE_plumb"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let is_root = fs::read_dir(root.join("secret")).is_ok();
    let mut command = if is_root {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        command
    } else {
        Command::new(&program)
    };
    let output =
        command.args(["check", "--format", "json", "."]).current_dir(root).output().unwrap();
    fs::set_permissions(root.join("secret"), fs::Permissions::from_mode(0o755)).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(rules(&String::from_utf8_lossy(&output.stdout)), [(1, "params-invalid".to_owned())]);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("could not list ./secret"), "{stderr}");
}

#[test]
fn nobody_is_blamed_for_text_whose_writer_is_unknown() {
    let place = Place::new().file("cut.ndjson", &BARE_BAD[..20]);
    let run = place.run(&["check", "--format", "json", "cut.ndjson"]);
    let finding: serde_json::Value = serde_json::from_str(run.stdout.trim()).unwrap();
    assert_eq!((&finding["rule"], finding.get("from")), (&"stdout-non-json".into(), None));
}

#[test]
fn dropped_findings_are_reported() {
    let both = BARE_BAD.replace("\"name\":7", "\"name\":7,\"arguments\":8");
    let place = Place::new()
        .file("plumb.toml", "[limits]\nfindings = 1\n")
        .file("t.ndjson", &format!("{both}\n"));
    let run = place.run(&["check", "t.ndjson"]);
    assert_eq!(run.stdout.matches("error[params-invalid]").count(), 1, "{}", run.stdout);
    assert!(run.stdout.contains("1 finding not shown"), "{}", run.stdout);
}
