//! Starts the example and talks to it.

use std::process::Stdio;

use mcp_sdk::Client;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Command,
};

#[tokio::test]
async fn it_returns_its_input() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_example-websocket-echo"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();

    let client = Client::builder("smoke", "1.0.0").connect_ws(&url).await.unwrap();
    let said = client.call_tool("echo", json!({ "text": "hello" })).await.unwrap();
    assert_eq!(said.all_text(), "hello");
    client.close().await;
}
