//! The table in the guide to errors.

use std::collections::BTreeMap;

use mcp_sdk::{
    Client, ClientError, Failure, NoArguments, Server,
    core::{
        CallToolResult, ClientCapabilities, Error, GetPromptResult, Json, Prompt, Revision, Tool,
    },
    transport::memory,
};
use serde_json::json;

fn server() -> Server {
    let promise = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let mut promising =
        Tool::new("promise", Json::parse(r#"{"type":"object"}"#).unwrap()).description("Lies");
    promising.output_schema = Some(Json::parse(promise).unwrap());
    Server::builder("failing", "1.0.0")
        .tool("io", "Fails", async |_: NoArguments, _| {
            Err::<(), Failure>(std::io::Error::other("disk on fire").into())
        })
        .tool("said", "Fails", async |_: NoArguments, _| Err::<(), _>(Failure::new("no luck")))
        .tool("params", "Fails", async |_: NoArguments, _| {
            Err::<(), Failure>(Error::invalid_params("not like this").into())
        })
        .tool("coded", "Fails", async |_: NoArguments, _| {
            let error = Error::Coded { code: 7, message: "seven".into(), data: None };
            Err::<(), Failure>(error.into())
        })
        .tool("needy", "Wants a model", async |_: NoArguments, context| {
            context.require(&ClientCapabilities::new().with_sampling())?;
            Ok(())
        })
        .raw_tool(promising, async |_, _| {
            Ok(CallToolResult::structured(Json::parse(r#"{"n":"many"}"#)?))
        })
        .prompt(Prompt::new("broken"), async |_: BTreeMap<String, String>, _| {
            Err::<GetPromptResult, _>(Failure::new("no paper"))
        })
        .build()
        .unwrap()
}

async fn connect(revision: Revision) -> Client {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server().serve(far).await });
    Client::builder("test", "1.0.0").revision(revision).connect(near).await.unwrap()
}

fn shown(outcome: Result<CallToolResult, ClientError>) -> String {
    match outcome {
        Ok(result) => format!("{} {}", result.is_error, result.all_text()),
        Err(error) => format!("{:?}", error.code()),
    }
}

#[tokio::test]
async fn every_failure_is_reported_as_documented() {
    for revision in Revision::ALL {
        let client = connect(revision).await;
        let missing = match revision {
            Revision::V2026_07_28 => "Some(-32021)",
            _ => r#"true the client has not declared a required capability: {"sampling":{}}"#,
        };
        for (tool, outcome) in [
            ("io", "true disk on fire"),
            ("said", "true no luck"),
            ("params", "Some(-32602)"),
            ("coded", "Some(7)"),
            ("needy", missing),
            ("promise", "Some(-32603)"),
        ] {
            let called = client.call_tool(tool, json!({})).await;
            assert_eq!(shown(called), outcome, "{tool} at {revision}");
        }
        let broken = client.get_prompt("broken", &BTreeMap::new()).await.unwrap_err();
        let code = if revision == Revision::LATEST { -32603 } else { -32000 };
        assert_eq!(broken.code(), Some(code), "{revision}");
        assert!(broken.to_string().contains("no paper"), "{broken}");
    }
}
