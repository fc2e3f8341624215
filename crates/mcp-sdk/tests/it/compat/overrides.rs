//! Overrides of the embedded protocol schemas, in servers, clients and hosts.

use mcp_sdk::{
    Client, ClientError, Host, HostError, NoArguments, Server, ServerBuilder, Validation,
    core::{PeerError, Revision},
    schema::{LoadedOverride, Override, Schemas, Source, SourceLimits, schema_text},
    transport::memory,
};
use serde_json::{Value, json};

const REVISION: Revision = Revision::V2025_11_25;

/// Protocol schemas that forbid a tool named `forbidden` and, if `silent`, any content in the result
/// of a tool.
fn schemas(silent: bool) -> Schemas {
    let mut document: Value = serde_json::from_str(schema_text(REVISION)).unwrap();
    let definitions = &mut document["$defs"];
    definitions["CallToolRequestParams"]["properties"]["name"]["not"] =
        json!({ "const": "forbidden" });
    if silent {
        definitions["CallToolResult"]["properties"]["content"]["maxItems"] = json!(0);
    }
    let given = Override { revision: Some(REVISION), source: Source::File("strict.json".into()) };
    let loaded = LoadedOverride::from_slice(document.to_string().as_bytes(), &given).unwrap();
    Schemas::embedded().with_override(loaded)
}

fn builder() -> ServerBuilder {
    Server::builder("test", "1.0.0")
        .tool("forbidden", "Is served by name", async |_: NoArguments, _| Ok("done"))
        .tool("allowed", "Is served", async |_: NoArguments, _| Ok("done"))
}

async fn connect(server: &Server, validation: Validation, revision: Revision) -> Client {
    let (near, far) = memory::pair(16);
    let server = server.clone();
    tokio::spawn(async move { server.serve(far).await });
    let client = Client::builder("test", "1.0.0").validation(validation).revision(revision);
    client.connect(near).await.unwrap()
}

async fn call(client: &Client, tool: &str) -> Result<String, ClientError> {
    client.call_tool(tool, json!({})).await.map(|result| result.all_text())
}

#[tokio::test]
async fn a_server_rejects_what_its_override_forbids() {
    // The override survives other changes to the validation.
    for limit in [None, Some(1 << 20)] {
        let mut builder = builder().validation(Validation::enforce().schemas(schemas(false)));
        if let Some(limit) = limit {
            builder = builder.max_message_bytes(limit);
        }
        let server = builder.build().unwrap();
        let client = connect(&server, Validation::off(), REVISION).await;
        let refused = call(&client, "forbidden").await.unwrap_err();
        assert_eq!(refused.code(), Some(-32602), "{refused}");
        assert!(refused.to_string().contains("/params/name"), "{refused}");
        assert_eq!(call(&client, "allowed").await.unwrap(), "done");
        // The override is for one revision.
        let other = connect(&server, Validation::off(), Revision::V2025_06_18).await;
        assert_eq!(call(&other, "forbidden").await.unwrap(), "done");
    }
}

#[tokio::test]
async fn a_server_withholds_responses_that_its_override_forbids() {
    let validation = Validation::enforce().schemas(schemas(true));
    let server = builder().validation(validation).build().unwrap();
    let client = connect(&server, Validation::off(), REVISION).await;
    let held_back = call(&client, "allowed").await.unwrap_err();
    assert_eq!(held_back.code(), Some(-32603), "{held_back}");
}

#[tokio::test]
async fn a_client_neither_sends_nor_accepts_what_its_override_forbids() {
    let server = builder().build().unwrap();
    for limit in [None, Some(1 << 20)] {
        let (near, far) = memory::pair(16);
        let serving = server.clone();
        tokio::spawn(async move { serving.serve(far).await });
        let mut client = Client::builder("test", "1.0.0")
            .validation(Validation::enforce().schemas(schemas(true)))
            .revision(REVISION);
        if let Some(limit) = limit {
            client = client.max_message_bytes(limit);
        }
        let client = client.connect(near).await.unwrap();
        let not_sent = call(&client, "forbidden").await.unwrap_err();
        let is_held_back =
            matches!(&not_sent, ClientError::Call { cause: PeerError::NotSent { .. }, .. });
        assert!(is_held_back, "{not_sent}");
        let not_taken = call(&client, "allowed").await.unwrap_err();
        let is_refused = matches!(
            &not_taken,
            ClientError::Call { cause: PeerError::InvalidResponse { .. }, .. }
        );
        assert!(is_refused, "{not_taken}");
    }
}

#[tokio::test]
async fn a_host_behaves_like_its_clients() {
    let server = builder().build().unwrap();
    let strict = Validation::enforce().schemas(schemas(false));
    let host = Host::builder()
        .server("strict", connect(&server, strict, REVISION).await)
        .server("usual", connect(&server, Validation::enforce(), REVISION).await)
        .build()
        .unwrap();
    let refused = host.call_tool("strict__forbidden", json!({})).await.unwrap_err();
    let HostError::Server { server, cause } = &refused else { panic!("{refused}") };
    assert_eq!(server, "strict");
    let is_held_back =
        matches!(&**cause, ClientError::Call { cause: PeerError::NotSent { .. }, .. });
    assert!(is_held_back, "{refused}");
    for tool in ["strict__allowed", "usual__forbidden"] {
        assert_eq!(host.call_tool(tool, json!({})).await.unwrap().all_text(), "done");
    }
}

#[tokio::test]
async fn new_conversations_have_new_schemas_and_running_ones_keep_theirs() {
    let server = builder().build().unwrap();
    let before = connect(&server, Validation::off(), REVISION).await;
    server.replace_schemas(schemas(false));
    let after = connect(&server, Validation::off(), REVISION).await;
    assert_eq!(call(&before, "forbidden").await.unwrap(), "done");
    assert_eq!(call(&after, "forbidden").await.unwrap_err().code(), Some(-32602));
    // The file does not exist, so nothing changes.
    assert!(server.schemas().reload(&SourceLimits::default()).is_err());
    server.replace_schemas(Schemas::embedded());
    let last = connect(&server, Validation::off(), REVISION).await;
    assert_eq!(call(&last, "forbidden").await.unwrap(), "done");
    assert_eq!(call(&after, "forbidden").await.unwrap_err().code(), Some(-32602));
}
