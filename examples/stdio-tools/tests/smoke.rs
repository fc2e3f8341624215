//! Starts the example and talks to it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use mcp_sdk::{Client, transport::ChildCommand};
use serde_json::{Value, json};

async fn start() -> Client {
    let command = ChildCommand::new(env!("CARGO_BIN_EXE_example-stdio-tools"))
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    Client::builder("smoke", "1.0.0").connect_child(&command).await.unwrap()
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    let result = client.call_tool(tool, arguments).await.unwrap();
    assert!(!result.is_error, "{}", result.all_text());
    result.structured_content.unwrap().read().unwrap()
}

#[tokio::test]
async fn its_tools_work() {
    let client = start().await;
    assert_eq!(client.all_tools().await.unwrap().len(), 3);

    let found = call(&client, "search_files", json!({ "text": "LONGEST_FILE: u64" })).await;
    assert_eq!(found["matches"][0]["path"], "search.rs");
    assert_eq!(found["complete"], true);

    let counted = call(&client, "text_statistics", json!({ "text": "one two\nthree" })).await;
    assert_eq!((&counted["words"], &counted["longest_word"]), (&json!(3), &json!("three")));

    let arguments = json!({ "value": 212, "from": "fahrenheit", "to": "celsius" });
    let boiling = call(&client, "convert", arguments).await["value"].as_f64().unwrap();
    assert!((boiling - 100.0).abs() < 1e-9);
    client.close().await;
}

#[tokio::test]
async fn nobody_gets_out_of_the_directory() {
    let client = start().await;
    for directory in ["..", "../..", "/etc", "./../src/..", "/"] {
        let arguments = json!({ "text": "a", "directory": directory });
        let result = client.call_tool("search_files", arguments).await.unwrap();
        assert!(result.is_error, "{directory}");
        assert!(result.all_text().contains("leads out"), "{}", result.all_text());
    }
    client.close().await;
}
