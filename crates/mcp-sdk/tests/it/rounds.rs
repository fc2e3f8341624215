//! Calls of several rounds, in which the client carries the state.

use mcp_sdk::{
    Server, Validation,
    core::{ElicitForm, ElicitRequest, Json},
    schemars::JsonSchema,
    transport::memory,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::wire::ask;

#[derive(Deserialize, JsonSchema)]
struct Delete {
    what: String,
}

fn server() -> Server {
    Server::builder("test", "1.0.0")
        // Ids are the least of what this client does wrong.
        .validation(Validation::off())
        .tool("delete", "Deletes", async |delete: Delete, context| {
            context.keep(Json::of(&"begun")?);
            context.elicit("sure", &ElicitRequest::form("Sure?", ElicitForm::new())).await?;
            Ok(format!("{} is gone", delete.what))
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn state_is_of_no_use_to_a_call_with_other_arguments() {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server().serve(far).await });
    let mut call = json!({ "name": "delete", "arguments": { "what": "a" } });
    let asked = ask(&near, "tools/call", call.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    call["requestState"] = asked["result"]["requestState"].clone();
    call["inputResponses"] = json!({ "sure": { "action": "accept", "content": {} } });

    let mut other: Value = call.clone();
    other["arguments"]["what"] = "b".into();
    let refused = ask(&near, "tools/call", other).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");

    let done = ask(&near, "tools/call", call).await;
    assert_eq!(done["result"]["content"][0]["text"], "a is gone", "{done}");
}
