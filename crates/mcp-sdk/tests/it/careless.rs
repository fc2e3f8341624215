//! What people do by mistake when they build a server.

use mcp_sdk::{
    BuildError, Client, NoArguments, Server,
    core::{InvalidArguments, Json, McpSettings, ReadResourceResult, Resource, Revision, Tool},
    transport::memory,
};
use serde_json::{Value, json};

fn schema(text: &'static str) -> Json {
    Json::parse(text).unwrap()
}

#[test]
fn what_no_client_could_use_is_not_built() {
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
fn a_tool_that_clients_would_not_see_is_not_added() {
    let server = Server::builder("test", "1.0.0").build().unwrap();
    let added = server.add_tool("late", "", async |_: NoArguments, _| Ok("x"));
    assert!(matches!(added, Err(BuildError::NotOffered { .. })), "{added:?}");
}

#[test]
fn a_tool_without_arguments_says_nothing_but_that() {
    let server = Server::builder("test", "1.0.0")
        .tool("a", "", async |_: NoArguments, _| Ok("x"))
        .build()
        .unwrap();
    let tool = server.mcp().tools().get("a").unwrap();
    let stated: Value = tool.definition.input_schema.read().unwrap();
    assert_eq!(stated, json!({ "type": "object", "additionalProperties": false }));
}

#[tokio::test]
async fn models_read_what_is_wrong_with_their_arguments_if_the_server_wants_it() {
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
            .validation(mcp_sdk::Validation::observe().on_finding(|_| {}))
            .revision(revision)
            .connect(near)
            .await
            .unwrap();
        client.all_tools().await.unwrap();
        let told = client.call_tool("add", json!({ "a": "x" })).await.unwrap();
        assert!(told.is_error && told.all_text().contains("/params/arguments/a"), "{told:?}");
    }
}
