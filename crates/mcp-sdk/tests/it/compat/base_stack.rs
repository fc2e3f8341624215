//! The profile `base-stack` in live conversations: an invalid request is answered with -32600 and
//! all its errors, an invalid response is reported and replaced by an error.

use std::sync::{Arc, Mutex};

use mcp_sdk::{
    Client, ClientError, Failure, Host, HostError, NoArguments, Profile, Server, Settings,
    Strictness, Validation,
    core::{
        Content, CreateMessageRequest, CreateMessageResult, PeerError, ReadResourceResult,
        Resource, Revision, SamplingMessage,
    },
    transport::memory::{self, MemoryTransport},
};
use serde_json::{Value, json};

use crate::wire::{receive, send, send_text};

fn base_stack() -> Validation {
    let mut settings = Settings::default();
    settings.profile = Profile::BaseStack;
    Validation::with(Strictness::Enforce, settings)
}

fn server() -> Server {
    Server::builder("test", "1.0.0")
        .validation(base_stack())
        .tool("greet", "Greets", async |_: NoArguments, _| Ok("hello"))
        .tool("ask", "Asks", async |_: NoArguments, context| {
            let message = SamplingMessage::user("Hi");
            let asked = context.sample("ask", &CreateMessageRequest::new(vec![message], 10)).await;
            asked.map(|_| "asked").map_err(|error| Failure::new(error.to_string()))
        })
        .build()
        .unwrap()
}

/// A client of `server` that sends handwritten messages, after the handshake if there is one.
pub(super) async fn open(server: Server, revision: Revision) -> MemoryTransport {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server.serve(far).await });
    if revision != Revision::LATEST {
        let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": revision.as_str(), "capabilities": { "sampling": {} },
            "clientInfo": { "name": "test", "version": "1" } } });
        send(&near, &initialize).await;
        assert_eq!(receive(&near).await["result"]["protocolVersion"], revision.as_str());
        send(&near, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }
    near
}

pub(super) fn call(id: &Value, method: &str, params: &Value, revision: Revision) -> Value {
    let mut call = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id });
    if revision == Revision::LATEST {
        call["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    call
}

const THREE_FAULTS: &str = r#"{"jsonrpc":"1.0","method":"","id":2,"params":7}"#;

/// Checks for the three faults of the message at `place`: the whole message, or an entry of a batch.
#[track_caller]
fn lists_three_faults(answer: &Value, place: &str) {
    assert_eq!(answer["id"], 2, "{answer}");
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    let errors = answer["error"]["data"].as_array().unwrap();
    let mut pointers: Vec<_> = errors.iter().map(|error| error["pointer"].as_str()).collect();
    pointers.sort_unstable();
    let expected = ["/jsonrpc", "/method", "/params"].map(|member| format!("{place}{member}"));
    assert_eq!(pointers, expected.each_ref().map(|pointer| Some(pointer.as_str())), "{answer}");
}

#[tokio::test]
async fn a_server_answers_an_invalid_request_with_all_its_errors() {
    for revision in Revision::ALL {
        let near = open(server(), revision).await;
        send_text(&near, THREE_FAULTS).await;
        lists_three_faults(&receive(&near).await, "");
        // The conversation continues.
        send(&near, &call(&json!(3), "tools/call", &json!({ "name": "greet" }), revision)).await;
        assert_eq!(receive(&near).await["result"]["content"][0]["text"], "hello", "{revision}");
    }
}

#[tokio::test]
async fn any_method_is_valid_even_if_not_served() {
    for revision in Revision::ALL {
        let near = open(server(), revision).await;
        send(&near, &call(&json!(1), "tools/execute", &json!({}), revision)).await;
        let answer = receive(&near).await;
        assert_eq!(answer["error"]["code"], -32601, "{revision}: {answer}");
        assert_eq!(answer["id"], 1, "{answer}");
    }
}

#[tokio::test]
async fn ids_may_be_null_or_fractional() {
    for revision in Revision::ALL {
        let near = open(server(), revision).await;
        for id in [json!(null), json!(1.5), json!("a"), json!(7)] {
            let greet = call(&id, "tools/call", &json!({ "name": "greet" }), revision);
            send(&near, &greet).await;
            let answer = receive(&near).await;
            assert_eq!(answer["result"]["content"][0]["text"], "hello", "{revision}: {answer}");
            assert_eq!(answer.get("id"), Some(&id), "{answer}");
        }
    }
}

#[tokio::test]
async fn batches_are_served_in_every_revision() {
    for revision in Revision::ALL {
        let near = open(server(), revision).await;
        let greet = |id| call(&json!(id), "tools/call", &json!({ "name": "greet" }), revision);
        let bad: Value = serde_json::from_str(THREE_FAULTS).unwrap();
        send(&near, &json!([greet(1), bad, greet(3)])).await;
        let answers = receive(&near).await;
        let answers = answers.as_array().unwrap_or_else(|| panic!("{revision}: {answers}"));
        let [first, second, third] = &answers[..] else { panic!("{answers:?}") };
        for (answer, id) in [(first, 1), (third, 3)] {
            assert_eq!(answer["result"]["content"][0]["text"], "hello", "{revision}: {answer}");
            assert_eq!(answer["id"], id);
        }
        lists_three_faults(second, "/1");
        assert_eq!(second["error"]["data"][0]["index"], 1, "{second}");
        send(&near, &json!([])).await;
        assert_eq!(receive(&near).await["error"]["code"], -32600, "an empty batch is invalid");
    }
}

type Reported = Arc<Mutex<Vec<String>>>;

fn reporting(validation: Validation) -> (Validation, Reported) {
    let reported = Reported::default();
    let sink = Arc::clone(&reported);
    let validation =
        validation.on_finding(move |finding| sink.lock().unwrap().push(finding.message.clone()));
    (validation, reported)
}

/// A client with the profile, and its handwritten server, after the handshake.
async fn client() -> (Client, MemoryTransport, Reported) {
    let (near, far) = memory::pair(16);
    let (validation, reported) = reporting(base_stack());
    let client = Client::builder("test", "1.0.0")
        .validation(validation)
        .on_sampling(async |_| Ok(CreateMessageResult::new("model", Content::text("Hi"))))
        .revision(Revision::V2025_11_25);
    let connecting = tokio::spawn(client.connect(near));
    let initialize = receive(&far).await;
    let result = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
        "serverInfo": { "name": "test", "version": "1" } });
    send(&far, &json!({ "jsonrpc": "2.0", "id": initialize["id"], "result": result })).await;
    assert_eq!(receive(&far).await["method"], "notifications/initialized");
    (connecting.await.unwrap().unwrap(), far, reported)
}

