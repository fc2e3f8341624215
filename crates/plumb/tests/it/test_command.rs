//! `plumb test`: a server is tested actively.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

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
    assert_eq!(run.stderr.matches("cannot be reached").count(), 1, "{}", run.stderr);
    let run = Place::new().run(&["test", "ftp://example.com/"]).exits(2);
    assert!(run.stderr.contains("http, https, ws or wss"), "{}", run.stderr);
}

#[test]
fn a_server_that_wants_credentials_is_not_said_to_be_clean() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let answer = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\
                www-authenticate: Bearer resource_metadata=\"https://example.com/m\"\r\n\r\n";
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let run = Place::new().run(&["test", &url]).exits(2);
    assert!(run.stderr.contains("--header"), "{}", run.stderr);
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
fn a_probe_that_does_not_exist_is_not_passed() {
    let test = |only: &[&str]| {
        let mut args = vec!["test"];
        args.extend(only.iter().flat_map(|name| ["--only", name]));
        args.extend(["--", "sh", "-c", SHELL]);
        Place::new().run(&args)
    };
    let run = test(&["handshake/pin"]).exits(2);
    assert!(run.stderr.contains("there is no probe `handshake/pin`"), "{}", run.stderr);
    let run = test(&["handshake/pin", "handshake/ping"]).exits(0);
    assert!(run.stderr.contains("there is no probe `handshake/pin`"), "{}", run.stderr);
    // It is one, although not over this transport.
    test(&["http/origin"]).exits(0);
}

#[test]
fn a_dry_run_shows_what_each_revision_would_be_sent() {
    let args = ["test", "--dry-run", "--only", "walk/1", "--", "sh", "-c", SHELL];
    let run = Place::new().run(&args).exits(0);
    let walk = run.stdout.split("plan walk/1").nth(1).unwrap();
    assert!(walk.contains("\n       ping\n"), "{walk}");
    assert!(!walk.contains("subscriptions/listen"), "{walk}");
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

#[test]
fn a_page_has_every_fault_and_no_markup_of_the_server() {
    let server = SHELL.replace(r#""name":"shell""#, r#""name":"<script>alert(1)</script>""#);
    let args = ["test", "--format", "html", "--only", "requests", "--", "sh", "-c", &server];
    let page = Place::new().run(&args).exits(1).stdout;
    for part in [
        "<!doctype html>",
        "default-src 'none'",
        "<h1>&lt;script&gt;alert(1)&lt;/script&gt; 1</h1>",
        "<code>unknown-method-accepted</code>",
        "<h4>Exchange</h4>",
        "plumb test --only requests/unknown-method --revision 2025-11-25 --seed 1",
        "answer with the error -32601",
        "<td class=\"error\">fail</td>",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(!page.contains("<script") && !page.contains(" src=") && !page.contains("@import"));
}

#[test]
fn reports_for_programs_have_every_fault() {
    let run = |format: &str| {
        let only = "requests/unknown-method";
        let args = ["test", "--format", format, "--only", only, "--", "sh", "-c", SHELL];
        Place::new().run(&args).exits(1).stdout
    };
    let junit = run("junit");
    for part in [
        r#"<testsuites name="plumb test" tests="2" failures="1" errors="0" skipped="0">"#,
        r#"<testcase name="discover" classname="protocol.2025-11-25"></testcase>"#,
        r#"type="unknown-method-accepted""#,
        "repeat: plumb test --only requests/unknown-method",
    ] {
        assert!(junit.contains(part), "no {part} in {junit}");
    }
    let sarif: serde_json::Value = serde_json::from_str(&run("sarif")).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unknown-method-accepted");
    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "requests/unknown-method%402025-11-25");
    assert!(run("github").starts_with("::error file=requests/unknown-method@2025-11-25,line="));
}

/// What is printed must find the fault again, from a shell.
#[test]
fn the_line_that_repeats_a_fault_does() {
    let place = Place::new();
    let args =
        ["test", "--env", "A=it's", "--rule", "list-unstable=off", "--timeout", "4", "--only"];
    let rest = ["requests", "--", "sh", "-c", SHELL];
    let run = place.run(&[args.as_slice(), rest.as_slice()].concat()).exits(1);
    let start = run.stdout.find("repeat: ").unwrap() + "repeat: ".len();
    // The script in it has several lines.
    let end = run.stdout[start..].find("done'").unwrap() + "done'".len();
    let line = &run.stdout[start..start + end];
    let plumb = std::path::Path::new(env!("CARGO_BIN_EXE_plumb"));
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::iter::once(plumb.parent().unwrap().to_owned());
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    let again = std::process::Command::new("sh")
        .args(["-c", line])
        .env("PATH", path)
        .current_dir(place.0.path())
        .output()
        .unwrap();
    let text = String::from_utf8(again.stdout).unwrap();
    assert_eq!(again.status.code(), Some(1), "{text}");
    assert!(text.contains("error[unknown-method-accepted]"), "{text}");
    assert!(text.contains("--rule list-unstable=off"), "{text}");
}
