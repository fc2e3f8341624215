//! `plumb test --client`: a client is tested actively.

use super::Place;

/// Says everything at once, whatever the server answers.
const HASTY: &str = r#"printf '%s\n' \
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hasty","version":"1"}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' | eval "$PLUMB_SERVER" >/dev/null"#;

/// Opens a conversation over its own streams, and ignores whatever comes then.
const DEAF: &str = r#"echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"deaf","version":"1"}}}'
  while read -r line; do
    case "$line" in *'"result"'*) echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' ;; esac
  done"#;

#[test]
fn a_client_that_does_not_run_or_does_not_come_is_no_finding() {
    let place = Place::new();
    let run = place.run(&["test", "--client", "--", "no-such-program-anywhere"]).exits(2);
    assert!(run.stderr.contains("the client cannot be started"), "{}", run.stderr);
    let run = place.run(&["test", "--client", "--", "true"]).exits(2);
    for part in ["never connected", "{server}", "{url}", "PLUMB_SERVER", "PLUMB_URL", "--stdio"] {
        assert!(run.stderr.contains(part), "no {part} in {}", run.stderr);
    }
    place.run(&["test", "--client", "http://127.0.0.1:1/"]).exits(2);
}

#[test]
fn a_fault_is_found_in_what_a_client_sends() {
    let args = ["test", "--client", "--only", "handshake/plain", "--revision", "2025-11-25"];
    let run = Place::new().run(&[&args[..], &["--", "sh", "-c", HASTY]].concat()).exits(1);
    for part in [
        "hasty 1",
        "speaks 2025-11-25 over stdio",
        "error[initialized-before-response]",
        "--only handshake/plain --revision 2025-11-25 --client -- sh -c",
    ] {
        assert!(run.stdout.contains(part), "no {part} in {}", run.stdout);
    }
    assert!(!run.stdout.contains("seed"), "{}", run.stdout);
}

#[test]
fn a_client_may_speak_over_its_own_streams() {
    let place = Place::new();
    let args = ["test", "--client", "--stdio", "--only", "requests/ping", "--timeout", "1"];
    let more = ["--revision", "2025-11-25", "--format", "json", "--record", "kept"];
    let run = place.run(&[&args[..], &more, &["--", "sh", "-c", DEAF]].concat()).exits(1);
    let rules: Vec<String> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["rule"].to_string())
        .collect();
    assert_eq!(rules, ["\"ping-unanswered\""]);
    place.run(&["check", "--fail-on", "error", "kept"]).exits(0);
}
