//! Starts the example and talks to it, as a browser and as a client.

use std::process::Stdio;

use mcp_sdk::{Client, core::Revision};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::Command,
};

#[tokio::test]
async fn pages_and_tools_live_side_by_side() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_example-http-beside-routes"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();

    let address = url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp")).unwrap();
    let mut page = TcpStream::connect(address).await.unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    page.write_all(request.as_bytes()).await.unwrap();
    let mut shown = String::new();
    page.read_to_string(&mut shown).await.unwrap();
    assert!(shown.contains("visit number 1"), "{shown}");

    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let builder = Client::builder("smoke", "1.0.0").revision(revision);
        let client = builder.connect_http(&url).await.unwrap();
        let visits = client.call_tool("visits", json!({})).await.unwrap();
        assert_eq!(visits.all_text(), "1");
        client.close().await;
    }
}
