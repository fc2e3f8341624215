//! `plumb inspect` finds what `plumb check` finds.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::Child,
    thread,
    time::Duration,
};

use serde_json::Value;

use super::{Place, har::CAPTURE};

const TRACE: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}}
{"from":"server","raw":"a log line"}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"txt"}]}}}
{"from":"server","raw":"another"}
"#;

/// How often each rule is broken by each side.
type Groups = BTreeMap<(String, String), u64>;

struct Inspecting {
    child: Child,
    /// `http://HOST/TOKEN/`
    address: String,
}

impl Inspecting {
    fn start(place: &Place, words: &[&str]) -> Inspecting {
        let words = [&["inspect", "--no-browser"], words].concat();
        let mut child = place.command(&words).env("GREETED", "world").spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let said = errors
            .lines()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("the page is at ")?.1.trim().to_owned()));
        Inspecting { child, address: said.unwrap() }
    }

    fn get(&self, path: &str) -> Value {
        let (host, token) = self.address.trim_start_matches("http://").split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /{token}{path} HTTP/1.0\r\nhost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Waits until a server has been connected to, and returns what is known of it.
    fn connected(&self) -> Value {
        for _ in 0..2000 {
            let state = self.get("api/speak");
            if state["status"] == "connected" {
                return state;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("not connected: {:#}", self.get("api/speak"));
    }

    fn problems(&self) -> Groups {
        let problems = self.get("api/problems");
        let group = |it: &Value| (name(&it["rule"], &it["atFault"]), it["count"].as_u64().unwrap());
        problems.as_array().unwrap().iter().map(group).collect()
    }
}

impl Drop for Inspecting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn name(rule: &Value, side: &Value) -> (String, String) {
    (rule.as_str().unwrap().to_owned(), side.as_str().unwrap_or_default().to_owned())
}

/// What `plumb check` prints, grouped.
fn checked(place: &Place, file: &str) -> Groups {
    let mut groups = Groups::new();
    for line in place.run(&["check", "--format", "json", file]).stdout.lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        *groups.entry(name(&finding["rule"], &finding["atFault"])).or_default() += 1;
    }
    groups
}

#[test]
fn its_problems_are_the_findings_of_check() {
    let place = Place::new().file("t.jsonl", TRACE).file("c.har", CAPTURE);
    for file in ["t.jsonl", "c.har"] {
        let expected = checked(&place, file);
        assert!(!expected.is_empty(), "{file}");
        let inspecting = Inspecting::start(&place, &[file]);
        let all: u64 = expected.values().sum();
        // The file is read while the page is served.
        let mut found = inspecting.problems();
        for _ in 0..2000 {
            if found.values().sum::<u64>() >= all {
                break;
            }
            thread::sleep(Duration::from_millis(10));
            found = inspecting.problems();
        }
        assert_eq!(found, expected, "{file}");
    }
}

/// Tells its name and where it was started.
const SCRIPT: &str = r#"read line; printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"%s","version":"%s"}}}\n' "$WHO" "$(basename "$PWD")"; exec cat >/dev/null"#;

#[test]
fn the_servers_of_a_client_can_be_chosen_from() {
    let server = |who: &str| serde_json::json!({ "command": "sh", "args": ["-c", SCRIPT], "env": { "WHO": who }, "cwd": "sub" });
    let old = serde_json::json!({ "type": "sse", "url": "http://127.0.0.1:9/sse" });
    let servers = serde_json::json!({ "mcpServers": { "old": old, "a": server("first"), "b": server("hello ${GREETED}") } });
    let place = Place::new().file("sub/empty", "").file("c.json", &format!("// mine\n{servers}"));
    let first = Inspecting::start(&place, &["c.json"]);
    let state = first.connected();
    assert_eq!((&state["server"], &state["servers"][1]["name"]), (&"a".into(), &"b".into()));
    assert_eq!(state["servers"].as_array().unwrap().len(), 2, "{state:#}");
    let party = &first.get("api/session")["server"]["info"];
    assert_eq!((&party["name"], &party["version"]), (&"first".into(), &"sub".into()), "{party}");
    let other = Inspecting::start(&place, &["c.json", "--server", "b", "--cwd", "."]);
    assert_eq!(other.connected()["server"], "b");
    let party = &other.get("api/session")["server"]["info"];
    assert_eq!(party["name"], "hello world", "{party}");
    assert_ne!(party["version"], "sub", "{party}");
    let unknown = place.run(&["inspect", "--no-browser", "c.json", "--server", "c"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    assert!(
        unknown.stderr.contains("skipping server `old`: it uses the HTTP+SSE"),
        "{}",
        unknown.stderr
    );
    assert!(unknown.stderr.contains("no server `c`"), "{}", unknown.stderr);
}

#[test]
fn a_server_is_started_in_the_environment_that_was_asked_for() {
    let place = Place::new().file("sub/empty", "");
    let words = ["--env", "WHO=me", "--cwd", "sub", "--", "sh", "-c", SCRIPT];
    let inspecting = Inspecting::start(&place, &words);
    inspecting.connected();
    let party = &inspecting.get("api/session")["server"]["info"];
    assert_eq!((&party["name"], &party["version"]), (&"me".into(), &"sub".into()), "{party}");
}

#[test]
fn a_choice_of_servers_needs_a_configuration() {
    let place = Place::new().file("t.jsonl", TRACE);
    let run = place.run(&["inspect", "--no-browser", "t.jsonl", "--server", "a"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("not the configuration of a client"), "{}", run.stderr);
    let url = "http://127.0.0.1:9/mcp";
    let run = place.run(&["inspect", "--no-browser", url, "--server", "a"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let run = place.run(&["inspect", "--no-browser", "t.jsonl", "--env", "A=1"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("is a recording"), "{}", run.stderr);
}
