//! `plumb proxy`, with a client on its standard streams and a server as its child.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
    thread,
};

use crate::{Place, Run};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

/// What a server writes that answers each line of its input with the next of `answers`.
pub(crate) fn answering(answers: &[&str]) -> String {
    let mut script = String::new();
    for answer in answers {
        let _ = write!(script, "read -r line; printf '%s\\n' '{answer}'; ");
    }
    script + "cat >/dev/null"
}

/// Sends `input` in one go and returns everything that comes back.
pub(crate) fn through(
    place: &Place,
    args: &[&str],
    input: &[u8],
) -> (Option<i32>, Vec<u8>, String) {
    let mut child = place.command(args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // Both ends at once: a pipe holds only so much.
    let writing = thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// Bytes that look random, always the same.
fn noise(length: usize, alphabet: &[u8]) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            alphabet[usize::try_from(state % 1000).unwrap() % alphabet.len()]
        })
        .collect()
}

#[test]
fn bytes_pass_as_they_are_in_both_directions() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let mut long = vec![b'x'; 3 << 20];
    long.extend_from_slice(b"\n{}\n");
    let cases: [&[u8]; 9] = [
        b"",
        b"\n",
        b"no line break",
        b"{}\r\n\r\n\n \n[1]\n\xef\xbb\xbf{}\nlast",
        b"\0\xff\xfe\n{\"a\":\"\xc3\"}\n",
        &noise(100_000, &every_byte),
        &noise(100_000, b"{}[]\",:0a\n\r "),
        &noise(100_000, b"\n"),
        &long,
    ];
    let place = Place::new().file("plumb.toml", "[limits]\nmessage_bytes = 100000\n");
    for case in cases {
        let args = ["proxy", "-q", "--record", "r.jsonl", "--", "cat"];
        let (code, output, errors) = through(&place, &args, case);
        assert_eq!(code, Some(0), "{errors}");
        assert!(output == case, "{} bytes came back as {}", case.len(), output.len());
    }
}

#[test]
fn the_record_gives_the_findings_that_were_reported_live() {
    let place = Place::new();
    let answers = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        "listening",
        r#"{"jsonrpc":"2.0","id":"2","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"}]}}"#,
    ];
    let server = answering(&answers);
    let input = format!(
        "{INITIALIZE}\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n{PING}\n{}\n\n{{\n\"a\":1}}\n{{\"id\":7,",
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":null}}"#
    );
    for mode in [&["--record", "r.jsonl"][..], &["--record", "r.jsonl", "--enforce"]] {
        let mut args = vec!["proxy", "--format", "json"];
        args.extend(mode);
        args.extend(["--", "sh", "-c", &server]);
        let (_, _, live) = through(&place, &args, input.as_bytes());
        let recorded = place.run(&["check", "--format", "json", "r.jsonl"]);
        let recorded = recorded.stdout.replace("\"file\":\"r.jsonl\",", "");
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert!(live.lines().count() > 4, "{live}");
        assert_eq!(sorted(&live), sorted(&recorded), "{mode:?}");
    }
}

#[test]
fn the_exit_code_is_that_of_the_server() {
    let place = Place::new();
    assert_eq!(place.run(&["proxy", "-q", "--", "sh", "-c", "exit 7"]).code, Some(7));
    assert_eq!(place.run(&["proxy", "-q", "--", "sh", "-c", "kill -9 $$"]).code, Some(137));
    for listening in [&[][..], &["--listen", "127.0.0.1:0"]] {
        let args = [&["proxy"], listening, &["--", "no-such-server"]].concat();
        let Run { code, stdout, stderr } = place.run(&args);
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert!(!stderr.contains("0 messages"), "{stderr}");
        let expected = "cannot start `no-such-server`: there is no such program";
        assert!(stderr.contains(expected), "{stderr}");
    }
    assert_eq!(place.run(&["proxy"]).code, Some(2));
}

#[test]
fn standard_error_passes_and_nothing_else_goes_to_standard_output() {
    let place = Place::new();
    let args = ["proxy", "--", "sh", "-c", "echo oops >&2; echo hello"];
    let Run { stdout, stderr, .. } = place.run(&args);
    assert_eq!(stdout, "hello\n");
    assert!(stderr.contains("oops\n"), "{stderr}");
    assert!(stderr.contains("error[stdout-non-json] by the server"), "{stderr}");
    assert!(stderr.contains("1 error (0 by the client, 1 by the server)"), "{stderr}");
}

#[test]
fn an_invalid_request_is_answered_and_never_reaches_the_server() {
    let place = Place::new();
    let bad = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":null}}"#;
    let dropped = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let input = format!("{PING}\n{bad}\n{dropped}\nhello\n{{\n");
    let server = ["proxy", "-q", "--enforce", "--", "sh", "-c", "cat > received"];
    let (_, output, _) = through(&place, &server, input.as_bytes());
    assert_eq!(fs::read_to_string(place.0.path().join("received")).unwrap(), format!("{PING}\n"));
    let answers: Vec<serde_json::Value> = String::from_utf8(output)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [refused, no_json, incomplete] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(refused["id"], 5);
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(refused["error"]["data"][0]["rule"], "params-invalid");
    assert_eq!(no_json["error"]["code"], -32700);
    assert_eq!(incomplete["error"]["code"], -32700);
}

