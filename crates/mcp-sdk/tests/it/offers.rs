//! Adding and removing entries while a server runs.

use mcp_sdk::{
    BuildError, Client, ClientEvent, NoArguments, Server, ToolFunction,
    core::{GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate, Revision},
    transport::memory,
};

#[tokio::test]
async fn clients_are_notified_of_added_and_removed_entries() {
    let server = Server::builder("test", "1.0.0").offers_everything().build().unwrap();
    let (near, far) = memory::pair(16);
    let serving = server.clone();
    tokio::spawn(async move { serving.serve(far).await });
    let client = Client::builder("test", "1.0.0")
        .revision(Revision::V2025_11_25)
        .connect(near)
        .await
        .unwrap();
    // A client that has a response has finished its handshake.
    client.ping().await.unwrap();
    let mut events = client.events();

    let read = async |_, _, _| Ok(ReadResourceResult::new(Vec::new()));
    let get = async |_, _| Ok(GetPromptResult::new(Vec::new()));
    server.add_prompt(Prompt::new("late"), get).unwrap();
    assert!(matches!(events.recv().await.unwrap(), ClientEvent::PromptsChanged));
    assert_eq!(client.list_prompts(None).await.unwrap().prompts.len(), 1);
    assert!(server.remove_prompt("late") && !server.remove_prompt("late"));
    assert!(matches!(events.recv().await.unwrap(), ClientEvent::PromptsChanged));
    assert!(client.list_prompts(None).await.unwrap().prompts.is_empty());

    server.add_resource(Resource::new("test://late", "late"), read).unwrap();
    assert!(matches!(events.recv().await.unwrap(), ClientEvent::ResourcesChanged));
    assert!(client.read_resource("test://late").await.is_ok());
    assert!(server.remove_resource("test://late"));
    assert!(matches!(events.recv().await.unwrap(), ClientEvent::ResourcesChanged));
    assert!(client.read_resource("test://late").await.is_err());

    server.add_template(ResourceTemplate::new("test://{name}", "late"), read).unwrap();
    assert!(matches!(events.recv().await.unwrap(), ClientEvent::ResourcesChanged));
    assert!(client.read_resource("test://late").await.is_ok());
    assert!(server.remove_template("test://{name}"));

    let tool = ToolFunction::blocking("late", "Comes late", |_: NoArguments, _| Ok("late"));
    server.add_tool_function(tool).unwrap();
    assert_eq!(client.all_tools().await.unwrap().len(), 1);
}

#[test]
fn undeclared_or_invalid_entries_are_not_added() {
    let read = async |_, _, _| Ok(ReadResourceResult::new(Vec::new()));
    let get = async |_, _| Ok(GetPromptResult::new(Vec::new()));
    let server = Server::builder("test", "1.0.0").build().unwrap();
    let prompt = server.add_prompt(Prompt::new("late"), get);
    assert!(matches!(prompt, Err(BuildError::MissingCapability { what: "prompts" })), "{prompt:?}");
    let resource = server.add_resource(Resource::new("test://late", "late"), read);
    assert!(
        matches!(resource, Err(BuildError::MissingCapability { what: "resources" })),
        "{resource:?}"
    );
    let error = resource.unwrap_err().to_string();
    assert!(error.contains("`offers_resources`"), "{error}");
    let server = Server::builder("test", "1.0.0").offers_everything().build().unwrap();
    let resource = server.add_resource(Resource::new("no uri", "late"), read);
    assert!(matches!(resource, Err(BuildError::Uri { .. })), "{resource:?}");
    let nameless = server.add_prompt(Prompt::new(""), get);
    assert!(matches!(nameless, Err(BuildError::Nameless(_))), "{nameless:?}");
}

#[test]
fn each_kind_can_be_declared_alone() {
    let read = async |_, _, _| Ok(ReadResourceResult::new(Vec::new()));
    let get = async |_, _| Ok(GetPromptResult::new(Vec::new()));
    let run = async |_: NoArguments, _| Ok("late");
    let builders = [
        Server::builder("test", "1.0.0").offers_tools(),
        Server::builder("test", "1.0.0").offers_prompts(),
        Server::builder("test", "1.0.0").offers_resources(),
    ];
    for (at, builder) in builders.into_iter().enumerate() {
        let server = builder.build().unwrap();
        let added = [
            server.add_tool("late", "", run).is_ok(),
            server.add_prompt(Prompt::new("late"), get).is_ok(),
            server.add_resource(Resource::new("test://late", "late"), read).is_ok(),
        ];
        assert_eq!(added, [0, 1, 2].map(|kind| kind == at));
    }
}