#[tokio::test]
async fn a_client_answers_an_invalid_request_with_all_its_errors() {
    let (_client, far, _) = client().await;
    send_text(&far, THREE_FAULTS).await;
    lists_three_faults(&receive(&far).await, "");
}

/// Invalid responses, with the pointers to their faults.
fn bad_responses(id: &Value) -> [(Value, &'static [&'static str]); 3] {
    [
        (
            json!({ "jsonrpc": "2.0", "id": id, "result": {}, "error": { "code": 1, "message": "" } }),
            &[""],
        ),
        (
            json!({ "jsonrpc": "1.0", "id": id, "error": { "code": 1.5, "message": 7 } }),
            &["/error/code", "/error/message", "/jsonrpc"],
        ),
        (json!({ "jsonrpc": "1.0", "id": id, "error": "no" }), &["/error", "/jsonrpc"]),
    ]
}

#[track_caller]
fn is_invalid(error: &ClientError, places: &[&str]) {
    let ClientError::Call { cause: PeerError::InvalidResponse { findings, .. }, .. } = error else {
        panic!("{error}")
    };
    let mut pointers: Vec<String> = findings
        .iter()
        .map(|finding| finding.read::<Value>().unwrap()["pointer"].as_str().unwrap().to_owned())
        .collect();
    pointers.sort_unstable();
    assert_eq!(pointers, places, "{error}");
}

#[tokio::test]
async fn a_client_gets_an_error_instead_of_an_invalid_response() {
    for which in 0..3 {
        let (client, far, reported) = client().await;
        let calling = tokio::spawn(async move { client.call_tool("any", json!({})).await });
        let (response, places) = bad_responses(&receive(&far).await["id"])[which].clone();
        send(&far, &response).await;
        is_invalid(&calling.await.unwrap().unwrap_err(), places);
        assert_eq!(reported.lock().unwrap().len(), places.len(), "{reported:?}");
    }
}