#[test]
fn an_invalid_response_becomes_an_error_for_the_requester() {
    let place = Place::new();
    let server = answering(&[r#"{"jsonrpc":"2.0","id":2,"result":7}"#]);
    let args = ["proxy", "-q", "--enforce", "--", "sh", "-c", &format!("echo log line; {server}")];
    let (_, output, _) = through(&place, &args, format!("{PING}\n").as_bytes());
    let answer: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(answer["id"], 2);
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["data"][0]["rule"].is_string(), "{answer}");
}

#[test]
fn a_line_over_the_limit_passes_unjudged_and_is_held_back_under_enforcement() {
    let place = Place::new().file("plumb.toml", "[limits]\nmessage_bytes = 1000\n");
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(2000)
    );
    let input = format!("{long}\n");
    let args = ["proxy", "--record", "r.jsonl", "--", "cat"];
    let (_, output, errors) = through(&place, &args, input.as_bytes());
    assert_eq!(output, input.as_bytes());
    assert!(errors.contains("message-size-limit"), "{errors}");
    let record = fs::read_to_string(place.0.path().join("r.jsonl")).unwrap();
    assert!(record.contains(&format!(r#""skipped":{}"#, long.len())), "{record}");

    let args = ["proxy", "-q", "--enforce", "--", "sh", "-c", "cat > received"];
    through(&place, &args, input.as_bytes());
    assert_eq!(fs::read(place.0.path().join("received")).unwrap(), b"");
}

#[test]
fn a_server_that_stays_when_the_client_has_left_is_ended() {
    let place = Place::new();
    let script = "trap '' TERM; echo $$; while :; do sleep 0.1; done";
    for script in [script, &script.replace("trap '' TERM;", "")] {
        let args = ["proxy", "-q", "--exit-wait", "0", "--", "sh", "-c", script];
        let Run { code, .. } = place.run(&args);
        assert!(matches!(code, Some(137 | 143)), "{code:?}");
    }
}

#[test]
fn a_client_that_stops_reading_ends_the_server() {
    let place = Place::new();
    let args = ["proxy", "-q", "--", "sh", "-c", "while echo x; do :; done; exit 3"];
    let mut child = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 10];
    child.stdout.as_mut().unwrap().read_exact(&mut some).unwrap();
    drop(child.stdout.take());
    // Its input stays open: only the output tells that the client is gone.
    assert!(child.wait().unwrap().code().is_some());
}

#[test]
fn records_belong_to_their_owner_and_older_ones_are_kept() {
    let place = Place::new().file("records/README", "");
    let path = place.0.path();
    for _ in 0..2 {
        through(&place, &["proxy", "-q", "--record", "r.jsonl", "--", "cat"], b"{}\n");
        through(&place, &["proxy", "-q", "--record", "records", "--", "cat"], b"{}\n");
    }
    for name in ["r.jsonl", "r.1.jsonl"] {
        let metadata = fs::metadata(path.join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(path.join("records")).unwrap().count(), 3);
    let Run { code, stderr, .. } = place.run(&["proxy", "--record", "no/such/place", "--", "cat"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("no/such/place"), "{stderr}");
}

#[test]
fn every_message_can_be_shown_as_it_passes() {
    let place = Place::new();
    let server = answering(&[r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]);
    let args = ["proxy", "--tail", "--", "sh", "-c", &server];
    let (_, _, shown) = through(&place, &args, format!("{PING}\nhello\n").as_bytes());
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines.iter().any(|line| line.contains("→ ping")), "{shown}");
    assert!(lines.iter().any(|line| line.contains("← result of ping")), "{shown}");
    assert!(shown.contains("    error[stdin-non-json] by the client"), "{shown}");
}

#[test]
fn secrets_are_masked_in_the_record_and_the_findings_stay() {
    let place = Place::new();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":{"password":"hunter2!","note":"private"}}}"#;
    let args = ["proxy", "--format", "json", "--record", "r.jsonl", "--redact", "--redact-pointer"];
    let args = [&args[..], &["/params/arguments/note", "--", "cat"]].concat();
    let (_, _, live) = through(&place, &args, format!("{call}\n").as_bytes());
    let record = fs::read_to_string(place.0.path().join("r.jsonl")).unwrap();
    assert!(!record.contains("hunter2") && !record.contains("private"), "{record}");
    let recorded = place.run(&["check", "--format", "json", "r.jsonl"]).stdout;
    assert_eq!(live.lines().count(), recorded.lines().count(), "{live}\n{recorded}");
}

#[test]
fn operators_get_figures_and_health() {
    let place = Place::new();
    let server = answering(&[r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]);
    let args = ["proxy", "-q", "--admin", "127.0.0.1:0", "--", "sh", "-c", &server];
    let mut child = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    let announced = errors.next().unwrap().unwrap();
    let address = announced.split_once("http://").unwrap().1.split_once('/').unwrap().0.to_owned();
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{PING}\nhello").unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    answers.next().unwrap().unwrap();
    // What has passed is judged a moment later.
    let expected = [
        r#"plumb_proxy_messages_total{from="client",kind="request",method="ping"} 1"#,
        r#"plumb_proxy_messages_total{from="server",kind="response",method="ping"} 1"#,
        r#"plumb_proxy_findings_total{rule="stdin-non-json",severity="error",side="client"} 1"#,
        r#"plumb_proxy_answer_seconds_count{method="ping"} 1"#,
    ];
    let mut shown = String::new();
    while !expected.iter().all(|line| shown.contains(line)) {
        shown = ask("/metrics");
        assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
        thread::yield_now();
    }
    assert!(ask("/healthz").starts_with("HTTP/1.1 200"));
    assert!(ask("/readyz").starts_with("HTTP/1.1 200"));
    assert!(ask("/other").starts_with("HTTP/1.1 404"));
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
