//! Calls that take several rounds, in which the client holds the state.

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
        // This client sends invalid messages on purpose.
        .validation(Validation::off())
        .tool("delete", "Deletes", async |delete: Delete, context| {
            context.save_state(Json::of(&"begun")?);
            context.elicit("sure", &ElicitRequest::form("Sure?", ElicitForm::new())).await?;
            Ok(format!("{} is gone", delete.what))
        })
        .tool("keep", "Keeps", async |keep: Delete, context| {
            context.elicit("sure", &ElicitRequest::form("Sure?", ElicitForm::new())).await?;
            Ok(format!("{} stays", keep.what))
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn forged_state_is_rejected() {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server().serve(far).await });
    let (elsewhere, far) = memory::pair(16);
    tokio::spawn(async move { server().serve(far).await });
    let mut call = json!({ "name": "delete", "arguments": { "what": "a" } });
    let state = ask(&near, "tools/call", call.clone()).await["result"]["requestState"].clone();
    let foreign =
        ask(&elsewhere, "tools/call", call.clone()).await["result"]["requestState"].clone();
    call["inputResponses"] = json!({ "sure": { "action": "accept", "content": {} } });
    let state = state.as_str().unwrap().to_owned();
    let mut forged = vec![
        foreign,
        json!(""),
        json!("x"),
        json!("a".repeat(1 << 20)),
        json!(format!("{state}{state}")),
        json!(state.to_uppercase()),
        json!(format!(" {state}")),
        json!(7),
    ];
    for place in (0..state.len()).step_by(7) {
        let mut changed = state.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        forged.push(json!(String::from_utf8(changed).unwrap()));
        forged.push(json!(state[..place]));
    }
    for forged in forged {
        call["requestState"] = forged.clone();
        let refused = ask(&near, "tools/call", call.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "{forged}: {refused}");
    }
    // It is good for its own tool only.
    call["requestState"] = state.into();
    let mut other = call.clone();
    other["name"] = "keep".into();
    let refused = ask(&near, "tools/call", other).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let done = ask(&near, "tools/call", call).await;
    assert_eq!(done["result"]["content"][0]["text"], "a is gone", "{done}");
}

#[tokio::test]
async fn state_is_rejected_for_other_arguments() {
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

/// The state of one user is rejected from another.
#[cfg(feature = "http")]
#[tokio::test]
async fn state_is_rejected_from_another_principal() {
    use mcp_sdk::transport::http::server::{HttpSettings, ServeSettings, serve};

    let server = Server::builder("test", "1.0.0")
        .principal(|head| Some(head.headers.get("x-user")?.to_str().ok()?.to_owned()))
        .tool("delete", "Deletes", async |delete: Delete, context| {
            context.elicit("sure", &ElicitRequest::form("Sure?", ElicitForm::new())).await?;
            context.elicit("really", &ElicitRequest::form("Really?", ElicitForm::new())).await?;
            Ok(format!("{} of {} is gone", delete.what, context.principal().unwrap_or("nobody")))
        })
        .build()
        .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let service = server.http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));

    let call = async |user: &str, more: Value| {
        let mut params = json!({ "name": "delete", "arguments": { "what": "a" } });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        crate::wire::post(&address, "tools/call", &[("x-user", user)], params).await
    };
    let yes = json!({ "action": "accept", "content": {} });
    let asked = call("ada", json!({ "inputResponses": { "sure": yes } })).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state = asked["result"]["requestState"].clone();
    let more = json!({ "requestState": state, "inputResponses": { "really": yes } });
    let refused = call("bob", more.clone()).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let done = call("ada", more).await;
    assert_eq!(done["result"]["content"][0]["text"], "a of ada is gone", "{done}");
}
