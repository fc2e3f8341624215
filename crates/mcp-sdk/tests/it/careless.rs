//! Common mistakes in building a server.

use mcp_sdk::{
    BuildError, Client, NoArguments, Server, Validation,
    core::{InvalidArguments, Json, McpSettings, ReadResourceResult, Resource, Revision, Tool},
    transport::memory,
};
use serde_json::{Value, json};

use crate::wire::{receive, send};

fn schema(text: &'static str) -> Json {
    Json::parse(text).unwrap()
}

#[test]
fn unusable_definitions_are_not_built() {
    let builder = || Server::builder("test", "1.0.0");
    let array = builder().tool("a", "", async |_: Vec<i32>, _| Ok("x")).build();
    assert!(matches!(array, Err(BuildError::NotAnObject { .. })), "{array:?}");
    let untyped = builder().raw_tool(Tool::new("a", schema("{}")), async |_, _| Ok("x")).build();
    assert!(matches!(untyped, Err(BuildError::NotAnObject { .. })), "{untyped:?}");
    let nameless = builder().tool("", "", async |_: NoArguments, _| Ok("x")).build();
    assert!(matches!(nameless, Err(BuildError::Nameless(_))), "{nameless:?}");
    let relative = builder()
        .resource(Resource::new("not a uri", "x"), async |_, _, _| {
            Ok(ReadResourceResult::new(Vec::new()))
        })
        .build();
    assert!(matches!(relative, Err(BuildError::Uri { .. })), "{relative:?}");
}

#[test]
fn a_tool_cannot_be_added_to_a_server_without_tools() {
    let server = Server::builder("test", "1.0.0").build().unwrap();
    let added = server.add_tool("late", "", async |_: NoArguments, _| Ok("x"));
    assert!(matches!(added, Err(BuildError::MissingCapability { .. })), "{added:?}");
}

#[test]
fn a_tool_without_arguments_has_a_minimal_schema() {
    let server = Server::builder("test", "1.0.0")
        .tool("a", "", async |_: NoArguments, _| Ok("x"))
        .build()
        .unwrap();
    let tool = server.mcp().tools().get("a").unwrap();
    let stated: Value = tool.definition.input_schema.read().unwrap();
    assert_eq!(stated, json!({ "type": "object", "additionalProperties": false }));
}

#[tokio::test]
async fn invalid_arguments_can_be_a_result_for_models() {
    for revision in Revision::ALL {
        let mut settings = McpSettings::default();
        settings.invalid_arguments = InvalidArguments::ToolResult;
        let tool = Tool::new(
            "add",
            schema(r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#),
        );
        let server = Server::builder("test", "1.0.0")
            .settings(settings)
            .raw_tool(tool, async |_, _| Ok("added"))
            .build()
            .unwrap();
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        let client = Client::builder("test-client", "1.0.0")
            .validation(Validation::observe().on_finding(|_| {}))
            .revision(revision)
            .connect(near)
            .await
            .unwrap();
        client.all_tools().await.unwrap();
        let result = client.call_tool("add", json!({ "a": "x" })).await.unwrap();
        assert!(result.is_error && result.all_text().contains("/a: "), "{result:?}");
    }
}

#[tokio::test]
async fn methods_of_undeclared_features_are_unknown() {
    let asked = ["resources/list", "prompts/list", "completion/complete"];
    for revision in Revision::ALL.into_iter().filter(|revision| *revision != Revision::LATEST) {
        for validation in [Validation::off(), Validation::observe(), Validation::enforce()] {
            let server = Server::builder("test", "1.0.0")
                .validation(validation.on_finding(|_| {}))
                .tool("a", "", async |_: NoArguments, _| Ok("x"))
                .build()
                .unwrap();
            let (near, far) = memory::pair(16);
            tokio::spawn(async move { server.serve(far).await });
            let opening = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": revision.as_str(), "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" } } });
            send(&near, &opening).await;
            receive(&near).await;
            send(&near, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            for (id, method) in asked.into_iter().enumerate() {
                let params = match method {
                    "completion/complete" => json!({
                        "ref": { "type": "ref/prompt", "name": "p" },
                        "argument": { "name": "a", "value": "" } }),
                    _ => json!({}),
                };
                let id = id + 1;
                let request =
                    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
                send(&near, &request).await;
                let answer = receive(&near).await;
                assert_eq!(answer["error"]["code"], -32601, "{revision:?} {method} {answer}");
            }
        }
    }
}

#[test]
fn a_server_without_a_name_is_not_built() {
    let nameless = Server::builder("", "").build();
    assert!(matches!(nameless, Err(BuildError::Nameless("the server"))), "{nameless:?}");
}