#[tokio::test]
async fn a_host_gets_an_error_instead_of_an_invalid_response() {
    let (client, far, _) = client().await;
    let host = Host::builder().server("wrong", client).build().unwrap();
    let calling = tokio::spawn(async move { host.call_tool("any", json!({})).await });
    let list = receive(&far).await;
    let tools = json!([{ "name": "any", "inputSchema": { "type": "object" } }]);
    send(&far, &json!({ "jsonrpc": "2.0", "id": list["id"], "result": { "tools": tools } })).await;
    let (response, places) = bad_responses(&receive(&far).await["id"])[1].clone();
    send(&far, &response).await;
    let error = calling.await.unwrap().unwrap_err();
    let HostError::Server { server, cause } = &error else { panic!("{error}") };
    assert_eq!(server, "wrong");
    is_invalid(cause, places);
}

#[tokio::test]
async fn a_tool_gets_an_error_instead_of_an_invalid_response() {
    let near = open(server(), Revision::V2025_11_25).await;
    send(&near, &call(&json!(1), "tools/call", &json!({ "name": "ask" }), Revision::V2025_11_25))
        .await;
    let question = receive(&near).await;
    assert_eq!(question["method"], "sampling/createMessage", "{question}");
    send(&near, &bad_responses(&question["id"])[1].0).await;
    let answer = receive(&near).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the response violates the protocol"), "{answer}");
}

#[tokio::test]
async fn a_server_replaces_its_own_invalid_response() {
    let (validation, reported) = reporting(base_stack());
    for (uri, is_bad) in [("resource://github", false), ("https://example.com/a", true)] {
        let server = Server::builder("test", "1.0.0")
            .validation(validation.clone())
            .resource(Resource::new(uri, "r"), async |_, _, _| {
                Ok(ReadResourceResult::new(Vec::new()))
            })
            .build()
            .unwrap();
        for revision in Revision::ALL {
            let near = open(server.clone(), revision).await;
            send(&near, &call(&json!(1), "resources/list", &json!({}), revision)).await;
            let answer = receive(&near).await;
            assert_eq!(answer["error"]["code"] == -32603, is_bad, "{revision}: {answer}");
            if is_bad {
                let finding = &answer["error"]["data"][0];
                assert_eq!(finding["rule"], "resource-uri-provider", "{answer}");
            }
        }
    }
    assert!(!reported.lock().unwrap().is_empty());
}

/// Posts `body` and returns the status and the response.
#[cfg(feature = "http")]
async fn post(address: &str, headers: &str, body: &str) -> (String, Value) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         {headers}\r\n{body}",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    // One event of a stream, or the body itself.
    let start = body.find(['{', '[']).unwrap_or(body.len());
    let end = body.rfind(['}', ']']).map_or(start, |end| end + 1);
    (head.to_owned(), serde_json::from_str(&body[start..end]).unwrap_or_default())
}

#[cfg(feature = "http")]
#[tokio::test]
async fn over_http_an_invalid_request_is_answered_with_all_its_errors() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let settings = mcp_sdk::transport::http::server::HttpSettings::default();
        server().serve_http_on(listener, settings, std::future::pending()).await;
    });
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
        "protocolVersion":"2025-11-25","capabilities":{},
        "clientInfo":{"name":"test","version":"1"}}}"#;
    let (head, _) = post(&address, "", initialize).await;
    let session = head.lines().find(|line| line.starts_with("mcp-session-id")).unwrap();
    let headers = format!("{session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    post(&address, &headers, initialized).await;
    let (_, answer) = post(&address, &headers, THREE_FAULTS).await;
    lists_three_faults(&answer, "");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (_, answers) = post(&address, &headers, &format!("[{ping},{THREE_FAULTS}]")).await;
    assert_eq!(answers[0]["result"], json!({}), "{answers}");
    lists_three_faults(&answers[1], "/1");

    // The headers match the body.
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: \r\n";
    let (_, answer) = post(&address, headers, THREE_FAULTS).await;
    lists_three_faults(&answer, "");
}

#[tokio::test]
async fn unreadable_messages_are_answered_with_a_null_id() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let near = open(server(), revision).await;
        for text in ["{", "[]", "7"] {
            send_text(&near, text).await;
            let answer = receive(&near).await;
            assert_eq!(answer.get("id"), Some(&Value::Null), "{revision} {text} {answer}");
        }
    }
}

#[tokio::test]
async fn an_unexpected_response_is_not_answered() {
    let near = open(server(), Revision::V2025_11_25).await;
    let both = r#"{"jsonrpc":"2.0","id":500,"result":{},"error":{"code":1,"message":"no"}}"#;
    send_text(&near, both).await;
    send_text(&near, r#"{"jsonrpc":"2.0","result":{}}"#).await;
    send(&near, &call(&json!(7), "ping", &json!({}), Revision::V2025_11_25)).await;
    assert_eq!(receive(&near).await["id"], 7);
}
