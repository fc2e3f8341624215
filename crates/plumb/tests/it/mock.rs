//! `plumb mock`: a recording as a server.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use super::{GOOD, Place};

const CONVERSATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/conversations");

fn recorded(name: &str) -> String {
    format!("{CONVERSATIONS}/{name}.jsonl")
}

/// The messages of a recording, with their senders.
fn messages(trace: &str) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(trace).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["msg"].is_object())
        .map(|line| (line["from"].as_str().unwrap().to_owned(), line["msg"].clone()))
        .collect()
}

#[test]
fn a_client_that_repeats_the_recording_gets_the_recorded_answers() {
    // Those in which no answer waits for the client: nothing is answered here.
    for name in ["2025-06-18-stdio", "2026-07-28-input-required"] {
        let trace = recorded(name);
        let messages = messages(&trace);
        let answers: Vec<&Value> = messages
            .iter()
            .filter(|(from, message)| from == "server" && message.get("method").is_none())
            .map(|(_, message)| message)
            .collect();
        let is_answered = |id: &Value| answers.iter().any(|answer| answer["id"] == *id);
        let input: String = messages
            .iter()
            .filter(|(from, message)| from == "client" && message.get("method").is_some())
            .filter(|(_, message)| is_answered(&message["id"]))
            .map(|(_, message)| message.to_string() + "\n")
            .collect();
        let run = Place::new().run_with_input(&["mock", &trace], &input).exits(0);
        let played: Vec<Value> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|message| message.get("method").is_none())
            .collect();
        assert!(!answers.is_empty(), "{name}");
        assert_eq!(played.len(), answers.len(), "{name}");
        for answer in answers {
            assert!(played.contains(answer), "{name}: {answer}\n{}", run.stdout);
        }
    }
}

#[test]
fn what_was_never_recorded_is_an_error() {
    let place = Place::new().file("trace.jsonl", GOOD);
    let input = r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#;
    let run = place.run_with_input(&["mock", "trace.jsonl"], &format!("{input}\n")).exits(0);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let message = "the recording has no `tools/list`, only ping";
    let error = json!({ "code": -32603, "message": message });
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "a", "error": error }));
    run.complains("1 recorded answer in trace.jsonl");
}

#[test]
fn a_recording_that_cannot_be_served_is_a_failure() {
    let place = Place::new().file("empty.jsonl", "").file("trace.jsonl", GOOD);
    place.run(&["mock", "empty.jsonl"]).exits(2).complains("no answered request of a client");
    place.run(&["mock", "none.jsonl"]).exits(2).complains("could not read none.jsonl");
    let limited = ["mock", "trace.jsonl", "--memory", "0"];
    place.run(&limited).exits(2).complains("more than 0 bytes");
    let open = ["mock", "trace.jsonl", "--listen", "0.0.0.0:0"];
    place.run(&open).exits(2).complains("can be reached from other machines");
    let nowhere = ["mock", "trace.jsonl", "--listen", "127.0.0.1:99999"];
    place.run(&nowhere).exits(2).complains("could not listen on 127.0.0.1:99999");
}

/// A mock that serves HTTP.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn new(trace: &str) -> Served {
        let args = ["mock", trace, "--listen", "127.0.0.1:0"];
        let mut child = Place::new().command(&args).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .find_map(|line| Some(line.unwrap().split_once("listening on http://")?.1.to_owned()));
        Served { child, address: address.unwrap() }
    }

    /// Sends a message and returns the whole response.
    fn post(&self, headers: &[(&str, &str)], message: &Value) -> String {
        let mut response = String::new();
        self.send(headers, message).read_to_string(&mut response).unwrap();
        response
    }

    /// Opens a session and returns its id.
    fn initialize(&self) -> String {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "other", "version": "2" } });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params });
        let opened = self.post(&[], &initialize);
        assert!(opened.contains(r#""id":"i""#) && opened.contains("demo-server"), "{opened}");
        let mut lines = opened.lines().map(str::to_lowercase);
        lines.find_map(|line| Some(line.strip_prefix("mcp-session-id: ")?.to_owned())).unwrap()
    }

    /// Sends a message; the response is still to be read.
    fn send(&self, headers: &[(&str, &str)], message: &Value) -> TcpStream {
        let body = message.to_string();
        let mut request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in headers {
            request.extend([name, ": ", value, "\r\n"]);
        }
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        stream
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn sessions_are_served_over_http() {
    let served = Served::new(&recorded("2025-11-25-http"));
    let session = served.initialize();
    let headers = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-11-25")];
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert!(served.post(&headers, &initialized).starts_with("HTTP/1.1 202"));
    let ping = json!({ "jsonrpc": "2.0", "id": 40, "method": "ping" });
    let answer = served.post(&headers, &ping);
    assert!(answer.contains(r#"{"jsonrpc":"2.0","id":40,"result":{}}"#), "{answer}");
    let unknown = json!({ "jsonrpc": "2.0", "id": 41, "method": "prompts/list" });
    let answer = served.post(&headers, &unknown);
    assert!(answer.contains("the recording has no `prompts/list`"), "{answer}");
}

#[test]
fn stateless_exchanges_are_served_over_http() {
    let trace = recorded("2026-07-28-http");
    let served = Served::new(&trace);
    let messages = messages(&trace);
    let (_, discover) =
        messages.iter().find(|(_, message)| message["method"] == "server/discover").unwrap();
    let mut discover = discover.clone();
    discover["id"] = json!("mine");
    discover["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = json!("other");
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "server/discover")];
    for _ in 0..2 {
        let answer = served.post(&headers, &discover);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains(r#""id":"mine""#) && answer.contains("demo-server"), "{answer}");
    }
}

#[test]
fn a_request_of_the_server_is_sent_over_http_and_its_answer_awaited() {
    let served = Served::new(&recorded("2025-11-25-http"));
    let session = served.initialize();
    let headers = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-11-25")];
    let params = json!({ "name": "get_weather", "arguments": { "city": "Oslo" }, "_meta": { "progressToken": "mine" } });
    let call = json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params });
    let mut methods = Vec::new();
    for line in BufReader::new(served.send(&headers, &call)).lines() {
        let line = line.unwrap();
        let Some(Ok(message)) = line.strip_prefix("data: ").map(serde_json::from_str::<Value>)
        else {
            continue;
        };
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "mine");
        }
        if message["method"] == "sampling/createMessage" {
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} });
            assert!(served.post(&headers, &answer).starts_with("HTTP/1.1 202"));
        }
        methods.push(message["method"].as_str().unwrap_or("answer").to_owned());
    }
    let progress = "notifications/progress";
    assert_eq!(methods, [progress, "sampling/createMessage", progress, "answer"]);
}
