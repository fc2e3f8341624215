//! The adapter pair `mcp-core` and `mcp-jsonrpc`: one test for each line of its table.
//!
//! The wire types and every conversion have more tests beside their code in `mcp-jsonrpc`.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use mcp_core::{
    BoxFuture, CallToolResult, Context, Dispatch, Error, Inbound, Json, Outbound, OutboundRole,
    Tool, ToolHandler, ToolRegistry, Transport,
};
use mcp_jsonrpc::{
    JsonRpcError, JsonRpcId, JsonRpcNotification, JsonRpcProcessor, JsonRpcRequest, JsonRpcResponse,
};
use mcp_sdk::{
    Server, Validation,
    transport::memory::{self, MemoryTransport},
};
use serde_json::{Value, json};

/// Returns its arguments, or fails as they say, and counts its calls.
#[derive(Default, Clone)]
struct EchoTool {
    runs: Arc<AtomicUsize>,
}

impl ToolHandler for EchoTool {
    fn call(&self, arguments: Json, _: Context) -> BoxFuture<'_, Result<CallToolResult, Error>> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            match arguments.to_value().unwrap()["fail"].as_str() {
                Some("tool") => Err(Error::ToolError { message: "no luck".into() }),
                Some("params") => Err(Error::invalid_params("not these")),
                Some("internal") => Err(Error::internal("broken")),
                Some("panic") => panic!("on purpose"),
                _ => Ok(CallToolResult::structured(arguments)),
            }
        })
    }
}

fn registry() -> (ToolRegistry, EchoTool) {
    let echo = EchoTool::default();
    let tools = ToolRegistry::new();
    tools.insert("echo", Box::new(echo.clone()));
    let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    tools.define(Tool::new("count", schema.into()), Box::new(echo.clone())).unwrap();
    (tools, echo)
}

/// The ways to serve a registry: the pair alone, and a server of the SDK with its validation.
fn everywhere() -> Vec<(MemoryTransport, EchoTool)> {
    let (near, far) = memory::pair(16);
    let (tools, echo) = registry();
    tokio::spawn(JsonRpcProcessor::new(far, tools).run());
    let mut ways = vec![(near, echo)];
    for validation in [Validation::off(), Validation::observe(), Validation::enforce()] {
        let (near, far) = memory::pair(16);
        let (tools, echo) = registry();
        let server = Server::builder("bare", "1").tools(&tools).dispatch(Dispatch::Bare);
        let server = server.validation(validation.on_finding(|_| {})).build().unwrap();
        tokio::spawn(async move { server.serve(far).await });
        ways.push((near, echo));
    }
    ways
}

async fn send_text(transport: &impl Transport, text: &str) {
    let (bytes, role) = (text.to_owned().into(), OutboundRole::Request);
    transport
        .send(Outbound { bytes, role, ticket: None, headers: None, parsed: None })
        .await
        .unwrap();
}

