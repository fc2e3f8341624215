//! Batches allowed by the settings are served, and judged entry by entry.

use mcp_sdk::{
    NoArguments, Server, Setting, Settings, Severity, Strictness, Validation, core::Revision,
};
use serde_json::json;

use super::base_stack::open;
use crate::wire::{receive, send};

#[tokio::test]
async fn an_allowed_batch_is_judged_entry_by_entry_and_served() {
    for setting in [Setting::Off, Setting::On(Severity::Warning)] {
        let mut settings = Settings::default();
        settings.rules.insert("batch-not-supported".to_owned(), setting);
        let server = Server::builder("test", "1.0.0")
            .validation(Validation::with(Strictness::Enforce, settings))
            .tool("greet", "Greets", async |_: NoArguments, _| Ok("hello"))
            .build()
            .unwrap();
        let near = open(server, Revision::V2025_11_25).await;
        send(
            &near,
            &json!([
                { "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "greet" } },
                { "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {} },
            ]),
        )
        .await;
        let answers = receive(&near).await;
        assert_eq!(answers[0]["result"]["content"][0]["text"], "hello", "{answers}");
        assert_eq!(answers[1]["error"]["code"], -32602, "{answers}");
        assert_eq!(answers[1]["error"]["data"][0]["pointer"], "/1/params", "{answers}");
    }
}
