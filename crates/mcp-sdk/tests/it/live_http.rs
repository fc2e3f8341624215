//! Live HTTP traffic is judged as `plumb check` judges a recording of it.

use std::sync::{Arc, Mutex};

use mcp_rules::{Engine, Findings, LineReader, Observer, RecordingInfo, Routed};
use mcp_sdk::{
    Client, Finding, NoArguments, Server, Settings, Strictness, TraceEntry, TraceWriter,
    Validation, core::Revision, schema::Schemas, transport::http::server::HttpSettings,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The findings of one side of a live conversation, and its recording.
#[derive(Clone)]
struct Live {
    found: Arc<Mutex<Vec<String>>>,
    trace: Arc<Mutex<TraceWriter<Vec<u8>>>>,
}

fn named(finding: &Finding) -> String {
    let from = finding.from.map_or("nobody", |side| side.as_str());
    format!("{} ({from})", finding.rule.name)
}

impl Live {
    fn new() -> Live {
        let trace = Arc::new(Mutex::new(TraceWriter::new(Vec::new())));
        Live { found: Arc::default(), trace }
    }

    fn validation(&self, strictness: Strictness) -> Validation {
        let (found, trace) = (Arc::clone(&self.found), Arc::clone(&self.trace));
        Validation::with(strictness, Settings::default())
            .on_finding(move |finding| found.lock().unwrap().push(named(finding)))
            .on_http(move |event| trace.lock().unwrap().write(&TraceEntry::http(*event)).unwrap())
    }

    fn found(&self) -> Vec<String> {
        let mut found = self.found.lock().unwrap().clone();
        found.sort();
        found
    }

    /// What `plumb check` finds in the recording.
    fn recorded(&self) -> Vec<String> {
        let mut trace = self.trace.lock().unwrap();
        let engine = Engine::new(Schemas::embedded(), Settings::default());
        let info = RecordingInfo::default();
        let mut observer = Observer::new(&engine, info);
        let (mut findings, mut judged) = (Findings::new(engine.settings()), Vec::new());
        let mut found = Vec::new();
        let mut reader = LineReader::new(&engine.settings().limits);
        let lines = trace.get_mut().split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for (position, line) in lines.enumerate() {
            reader.read(line, |line| {
                let number = position as u64 + 1;
                if let Routed::Judge(followed) = observer.follow(number, line, &mut judged) {
                    line.judge(&engine, &followed, &mut findings);
                    found.extend(findings.take());
                }
            });
            found.extend(judged.drain(..).flat_map(|judged| judged.findings));
        }
        let mut found: Vec<String> = found.iter().map(named).collect();
        found.sort();
        found
    }

    #[track_caller]
    fn agrees(&self, case: &str) -> Vec<String> {
        let (found, recorded) = (self.found(), self.recorded());
        let trace = String::from_utf8_lossy(self.trace.lock().unwrap().get_mut()).into_owned();
        assert_eq!(found, recorded, "{case}: live and recorded\n{trace}");
        found
    }
}

fn server(validation: Validation) -> Server {
    Server::builder("test", "1.0.0")
        .validation(validation)
        .tool("nothing", "Does nothing", async |_: NoArguments, _| Ok("done"))
        .build()
        .unwrap()
}

async fn serve(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let settings = HttpSettings::default();
    tokio::spawn(async move {
        server.serve_http_on(listener, settings, std::future::pending()).await;
    });
    address
}

/// The head and the body of the response.
async fn send(address: &str, method: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";
const JSON: &str = "Content-Type: application/json\r\n";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const MODERN_LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
    "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// A request to a server: method, headers, body. `SESSION` is replaced by the header with the
/// session id.
type Request = (&'static str, String, &'static str);

fn post(headers: &[&str], body: &'static str) -> Request {
    ("POST", headers.concat(), body)
}

const SESSION: &str = "SESSION";
const VERSION: &str = "MCP-Protocol-Version: 2025-11-25\r\n";
const MODERN: &str = "MCP-Protocol-Version: 2026-07-28\r\n";

/// Conversations with mistakes of the client, and the rules that they violate.
fn conversations() -> Vec<(&'static str, Vec<Request>, &'static [&'static str])> {
    let opened = |rest: Vec<Request>| {
        let mut all = vec![post(&[ACCEPT, JSON], INITIALIZE)];
        all.push(post(&[ACCEPT, JSON, SESSION, VERSION], INITIALIZED));
        all.extend(rest);
        all
    };
    let list = |headers: &[&str]| opened(vec![post(headers, LIST)]);
    vec![
        ("all is well", list(&[ACCEPT, JSON, SESSION, VERSION]), &[]),
        ("the session is ended", opened(vec![("DELETE", [SESSION, VERSION].concat(), "")]), &[]),
        ("no Accept", list(&[JSON, SESSION, VERSION]), &["http-accept-missing (client)"]),
        (
            "half of Accept",
            list(&["Accept: application/json\r\n", JSON, SESSION, VERSION]),
            &["http-accept-missing (client)"],
        ),
        (
            "another content type",
            list(&[ACCEPT, "Content-Type: text/plain\r\n", SESSION, VERSION]),
            &["http-request-content-type (client)"],
        ),
        ("not JSON", vec![post(&[ACCEPT, JSON], "{\"jsonrpc\"")], &["http-body-not-json (client)"]),
        (
            "headers that say nothing",
            vec![post(&[ACCEPT, JSON, MODERN], MODERN_LIST)],
            &["mcp-method-header-missing (client)"],
        ),
        (
            "headers that say something else",
            vec![post(&[ACCEPT, JSON, MODERN, "Mcp-Method: tools/call\r\n"], MODERN_LIST)],
            &["mcp-method-header-mismatch (client)"],
        ),
        (
            "modern and well",
            vec![post(&[ACCEPT, JSON, MODERN, "Mcp-Method: tools/list\r\n"], MODERN_LIST)],
            &[],
        ),
    ]
}

#[tokio::test]
async fn a_server_finds_what_its_recording_shows() {
    for strictness in [Strictness::Observe, Strictness::Enforce] {
        for (case, requests, expected) in conversations() {
            let live = Live::new();
            let address = serve(server(live.validation(strictness))).await;
            let mut session = String::new();
            for (method, headers, body) in requests {
                let headers = headers.replace(SESSION, &session);
                let response = send(&address, method, &headers, body).await;
                let opened = response.lines().find(|text| text.starts_with("mcp-session-id"));
                if let Some(header) = opened {
                    session = format!("{header}\r\n");
                }
            }
            let case = format!("{case}, {strictness:?}");
            assert_eq!(live.agrees(&case), expected, "{case}");
        }
    }
}

#[tokio::test]
async fn violations_of_http_rules_are_rejected_only_under_enforcement() {
    let half = ["Accept: application/json\r\n", JSON, MODERN, "Mcp-Method: tools/list\r\n"];
    for (strictness, status) in [(Strictness::Observe, "200"), (Strictness::Enforce, "400")] {
        let live = Live::new();
        let address = serve(server(live.validation(strictness))).await;
        let response = send(&address, "POST", &half.concat(), MODERN_LIST).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{strictness:?}: {response}");
        assert_eq!(response.contains("http-accept-missing"), status == "400", "{response}");
    }
}

#[tokio::test]
async fn a_valid_conversation_has_no_findings() {
    for revision in Revision::ALL {
        let (ours, theirs) = (Live::new(), Live::new());
        let address = serve(server(theirs.validation(Strictness::Enforce))).await;
        let client = Client::builder("test", "1.0.0")
            .validation(ours.validation(Strictness::Enforce))
            .revision(revision)
            .connect_http(&format!("http://{address}/mcp"))
            .await
            .unwrap();
        client.all_tools().await.unwrap();
        for _ in 0..3 {
            client.call_tool("nothing", json!({})).await.unwrap();
        }
        client.close().await;
        for live in [&ours, &theirs] {
            assert_eq!(live.agrees(&revision.to_string()), Vec::<String>::new());
            assert!(live.trace.lock().unwrap().get_mut().len() > 1000, "it was recorded");
        }
    }
}

/// Faults of a server: a part of its valid responses, and its replacement.
const FAULTS: [(&str, &str, &str); 4] = [
    ("nothing", "nothing", ""),
    ("a notification is answered with 200", "202 Accepted", "200 OK"),
    ("the session id has a space", "mcp-session-id: abc", "mcp-session-id: a c"),
    ("a result is called plain text", "content-type: application/json\r\nx-list", "x-list"),
];

/// The valid response to a request.
fn response_to(request: &str) -> String {
    let has = |text| request.contains(text);
    let (head, body) = if has("\"initialize\"") {
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
            "capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
        ("200 OK\r\ncontent-type: application/json\r\nmcp-session-id: abc", result)
    } else if has("notifications/initialized") {
        ("202 Accepted", "")
    } else if has("tools/list") {
        let result = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
        ("200 OK\r\ncontent-type: application/json\r\nx-list: yes", result)
    } else {
        ("405 Method Not Allowed\r\nallow: POST", "")
    };
    let length = body.len();
    format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// A server whose responses have `right` replaced by `wrong`.
async fn serve_wrongly(right: &'static str, wrong: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = Vec::new();
                let mut chunk = [0; 4096];
                // Every request arrives in one or two parts: head and body.
                while let Ok(length @ 1..) = stream.read(&mut chunk).await {
                    request.extend_from_slice(&chunk[..length]);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    if !text.starts_with("POST") || text.contains("\r\n\r\n{") {
                        let response = response_to(&text).replace(right, wrong);
                        let _ = stream.write_all(response.as_bytes()).await;
                        return;
                    }
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn a_client_finds_what_its_recording_shows() {
    for (case, right, wrong) in FAULTS {
        let live = Live::new();
        let address = serve_wrongly(right, wrong).await;
        let client = Client::builder("test", "1.0.0")
            .validation(live.validation(Strictness::Observe))
            .revision(Revision::V2025_11_25)
            .connect_http(&format!("http://{address}/mcp"))
            .await
            .unwrap();
        // It may fail, which does not matter here.
        let _ = client.all_tools().await;
        client.close().await;
        let found = live.agrees(case);
        let is_server = found.iter().any(|finding| finding.ends_with("(server)"));
        assert_eq!(is_server, case != "nothing", "{case}: {found:?}");
        assert!(is_server || found.is_empty(), "{case}: {found:?}");
    }
}