async fn ask(transport: &impl Transport, text: &str) -> String {
    send_text(transport, text).await;
    let answer = tokio::time::timeout(std::time::Duration::from_secs(60), transport.receive());
    let answer = answer.await.expect("no timeout").unwrap();
    let Some(Inbound::Message { bytes, .. }) = answer else { panic!("no answer to {text}") };
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn ask_value(transport: &impl Transport, text: &str) -> Value {
    serde_json::from_str(&ask(transport, text).await).unwrap()
}

fn call(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// Wire types with `serde`: strict in both directions, payloads as values.
#[tokio::test]
async fn wire_types_with_serde() {
    for (transport, _) in everywhere() {
        let request = JsonRpcRequest::new("a", "echo", Some(json!({ "text": "hello" })));
        let answer = ask(&transport, &serde_json::to_string(&request).unwrap()).await;
        let answer: JsonRpcResponse = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer.id, Some(JsonRpcId::from("a")));
        assert_eq!(answer.result_as_value().unwrap(), request.params_as_value().unwrap());
        let request = JsonRpcRequest::new(2, "no-such", None);
        let answer = ask(&transport, &serde_json::to_string(&request).unwrap()).await;
        let answer: JsonRpcResponse = serde_json::from_str(&answer).unwrap();
        let error: &JsonRpcError = answer.error().unwrap();
        assert_eq!(error.data_as_value().unwrap().unwrap()["error_type"], "tool_not_found");
    }
    for wrong in [
        json!({ "jsonrpc": "2.0", "method": "echo" }),
        json!({ "jsonrpc": "1.0", "id": 1, "method": "echo" }),
        json!({ "jsonrpc": "2.0", "id": [], "method": "echo" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "echo", "params": 7 }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": 1 }),
    ] {
        assert!(serde_json::from_str::<JsonRpcRequest>(&wrong.to_string()).is_err(), "{wrong}");
        assert!(serde_json::from_value::<JsonRpcRequest>(wrong.clone()).is_err(), "{wrong}");
    }
    let both =
        json!({ "jsonrpc": "2.0", "id": 1, "result": 1, "error": { "code": 1, "message": "" } });
    assert!(serde_json::from_value::<JsonRpcResponse>(both).is_err());
    let notification = JsonRpcNotification::new("echo", None);
    assert!(
        serde_json::from_value::<JsonRpcRequest>(serde_json::to_value(notification).unwrap())
            .is_err()
    );
}

/// `ToolRegistry::new()`, `insert("echo", Box::new(EchoTool))`, `JsonRpcProcessor::new(transport,
/// tools)`, and run.
#[tokio::test]
async fn a_registry_filled_from_outside_is_served() {
    let (near, far) = memory::pair(16);
    let tools = ToolRegistry::new();
    tools.insert("echo", Box::new(EchoTool::default()));
    tokio::spawn(JsonRpcProcessor::new(far, tools).run());
    let answer = ask_value(&near, &call("1", "echo", r#"{"text":"hello"}"#)).await;
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": { "text": "hello" } }));
}

/// The method is the tool's name, the params are its arguments: one switch.
#[tokio::test]
async fn bare_dispatch_is_one_switch() {
    let (near, far) = memory::pair(16);
    let (tools, _) = registry();
    let server = Server::builder("bare", "1").dispatch(Dispatch::Bare).tools(&tools);
    let server = server.build().unwrap();
    tokio::spawn(async move { server.serve(far).await });
    // Null ids, batches, other methods and other codes follow from it.
    let batch = format!("[{},{}]", call("null", "echo", "{}"), call("1.5", "no-such", "{}"));
    let answers = ask_value(&near, &batch).await;
    assert_eq!(answers[0], json!({ "jsonrpc": "2.0", "id": null, "result": {} }));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(1.5), &json!(-32601)));
}

/// Pointers refer to the actual message, which has no `/params/arguments`.
#[tokio::test]
async fn bare_dispatch_has_pointers_into_the_actual_message() {
    for (transport, _) in everywhere().into_iter().skip(2) {
        let message: Value =
            serde_json::from_str(&call("1", "count", r#"{"count":"three"}"#)).unwrap();
        let answer = ask_value(&transport, &message.to_string()).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let finding = &answer["error"]["data"]["errors"][0];
        assert_eq!(finding["keyword"], "type", "{answer}");
        let place = finding.get("pointer").unwrap_or(&finding["instancePath"]);
        assert_eq!(message.pointer(place.as_str().unwrap()), Some(&json!("three")), "{answer}");
        assert_eq!(finding.get("method"), None, "{answer}");
    }
}

/// A notification runs the tool too, without a response.
#[tokio::test]
async fn a_bare_notification_runs_the_tool_without_a_response() {
    for (transport, echo) in everywhere() {
        for params in ["{}", r#"{"fail":"tool"}"#, r#"{"fail":"panic"}"#] {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"echo","params":{params}}}"#);
            send_text(&transport, &text).await;
        }
        send_text(&transport, r#"{"jsonrpc":"2.0","method":"no-such"}"#).await;
        let answer = ask_value(&transport, &call("7", "echo", "{}")).await;
        assert_eq!(answer["id"], 7, "nothing else is answered: {answer}");
        assert_eq!(echo.runs.load(Ordering::Relaxed), 4);
    }
}

/// The error table, and `data.error_type`.
#[tokio::test]
async fn the_error_table_in_bare_dispatch() {
    for (number, (transport, _)) in everywhere().into_iter().enumerate() {
        for (method, params, code, error_type) in [
            ("no-such", "{}", -32601, "tool_not_found"),
            ("echo", r#"{"fail":"params"}"#, -32602, "invalid_params"),
            ("echo", "[1]", -32602, "invalid_params"),
            ("echo", r#"{"fail":"tool"}"#, -32000, "tool_error"),
            ("echo", r#"{"fail":"internal"}"#, -32603, "internal_error"),
            ("echo", r#"{"fail":"panic"}"#, -32603, "internal_error"),
        ] {
            let answer = ask_value(&transport, &call("1", method, params)).await;
            let error = &answer["error"];
            assert_eq!(error["code"], code, "{answer}");
            assert_eq!(error["data"]["error_type"], error_type, "{answer}");
            assert!(error["data"]["errors"].is_array(), "{answer}");
        }
        let checks_schemas = number >= 2;
        let answer = ask_value(&transport, &call("1", "count", r#"{"count":"x"}"#)).await;
        assert_eq!(answer["error"].is_object(), checks_schemas, "{answer}");
        if checks_schemas {
            let data = &answer["error"]["data"];
            assert_eq!(data["error_type"], "invalid_params", "{answer}");
            assert_eq!(data["errors"].as_array().unwrap().len(), 1, "{answer}");
        }
    }
}

/// Ids: string, number and null are echoed unchanged.
#[tokio::test]
async fn ids_are_echoed_unchanged() {
    for (transport, _) in everywhere() {
        for id in [
            "1",
            "-7",
            "0",
            "1.5",
            "1.0",
            "1e2",
            "18446744073709551617",
            "null",
            "\"\"",
            r#""a\n""#,
        ] {
            let answer = ask(&transport, &call(id, "echo", "{}")).await;
            assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }
}

/// An unreadable id is null in plain JSON-RPC.
#[tokio::test]
async fn an_unreadable_id_is_null_in_plain_json_rpc() {
    for (transport, _) in everywhere() {
        for text in
            ["{", "7", "[]", r#"{"jsonrpc":"2.0","id":{},"method":"echo"}"#, r#"{"jsonrpc":"2.0"}"#]
        {
            let answer = ask_value(&transport, text).await;
            assert!(answer["error"]["code"].is_i64(), "{text}: {answer}");
            assert_eq!(answer.get("id"), Some(&Value::Null), "{text}: {answer}");
        }
    }
}

/// In MCP an unreadable id depends on the revision: null where every error needs an id, otherwise
/// omitted.
#[tokio::test]
async fn an_unreadable_id_depends_on_the_revision_in_mcp() {
    for (revision, is_null) in
        [("2024-11-05", true), ("2025-03-26", true), ("2025-06-18", true), ("2025-11-25", false)]
    {
        let (near, far) = memory::pair(16);
        let server = Server::builder("mcp", "1").tools(&registry().0).build().unwrap();
        tokio::spawn(async move { server.serve(far).await });
        let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": revision, "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        }});
        let opened = ask_value(&near, &opening.to_string()).await;
        assert_eq!(opened["result"]["protocolVersion"], revision);
        let answer = ask_value(&near, "{").await;
        assert_eq!(answer.get("id"), is_null.then_some(&Value::Null), "{revision}: {answer}");
    }
}

/// A WebSocket stream from `connect` passed to the processor, with plain WebSocket servers and
/// clients.
#[cfg(feature = "ws")]
mod websocket {
    use futures_util::{SinkExt as _, StreamExt as _};
    use mcp_sdk::transport::ws::{WsClientSettings, WsListener, WsServerSettings, connect};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_tungstenite::{WebSocketStream, accept_async, client_async, tungstenite::Message};

    use super::*;

    /// Calls the tool from the other end of a plain WebSocket.
    async fn calls_the_tool(mut socket: WebSocketStream<TcpStream>) {
        socket.send(Message::text(call("1", "echo", r#"{"text":"hello"}"#))).await.unwrap();
        let answer = socket.next().await.unwrap().unwrap();
        let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"text":"hello"}}"#;
        assert_eq!(answer.to_text().unwrap(), expected);
    }

    #[tokio::test]
    async fn a_stream_from_connect_works_with_a_plain_server() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            calls_the_tool(accept_async(stream).await.unwrap()).await;
        });
        let stream = connect(&url, &WsClientSettings::default()).await.unwrap();
        tokio::spawn(JsonRpcProcessor::new(stream, registry().0).run());
        server.await.unwrap();
    }

    #[tokio::test]
    async fn a_stream_that_is_accepted_works_with_a_plain_client() {
        let settings = WsServerSettings::default();
        let listener = WsListener::bind("127.0.0.1:0", settings).await.unwrap();
        let address = listener.local_addr();
        tokio::spawn(async move {
            let stream = listener.accept().await.unwrap();
            JsonRpcProcessor::new(stream, registry().0).run().await
        });
        let stream = TcpStream::connect(address).await.unwrap();
        let (socket, response) = client_async(format!("ws://{address}"), stream).await.unwrap();
        assert!(!response.headers().contains_key("sec-websocket-protocol"));
        calls_the_tool(socket).await;
    }

    #[tokio::test]
    async fn the_subprotocol_is_required_only_if_asked() {
        let mut settings = WsServerSettings::default();
        settings.require_subprotocol = true;
        let listener = WsListener::bind("127.0.0.1:0", settings).await.unwrap();
        let address = listener.local_addr();
        let stream = TcpStream::connect(address).await.unwrap();
        assert!(client_async(format!("ws://{address}"), stream).await.is_err());
        let mut settings = WsClientSettings::default();
        settings.require_subprotocol = true;
        connect(&format!("ws://{address}"), &settings).await.unwrap();
    }
}
