//! A registry of tools, served by plain JSON-RPC.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use mcp_core::{
    BoxFuture, CallToolResult, Context, Dispatch, Error, Json, Mcp, Side, ToolHandler, ToolRegistry,
};
use mcp_jsonrpc::{JsonRpcProcessor, JsonRpcTransport, OpenGate, ProcessorSettings};
use serde_json::{Value, json};

use crate::rig::{Pipe, Wire};

/// Does what the params say, and counts its calls.
struct Willing(Arc<AtomicUsize>);

impl ToolHandler for Willing {
    fn call(&self, arguments: Json, _: Context) -> BoxFuture<'_, Result<CallToolResult, Error>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let wish = arguments.to_value().unwrap();
            match wish["end"].as_str() {
                Some("fail") => Err(Error::ToolError { message: "no luck".into() }),
                Some("result") => Ok(CallToolResult::error("no luck")),
                Some("params") => Err(Error::invalid_params("not these")),
                Some("internal") => Err(Error::internal("broken")),
                Some("panic") => panic!("on purpose"),
                Some("never") => std::future::pending().await,
                _ => Ok(CallToolResult::structured(arguments)),
            }
        })
    }
}

struct Served {
    wire: Wire,
    calls: Arc<AtomicUsize>,
    tools: ToolRegistry,
}

fn registry() -> (ToolRegistry, Arc<AtomicUsize>) {
    let calls = Arc::default();
    let tools = ToolRegistry::new();
    tools.insert("echo", Box::new(Willing(Arc::clone(&calls))));
    (tools, calls)
}

fn served() -> Served {
    let (tools, calls) = registry();
    let (pipe, wire) = Pipe::new();
    tokio::spawn(JsonRpcProcessor::new(pipe, tools.clone()).run());
    Served { wire, calls, tools }
}

fn call(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[tokio::test]
async fn a_transport_and_a_registry_are_enough() {
    let mut served = served();
    let answer = served.wire.ask(&call("1", "echo", r#"{"text":"hello"}"#)).await;
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": { "text": "hello" } }));
    let answer = served.wire.ask(r#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#).await;
    assert_eq!(answer["result"], json!({}));
}

#[tokio::test]
async fn tools_can_be_added_and_removed_while_served() {
    let mut served = served();
    served.tools.insert("late", Box::new(Willing(Arc::default())));
    assert_eq!(served.wire.ask(&call("1", "late", "{}")).await["result"], json!({}));
    served.tools.remove("late");
    assert_eq!(served.wire.ask(&call("2", "late", "{}")).await["error"]["code"], -32601);
}

#[tokio::test]
async fn each_error_has_its_code_and_its_type() {
    let mut served = served();
    for (method, params, code, kind) in [
        ("no-such", "{}", -32601, "tool_not_found"),
        ("echo", r#"{"end":"params"}"#, -32602, "invalid_params"),
        ("echo", "[1]", -32602, "invalid_params"),
        ("echo", r#"{"end":"fail"}"#, -32000, "tool_error"),
        ("echo", r#"{"end":"result"}"#, -32000, "tool_error"),
        ("echo", r#"{"end":"internal"}"#, -32603, "internal_error"),
        ("echo", r#"{"end":"panic"}"#, -32603, "internal_error"),
    ] {
        let answer = served.wire.ask(&call("7", method, params)).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"]["error_type"], kind, "{answer}");
        assert!(answer["error"]["data"]["errors"].is_array(), "{answer}");
        assert_eq!(answer["id"], 7, "{answer}");
    }
}

#[tokio::test]
async fn ids_are_echoed_unchanged() {
    let mut served = served();
    for id in ["1", "-7", "1.5", "1.0", "1e2", "-0", "18446744073709551617", "null", r#""x\n""#] {
        let answer = served.wire.ask_text(&call(id, "echo", "{}")).await;
        assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        let answer = served.wire.ask_text(&call(id, "no-such", "{}")).await;
        assert!(
            answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#)),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn an_unreadable_id_is_null() {
    let mut served = served();
    for (text, code) in [
        ("{", -32700),
        ("7", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"echo"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"\ud800","method":"echo"}"#, -32600),
    ] {
        let answer = served.wire.ask(text).await;
        assert_eq!(answer["error"]["code"], code, "{text}: {answer}");
        assert_eq!(answer.get("id"), Some(&Value::Null), "{text}: {answer}");
    }
}

#[tokio::test]
async fn a_notification_runs_the_tool_without_a_response() {
    let mut served = served();
    for params in ["{}", r#"{"end":"fail"}"#, r#"{"end":"panic"}"#, "[]"] {
        served.wire.send(&format!(r#"{{"jsonrpc":"2.0","method":"echo","params":{params}}}"#));
    }
    served.wire.send(r#"{"jsonrpc":"2.0","method":"no-such"}"#);
    served.wire.send(r#"[{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"echo"}]"#);
    let answer = served.wire.ask(&call("1", "echo", "{}")).await;
    assert_eq!(answer["id"], 1, "nothing else is answered: {answer}");
    // Three single notifications, two in the batch, one request; arrays are not valid arguments.
    assert_eq!(served.calls.load(Ordering::Relaxed), 6);
}

#[tokio::test]
async fn notifications_count_against_the_limit_of_requests() {
    let (tools, calls) = registry();
    let (pipe, mut wire) = Pipe::new();
    let mut settings = ProcessorSettings::default();
    settings.max_in_flight = 2;
    let transport = JsonRpcTransport::new(pipe, Side::Server, Box::new(OpenGate));
    let handler = Arc::new(Mcp::bare(tools).conversation(None));
    tokio::spawn(JsonRpcProcessor::with_handler(transport, handler, settings).run());
    for _ in 0..3 {
        wire.send(r#"{"jsonrpc":"2.0","method":"echo","params":{"end":"never"}}"#);
    }
    let answer = wire.ask(&call("1", "echo", "{}")).await;
    assert_eq!(answer["error"]["data"]["error_type"], "busy", "{answer}");
    assert_eq!(calls.load(Ordering::Relaxed), 2, "the third was dropped");
}

#[test]
fn bare_dispatch_is_chosen_in_one_place() {
    use mcp_core::{Handler as _, Implementation};
    let (tools, _) = registry();
    assert_eq!(Mcp::bare(tools.clone()).conversation(None).dispatch(), Dispatch::Bare);
    let builder = Mcp::builder(Implementation::new("n", "1")).tools(&tools);
    let bare = builder.dispatch(Dispatch::Bare).build().unwrap();
    assert_eq!(bare.conversation(None).dispatch(), Dispatch::Bare);
    assert!(bare.tools().get("echo").is_some());
    let usual = Mcp::builder(Implementation::new("n", "1")).tools(&tools).build().unwrap();
    assert_eq!(usual.conversation(None).dispatch(), Dispatch::Mcp);
}
