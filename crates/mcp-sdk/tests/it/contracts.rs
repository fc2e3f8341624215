//! Reports about calls that violate a tool's contract.

use std::sync::{Arc, Mutex};

use mcp_sdk::{
    Client, Server, Severity, Validation,
    core::{CallToolResult, Content, Json, Revision, Tool},
    transport::memory,
};
use serde_json::json;

type Reported = Arc<Mutex<Vec<String>>>;

fn schema(text: &'static str) -> Json {
    Json::parse(text).unwrap()
}

/// A server whose tools take a number; their output is invalid if it is negative.
fn server(validation: Validation, reported: &Reported) -> Server {
    let reported = Arc::clone(reported);
    let validation = validation.on_finding(move |finding| {
        assert_eq!(finding.severity, Severity::Error, "what is rejected is an error");
        reported.lock().unwrap().push(finding.rule.name.to_owned());
    });
    let input = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let output = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let tool = |name| Tool::new(name, schema(input)).output_schema(schema(output));
    Server::builder("test", "1.0.0")
        .validation(validation)
        .raw_tool(tool("right"), async |arguments, _| Ok(CallToolResult::structured(arguments)))
        .raw_tool(tool("wrong"), async |_, _| {
            Ok(CallToolResult::structured(schema(r#"{"n":"x"}"#)))
        })
        .raw_tool(tool("silent"), async |_, _| Ok(CallToolResult::new(vec![Content::text("x")])))
        .build()
        .unwrap()
}

async fn violations(validation: Validation, revision: Revision, lists: bool) -> Vec<String> {
    let reported = Reported::default();
    let server = server(validation, &reported);
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server.serve(far).await });
    let client = Client::builder("test", "1.0.0")
        .validation(Validation::off())
        .revision(revision)
        .connect(near)
        .await
        .unwrap();
    if lists {
        assert_eq!(client.all_tools().await.unwrap().len(), 3);
    }
    assert!(client.call_tool("right", json!({ "n": 1 })).await.is_ok());
    for (tool, n) in [("right", json!("x")), ("wrong", json!(1)), ("silent", json!(1))] {
        let called = client.call_tool(tool, json!({ "n": n })).await;
        assert!(called.as_ref().map_or(true, |result| result.is_error), "{tool}: {called:?}");
    }
    reported.lock().unwrap().clone()
}

#[tokio::test]
async fn every_violation_is_reported_once_listed_or_not() {
    for revision in [Revision::V2024_11_05, Revision::V2025_11_25, Revision::LATEST] {
        for lists in [false, true] {
            for validation in [Validation::enforce(), Validation::observe()] {
                assert_eq!(
                    violations(validation.clone(), revision, lists).await,
                    [
                        "tool-arguments-invalid",
                        "tool-structured-content-invalid",
                        "tool-structured-content-missing",
                    ],
                    "{revision} {lists} {validation:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn rules_that_are_off_are_enforced_but_not_reported() {
    let mut settings = mcp_sdk::Settings::default();
    settings.rules.insert("tool-arguments-invalid".to_owned(), mcp_sdk::Setting::Off);
    let validation = Validation::with(mcp_sdk::Strictness::Enforce, settings);
    let reported = violations(validation, Revision::LATEST, true).await;
    assert_eq!(reported, ["tool-structured-content-invalid", "tool-structured-content-missing"]);
}
