//! Starts the example and talks to it over a plain WebSocket.

use std::process::Stdio;

use futures_util::{SinkExt as _, StreamExt as _};
use mcp_jsonrpc::{JsonRpcRequest, JsonRpcResponse};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpStream,
    process::Command,
};
use tokio_tungstenite::{client_async, tungstenite::Message};

#[tokio::test]
async fn any_websocket_client_can_call_the_tools() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_example-json-rpc-tools"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    let suggested = lines.next_line().await.unwrap().unwrap();
    let suggested: JsonRpcRequest =
        serde_json::from_str(suggested.strip_prefix("try ").unwrap()).unwrap();

    let stream = TcpStream::connect(url.strip_prefix("ws://").unwrap()).await.unwrap();
    let (mut socket, _) = client_async(&url, stream).await.unwrap();
    for (request, expected) in [
        (suggested, json!({ "sum": 3.5 })),
        (JsonRpcRequest::new("x", "echo", Some(json!({ "a": [1] }))), json!({ "a": [1] })),
    ] {
        socket.send(Message::text(serde_json::to_string(&request).unwrap())).await.unwrap();
        let answer = socket.next().await.unwrap().unwrap();
        let answer: JsonRpcResponse = serde_json::from_str(answer.to_text().unwrap()).unwrap();
        assert_eq!(answer.id, Some(request.id));
        assert_eq!(answer.result_as_value().unwrap(), Some(expected));
    }
    let wrong = JsonRpcRequest::new(3, "sum", Some(json!({ "numbers": "x" })));
    socket.send(Message::text(serde_json::to_string(&wrong).unwrap())).await.unwrap();
    let answer = socket.next().await.unwrap().unwrap();
    let answer: JsonRpcResponse = serde_json::from_str(answer.to_text().unwrap()).unwrap();
    assert_eq!(answer.error().unwrap().code, -32602);
}
