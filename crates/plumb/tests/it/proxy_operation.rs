//! A running proxy: reloading, ending in order, logs.

use std::{
    fs,
    io::{BufRead as _, BufReader, Lines, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;

use crate::{Place, proxy::answering};

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const AGREED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
pub(crate) const PONG: &str = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
/// Breaks `params-invalid`.
const BAD: &str = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":null}}"#;

/// A proxy that runs, with all of its streams.
pub(crate) struct Running {
    child: Child,
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    errors: BufReader<ChildStderr>,
}

impl Running {
    pub(crate) fn start(place: &Place, args: &[&str]) -> Running {
        let args = [&["proxy"], args].concat();
        let mut child = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
        Running {
            stdin: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()).lines(),
            errors: BufReader::new(child.stderr.take().unwrap()),
            child,
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    pub(crate) fn hear(&mut self) -> String {
        self.answers.next().unwrap().unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// The next line on standard error with `text` in it.
    pub(crate) fn told(&mut self, text: &str) -> String {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            assert!(self.errors.read_line(&mut line).unwrap() > 0, "no {text:?} in {all}");
            if line.contains(text) {
                return line;
            }
            all.push_str(&line);
        }
    }

    /// The address after the next `plumb: … http://`.
    pub(crate) fn address(&mut self) -> String {
        let line = self.told("http://");
        let (_, address) = line.split_once("http://").unwrap();
        address.trim().trim_end_matches("/metrics").to_owned()
    }

    /// The exit code, and the rest of what is said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.errors.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

pub(crate) fn connect(address: &str, method: &str, body: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream
}

pub(crate) fn read(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn settings_are_read_again_on_sighup() {
    let place = Place::new().file("plumb.toml", "");
    let file = place.0.path().join("plumb.toml");
    let server = answering(&[AGREED, PONG, PONG]);
    let mut proxy = Running::start(&place, &["--enforce=client", "--", "sh", "-c", &server]);
    proxy.say(INITIALIZE);
    assert_eq!(proxy.hear(), AGREED);
    proxy.say(BAD);
    assert!(proxy.hear().contains("-32602"));

    fs::write(&file, "[proxy.rules]\nparams-invalid = 'warn'\n").unwrap();
    proxy.signal("-HUP");
    proxy.told("plumb: settings reloaded");
    proxy.say(&BAD.replace(":5,", ":6,"));
    assert_eq!(proxy.hear(), PONG, "it has reached the server");

    // A broken file changes nothing.
    fs::write(&file, "[proxy.rules]\nparams-invalid = 'wran'\n").unwrap();
    proxy.signal("-HUP");
    let told = proxy.told("keeping the old ones");
    assert!(told.contains("plumb.toml:2:18: `wran` is not a proxy level"), "{told}");
    proxy.say(&BAD.replace(":5,", ":7,"));
    assert_eq!(proxy.hear(), PONG);

    // The conversation goes on where it was: its revision and ids are still known.
    fs::write(&file, "[limits]\ndepth = 9\n").unwrap();
    proxy.signal("-HUP");
    let told = proxy.told("only take effect after a restart");
    assert!(told.contains("limits"), "{told}");
    proxy.told("settings reloaded");
    proxy.say(INITIALIZE);
    let refused: Value = serde_json::from_str(&proxy.hear()).unwrap();
    assert!(refused["error"]["data"][0]["rule"].is_string(), "{refused}");
    drop(proxy.stdin);
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_schema_is_read_again_on_sighup() {
    let place = Place::new().file("plumb.toml", "schema = 'no-such.json'\n");
    let mut proxy = Running::start(&place, &["--", "sh", "-c", &answering(&[AGREED])]);
    proxy.told("no-such.json");
    proxy.say(INITIALIZE);
    assert_eq!(proxy.hear(), AGREED);
    fs::write(place.0.path().join("plumb.toml"), "schema = 'x.json'\nschema_required = true\n")
        .unwrap();
    proxy.signal("-HUP");
    let told = proxy.told("keeping the old ones");
    assert!(told.contains("a schema that is required cannot be used"), "{told}");
    drop(proxy.stdin);
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_schema_that_works_is_used_after_sighup_and_the_gauge_tells() {
    let place = Place::new().file("plumb.toml", "").file(
        "strict.json",
        r#"{"$defs": {"RequestParams": {"type": "object", "required": ["seal"]}}}"#,
    );
    let ping = |id: u8| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{}}}}"#);
    let file = place.0.path().join("plumb.toml");
    let server = answering(&[AGREED, PONG]);
    let options = ["--enforce=client", "--admin", "127.0.0.1:0", "--", "sh", "-c", &server];
    let mut proxy = Running::start(&place, &options);
    let admin = proxy.address();
    let gauge = || shown(&admin, "/metrics").contains("plumb_proxy_config_synced 1\n");
    proxy.say(INITIALIZE);
    assert_eq!(proxy.hear(), AGREED);
    proxy.say(&ping(2));
    assert_eq!(proxy.hear(), PONG);
    assert!(gauge());

    fs::write(&file, "schema = '2025-11-25=strict.json'\n").unwrap();
    proxy.signal("-HUP");
    proxy.told("settings reloaded");
    proxy.say(&ping(3));
    let refused = proxy.hear();
    assert!(refused.contains("-32602"), "{refused}");

    fs::write(&file, "schema = 5\n").unwrap();
    proxy.signal("-HUP");
    proxy.told("keeping the old ones");
    assert!(!gauge());
    proxy.say(&ping(4));
    assert!(proxy.hear().contains("error"), "the old ones are in use");

    fs::write(&file, "").unwrap();
    proxy.signal("-HUP");
    proxy.told("settings reloaded");
    assert!(gauge());
    drop(proxy.stdin);
    assert_eq!(proxy.child.wait().unwrap().code(), Some(0));
}

#[test]
fn requests_between_streams_get_their_answers_before_the_end() {
    let place = Place::new();
    // It answers only when it is told to.
    let server =
        format!("read -r line; echo '{AGREED}'; read -r line; read -r go; echo '{PONG}'; cat");
    let wait = ["--drain-wait", "600", "--record", "r.jsonl", "--", "sh", "-c", &server];
    let mut proxy = Running::start(&place, &wait);
    proxy.say(INITIALIZE);
    assert_eq!(proxy.hear(), AGREED);
    proxy.say(PING);
    // What has passed is judged a moment later.
    let record = place.0.path().join("r.jsonl");
    while !fs::read_to_string(&record).unwrap_or_default().contains(r#""ping""#) {}
    proxy.signal("-TERM");
    proxy.told("stopping: waiting");
    proxy.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(proxy.hear(), PONG);
    let (code, said) = proxy.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("5 messages"), "{said}");
}

#[test]
fn requests_without_an_answer_get_an_error_in_the_end() {
    let place = Place::new();
    let server = format!("read -r line; echo '{AGREED}'; cat >/dev/null");
    let wait = ["--drain-wait", "0", "--record", "r.jsonl", "--", "sh", "-c", &server];
    let mut proxy = Running::start(&place, &wait);
    proxy.say(INITIALIZE);
    assert_eq!(proxy.hear(), AGREED);
    proxy.say(PING);
    proxy.say(&PING.replace(":2,", ":3,"));
    // What has passed is judged a moment later.
    let record = place.0.path().join("r.jsonl");
    while !fs::read_to_string(&record).unwrap_or_default().contains(r#""id":3"#) {}
    proxy.signal("-TERM");
    let answer: Value = serde_json::from_str(&proxy.hear()).unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&2.into(), &(-32603).into()));
    assert!(answer["error"]["message"].as_str().unwrap().contains("proxy was stopped"), "{answer}");
    proxy.hear();
    assert_eq!(proxy.end().0, Some(0));
    let record = fs::read_to_string(record).unwrap();
    assert_eq!(record.matches(r#""by":"proxy""#).count(), 2, "{record}");
    place.run(&["check", "r.jsonl"]).exits(0);
}

#[test]
fn a_second_signal_ends_at_once() {
    let place = Place::new();
    let server = format!("trap '' TERM; read -r line; echo '{AGREED}'; while :; do sleep 1; done");
    let wait = ["--drain-wait", "600", "--record", "r.jsonl", "--", "sh", "-c", &server];
    let mut proxy = Running::start(&place, &wait);
    proxy.say(INITIALIZE);
    assert_eq!(proxy.hear(), AGREED);
    proxy.say(PING);
    let record = place.0.path().join("r.jsonl");
    while !fs::read_to_string(&record).unwrap_or_default().contains(r#""id":2"#) {}
    proxy.signal("-TERM");
    proxy.told("stopping: waiting");
    proxy.signal("-INT");
    assert!(proxy.hear().contains("proxy was stopped"));
    assert_eq!(proxy.end().0, Some(0));
}

/// A stdio server that answers `initialize`, and `ping` when the file `go` exists.
pub(crate) const PATIENT: &str = r#"
    while read -r line; do
        case "$line" in
            *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}' ;;
            *'"ping"'*) echo asked > asked; while [ ! -e go ]; do sleep 0.05; done; echo '{"jsonrpc":"2.0","id":2,"result":{}}' ;;
        esac
    done
    echo bye > bye"#;

/// Starts a proxy that listens and has a request waiting; with its admin address and the answer.
fn with_waiting_request(
    place: &Place,
    wait: &str,
    target: &[&str],
) -> (Running, String, TcpStream) {
    let options = ["--admin", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--drain-wait", wait];
    let mut proxy = Running::start(place, &[&options[..], target].concat());
    let admin = proxy.address();
    let address = proxy.address();
    let opened = read(connect(&address, "POST", INITIALIZE, ""));
    let session = opened
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap_or_else(|| panic!("{opened}"));
    let session = format!("Mcp-Session-Id: {}\r\n", session.trim());
    let waiting = connect(&address, "POST", PING, &session);
    while !place.0.path().join("asked").exists() {}
    assert!(read(connect(&admin, "GET", "", "")).starts_with("HTTP/1.1 404"));
    (proxy, admin, waiting)
}

pub(crate) fn ready(admin: &str) -> String {
    shown(admin, "/readyz")
}

fn shown(admin: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    read(stream)
}

#[test]
fn http_clients_of_children_get_their_answers_before_the_end() {
    let place = Place::new();
    let target = ["--", "sh", "-c", PATIENT];
    let (mut proxy, admin, waiting) = with_waiting_request(&place, "600", &target);
    assert!(ready(&admin).starts_with("HTTP/1.1 200"));
    proxy.signal("-TERM");
    proxy.told("stopping: waiting");
    assert!(ready(&admin).starts_with("HTTP/1.1 503"));
    fs::write(place.0.path().join("go"), "").unwrap();
    let answer = read(waiting);
    assert!(answer.contains(PONG), "{answer}");
    let (code, said) = proxy.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(place.0.path().join("bye").exists(), "the child has ended by itself");
}

#[test]
fn http_clients_of_children_get_an_error_in_the_end() {
    let place = Place::new();
    let target = ["--", "sh", "-c", PATIENT];
    let (proxy, _, waiting) = with_waiting_request(&place, "0", &target);
    proxy.signal("-TERM");
    let answer = read(waiting);
    assert!(answer.contains("-32603") && answer.contains("proxy was stopped"), "{answer}");
    fs::write(place.0.path().join("go"), "").unwrap();
    assert_eq!(proxy.end().0, Some(0));
}

#[test]
fn clients_of_a_gateway_get_their_answers_or_errors_before_the_end() {
    for (wait, expected) in [("600", PONG), ("0", "proxy was stopped")] {
        // The server behind the gateway is a proxy as well.
        let place = Place::new();
        let options = ["--listen", "127.0.0.1:0", "--", "sh", "-c", PATIENT];
        let mut upstream = Running::start(&place, &options);
        let url = format!("http://{}/mcp", upstream.address());
        let (mut proxy, admin, waiting) = with_waiting_request(&place, wait, &["--upstream", &url]);
        proxy.signal("-TERM");
        proxy.told("stopping: waiting");
        if wait == "600" {
            assert!(ready(&admin).starts_with("HTTP/1.1 503"));
            fs::write(place.0.path().join("go"), "").unwrap();
        }
        let answer = read(waiting);
        assert!(answer.contains(expected), "{answer}");
        let (code, said) = proxy.end();
        assert_eq!(code, Some(0), "{said}");
        fs::write(place.0.path().join("go"), "").unwrap();
        upstream.signal("-TERM");
        assert_eq!(upstream.end().0, Some(0));
    }
}

#[test]
fn a_client_on_streams_gets_its_answers_from_a_url_before_the_end() {
    for (wait, expected) in [("600", PONG), ("0", "proxy was stopped")] {
        let place = Place::new();
        let options = ["--listen", "127.0.0.1:0", "--", "sh", "-c", PATIENT];
        let mut upstream = Running::start(&place, &options);
        let url = format!("http://{}/mcp", upstream.address());
        let mut proxy = Running::start(&place, &["--drain-wait", wait, "--upstream", &url]);
        proxy.say(INITIALIZE);
        proxy.hear();
        proxy.say(PING);
        while !place.0.path().join("asked").exists() {}
        proxy.signal("-TERM");
        proxy.told("stopping: waiting");
        if wait == "600" {
            fs::write(place.0.path().join("go"), "").unwrap();
        }
        let answer = proxy.hear();
        assert!(answer.contains(expected), "{answer}");
        let (code, said) = proxy.end();
        assert_eq!(code, Some(0), "{said}");
        fs::write(place.0.path().join("go"), "").unwrap();
        upstream.signal("-TERM");
        assert_eq!(upstream.end().0, Some(0));
    }
}

#[test]
fn everything_on_standard_error_can_be_json() {
    let place = Place::new().file("plumb.toml", "[rules]\n'wheather-*' = 'off'\n");
    let server = format!("echo oops >&2; {}", answering(&[AGREED]));
    let options = ["--log-format", "json", "--log-level", "debug", "--admin", "127.0.0.1:0"];
    let enforced = ["--enforce", "--", "sh", "-c", &server];
    let mut proxy = Running::start(&place, &[&options[..], &enforced].concat());
    proxy.say(INITIALIZE);
    proxy.hear();
    proxy.say(BAD);
    proxy.hear();
    proxy.signal("-HUP");
    let mut said = proxy.told("settings reloaded");
    drop(proxy.stdin);
    proxy.errors.read_to_string(&mut said).unwrap();
    for line in said.lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert!(entry["level"].is_string() || entry["rule"].is_string(), "{line}");
    }
    assert!(said.contains("no errors") || said.contains("held back"), "{said}");
    let failed = place.run(&["proxy", "--log-format", "json", "--", "no-such-server"]).exits(2);
    let last: Value = serde_json::from_str(failed.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(last["level"], "ERROR", "{}", failed.stderr);
}

#[test]
fn the_level_decides_what_is_logged() {
    let place = Place::new().file("plumb.toml", "");
    for (level, is_said) in [("info", true), ("error", false)] {
        let args = ["--log-level", level, "--", "sh", "-c", &answering(&[AGREED])];
        let mut proxy = Running::start(&place, &args);
        proxy.say(INITIALIZE);
        proxy.hear();
        proxy.signal("-TERM");
        let (code, said) = proxy.end();
        assert_eq!((code, said.contains("stopping: waiting")), (Some(0), is_said), "{said}");
    }
}
