//! What tools give back, at every revision.

use mcp_sdk::{Client, NoArguments, Server, Structured, core::Revision, transport::memory};
use serde_json::{Value, json};

fn server() -> Server {
    Server::builder("test", "1.0.0")
        .tool("list", "A list", async |_: NoArguments, _| Ok(Structured(vec![1, 2])))
        .tool("any", "Anything", async |_: NoArguments, _| Ok(Structured(json!("text"))))
        .build()
        .unwrap()
}

#[tokio::test]
async fn output_that_is_no_object_is_text_in_the_handshake_era() {
    for revision in Revision::ALL {
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server().serve(far).await });
        let client =
            Client::builder("test", "1.0.0").revision(revision).connect(near).await.unwrap();
        let promised: Vec<bool> = client
            .all_tools()
            .await
            .unwrap()
            .iter()
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
