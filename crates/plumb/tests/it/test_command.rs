//! `plumb test`: a server is tested actively.

use super::Place;

/// Answers the handshake of the newest legacy revision with what it is given, and pings; nothing
/// else.
const SHELL: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *server/discover*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"shell","version":"1"}}}\n' "$id" ;;
    *'"method":"ping"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;
    *no-such-method*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;
  esac
done"#;

#[test]
fn a_server_that_does_not_run_is_no_finding() {
    let run = Place::new().run(&["test", "--", "no-such-program-anywhere"]).exits(2);
    assert!(run.stderr.contains("cannot be reached"), "{}", run.stderr);
    let run = Place::new().run(&["test", "ftp://example.com/"]).exits(2);
    assert!(run.stderr.contains("http, https, ws or wss"), "{}", run.stderr);
}

#[test]
fn a_fault_is_found_with_the_exchange_and_how_to_repeat_it() {
    let args = ["test", "--only", "requests/unknown-method", "--", "sh", "-c", SHELL];
    let run = Place::new().run(&args).exits(1);
    for part in [
        "error[unknown-method-accepted]",
        "plumb/no-such-method",
        "--only requests/unknown-method --revision 2025-11-25 --seed 1",
        "1 error",
    ] {
        assert!(run.stdout.contains(part), "no {part} in {}", run.stdout);
    }
}

#[test]
fn recordings_are_kept_and_checked_alike() {
    let place = Place::new();
    let only = "requests/unknown-method";
    let args =
        ["test", "--format", "json", "--record", "kept", "--only", only, "--", "sh", "-c", SHELL];
    let run = place.run(&args).exits(1);
    let found: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(found.iter().any(|finding| finding["rule"] == "unknown-method-accepted"), "{found:?}");
    // What only a test shows is not in a recording, and nothing else is wrong there.
    let others = found.iter().filter(|finding| finding["layer"] != "behaviour").count();
    assert_eq!(others, 0, "{found:?}");
    place.run(&["check", "--fail-on", "error", "kept"]).exits(0);
}
