//! The output of tools, at every revision.

use mcp_sdk::{
    Client, NoArguments, Server, Structured,
    core::{Revision, Tool},
    schemars::JsonSchema,
    transport::memory,
};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize, JsonSchema)]
struct Point {
    x: i32,
}

fn server() -> Server {
    Server::builder("test", "1.0.0")
        .tool("list", "A list", async |_: NoArguments, _| Ok(Structured(vec![1, 2])))
        .tool("any", "Anything", async |_: NoArguments, _| Ok(Structured(json!("text"))))
        .tool("object", "An object", async |_: NoArguments, _| Ok(Structured(Point { x: 1 })))
        .build()
        .unwrap()
}

async fn connect(revision: Revision) -> Client {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server().serve(far).await });
    Client::builder("test", "1.0.0").revision(revision).connect(near).await.unwrap()
}

/// A client may rely on a listed output schema at any revision.
#[tokio::test]
async fn a_tool_with_a_listed_output_schema_has_structured_content() {
    for revision in Revision::ALL {
        let client = connect(revision).await;
        let tools = client.all_tools().await.unwrap();
        let listed = |tool: &Tool| tool.output_schema.is_some();
        for tool in &tools {
            let output = client.call_tool(&tool.name, json!({})).await.unwrap();
            assert_eq!(listed(tool), output.structured_content.is_some(), "{revision}");
            assert!(!output.all_text().is_empty(), "{} at {revision}", tool.name);
        }
        let has_output = revision >= Revision::V2025_06_18;
        let object = tools.iter().find(|tool| tool.name == "object").unwrap();
        assert_eq!(listed(object), has_output, "{revision}");
    }
}

#[tokio::test]
async fn output_that_is_not_an_object_is_text_in_the_handshake_era() {
    for revision in Revision::ALL {
        let client = connect(revision).await;
        let promised: Vec<bool> = client
            .all_tools()
            .await
            .unwrap()
            .iter()
            .filter(|tool| tool.name != "object")
            .map(|tool| tool.output_schema.is_some())
            .collect();
        let is_modern = revision == Revision::LATEST;
        assert_eq!(promised, [is_modern; 2], "{revision}");
        for (name, value) in [("list", json!([1, 2])), ("any", json!("text"))] {
            let output = client.call_tool(name, json!({})).await.unwrap();
            assert_eq!(output.all_text(), value.to_string(), "{revision}");
            let structured: Option<Value> =
                output.structured_content.map(|output| output.read().unwrap());
            assert_eq!(structured, is_modern.then_some(value), "{revision}");
        }
    }
}
