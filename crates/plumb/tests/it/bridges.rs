//! `plumb proxy` between clients and servers that use different transports.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStderr, Command, Stdio},
    thread,
};

use crate::Place;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server that answers `initialize` and what has the id 2, and leaves a file when it exits.
const SERVER: &str = r#"
    while read -r line; do
        case "$line" in
            *'"id":1,'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}' ;;
            *'"id":2,'*) echo noise; echo '{"jsonrpc":"2.0",  "id":2,"result":{"x":"\u00e4"}}' ;;
        esac
    done
    echo bye > bye"#;

/// A proxy that listens.
struct Listening {
    child: Child,
    errors: BufReader<ChildStderr>,
    address: String,
}

impl Listening {
    fn start(place: &Place, args: &[&str]) -> Listening {
        let args: Vec<&str> = args.iter().copied().chain(["--", "sh", "-c", SERVER]).collect();
        Listening::in_front_of(place, &args)
    }

    /// In front of the server that `args` name.
    fn in_front_of(place: &Place, args: &[&str]) -> Listening {
        let mut all = vec!["proxy", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut child = place.command(&all).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("plumb: listening on http://").unwrap().to_owned();
        Listening { child, errors, address }
    }

    /// Tells it to stop; returns its exit code and what it has said.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let mut said = String::new();
        self.errors.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }

    fn post(&self, body: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The findings of a recording, as they are reported live.
fn recorded(place: &Place, name: &str) -> Vec<String> {
    let found = place.run(&["check", "--format", "json", name]).stdout;
    sorted(&found.replace(&format!("\"file\":\"{name}\","), ""))
}

#[test]
fn messages_pass_both_bridges_and_the_records_give_what_was_found_live() {
    let place = Place::new();
    for mode in [&[][..], &["--enforce"]] {
        let mut args = vec!["--format", "json", "--record", "http.jsonl"];
        args.extend(mode);
        let listening = Listening::start(&place, &args);
        let url = format!("http://{}/mcp", listening.address);
        let mut args = vec!["proxy", "--format", "json", "--record", "stdio.jsonl"];
        args.extend(mode);
        args.extend(["--upstream", &url]);
        let mut client = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = client.stdin.take().unwrap();
        let mut output = BufReader::new(client.stdout.take().unwrap()).lines();
        writeln!(input, "{INITIALIZE}").unwrap();
        assert!(output.next().unwrap().unwrap().contains("2025-11-25"));
        writeln!(input, "{INITIALIZED}").unwrap();
        writeln!(input, r#"{{"jsonrpc":"2.0","id":2, "method":"ping"}}"#).unwrap();
        let pong = output.next().unwrap().unwrap();
        // The result of a ping is empty, but other members are allowed.
        assert_eq!(pong, r#"{"jsonrpc":"2.0",  "id":2,"result":{"x":"\u00e4"}}"#);
        writeln!(input, "hello").unwrap();
        assert!(output.next().unwrap().unwrap().contains("-32700"));
        drop(input);
        assert!(output.next().is_none());
        let ended = client.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0));
        let live = String::from_utf8(ended.stderr).unwrap();
        assert!(live.contains("stdin-non-json"), "{live}");
        assert_eq!(sorted(&live), recorded(&place, "stdio.jsonl"), "{mode:?}");
        let (code, live) = listening.stop();
        assert_eq!(code, Some(0), "{live}");
        assert!(live.contains("stdout-non-json"), "{live}");
        assert_eq!(sorted(&live), recorded(&place, "http.jsonl"), "{mode:?}");
        let record = fs::read_to_string(place.0.path().join("http.jsonl")).unwrap();
        assert!(record.contains(r#""id":2, "method":"ping""#), "{record}");
    }
}

#[test]
fn children_are_ended_when_the_proxy_is_told_to_stop() {
    let place = Place::new();
    let listening = Listening::start(&place, &[]);
    assert!(listening.post(INITIALIZE, "").contains("mcp-session-id: "));
    assert!(!place.0.path().join("bye").exists());
    let (code, said) = listening.stop();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 messages, no errors"), "{said}");
    assert_eq!(fs::read_to_string(place.0.path().join("bye")).unwrap(), "bye\n");
}

#[test]
fn clients_of_a_child_need_the_token() {
    let place = Place::new().file("token", "right\n");
    let listening = Listening::start(&place, &["-q", "--auth-token-file", "token"]);
    for headers in ["", "Authorization: Bearer wrong\r\n"] {
        assert!(listening.post(INITIALIZE, headers).starts_with("HTTP/1.1 401"));
    }
    let answer = listening.post(INITIALIZE, "Authorization: Bearer right\r\n");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    listening.stop();
}

#[test]
fn unusable_arguments_are_told() {
    let place = Place::new();
    place.run(&["proxy", "--listen", "127.0.0.1:0"]).exits(2).complains("give a command");
    place.run(&["proxy", "--upstream", "localhost:1"]).exits(2).complains("http://");
    place
        .run(&["proxy", "--upstream", "http://localhost:1/", "--max-children", "3"])
        .exits(2)
        .complains("--listen");
    place
        .run(&["proxy", "--listen", "0.0.0.0:0", "--", "cat"])
        .exits(2)
        .complains("other machines");
}

#[test]
fn under_enforcement_a_version_that_nobody_published_does_not_pass() {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let place = Place::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}/mcp", server.local_addr().unwrap());
    // It answers one request: if the first were let through, the second would get no answer.
    let serving = thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(PING.as_bytes()) {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            asked.extend(byte);
        }
        let length = PONG.len();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{PONG}").unwrap();
        String::from_utf8(asked).unwrap()
    });
    let proxy = Listening::in_front_of(&place, &["-q", "--enforce", "--upstream", &upstream]);
    let named = |message: &str, version: &str| {
        proxy.post(message, &format!("Mcp-Session-Id: abc\r\nMCP-Protocol-Version: {version}\r\n"))
    };
    let refused = named(&PING.replace("1,", "7,"), "2099-01-01");
    assert!(refused.starts_with("HTTP/1.1 400 ") && refused.contains("-32022"), "{refused}");
    let passed = named(PING, "2025-11-25");
    assert!(passed.starts_with("HTTP/1.1 200 ") && passed.ends_with(PONG), "{passed}");
    let asked = serving.join().unwrap();
    assert!(asked.contains("2025-11-25") && !asked.contains("2099-01-01"), "{asked}");
    proxy.stop();
}
