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
    fn start(place: &Place, file: &str) -> Inspecting {
        let mut child = place.command(&["inspect", "--no-browser", file]).spawn().unwrap();
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
        let inspecting = Inspecting::start(&place, file);
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
