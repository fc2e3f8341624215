//! Bare dispatch: servers whose methods are their tools.

use mcp_sdk::{
    Failure, NoArguments, Profile, Server, Settings, Strictness, Validation,
    core::{Dispatch, Inbound, McpSettings, Outbound, OutboundRole, Transport},
    schemars::JsonSchema,
    transport::{MemoryTransport, memory},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::within;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

fn served(validation: Validation) -> MemoryTransport {
    let (near, far) = memory::pair(16);
    let mut settings = McpSettings::default();
    settings.dispatch = Dispatch::Bare;
    let server = Server::builder("bare", "1")
        .settings(settings)
        .validation(validation)
        .tool("echo", "Says it again", async |echo: Echo, _| Ok(echo.text))
        .tool("fail", "Fails", async |_: NoArguments, _| Err::<String, _>(Failure::new("no luck")))
        .tool("panic", "Panics", async |_: NoArguments, _| -> Result<String, Failure> {
            panic!("on purpose")
        })
        .build()
        .unwrap();
    tokio::spawn(async move { server.serve(far).await });
    near
}

async fn ask(transport: &MemoryTransport, text: &str) -> Value {
    let bytes = text.to_owned().into();
    let role = OutboundRole::Request;
    transport
        .send(Outbound { bytes, role, ticket: None, headers: None, parsed: None })
        .await
        .unwrap();
    let answer = within(transport.receive()).await.unwrap();
    let Some(Inbound::Message { bytes, .. }) = answer else { panic!("no answer") };
    serde_json::from_slice(&bytes).unwrap()
}

/// The validations to test such a server with.
fn validations() -> Vec<Validation> {
    let mut settings = Settings::default();
    settings.profile = Profile::JsonRpc;
    vec![
        Validation::off(),
        Validation::with(Strictness::Enforce, settings),
        Validation::enforce(),
        Validation::observe(),
    ]
}

#[tokio::test]
async fn errors_have_the_codes_of_json_rpc() {
    for validation in validations() {
        let transport = served(validation.clone());
        for (method, params, code, kind) in [
            ("no-such", json!({}), -32601, "tool_not_found"),
            ("fail", json!({}), -32000, "tool_error"),
            ("panic", json!({}), -32603, "internal_error"),
        ] {
            let text = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            let answer = ask(&transport, &text.to_string()).await;
            assert_eq!(answer["error"]["code"], code, "{validation:?}: {answer}");
            assert_eq!(answer["error"]["data"]["error_type"], kind, "{answer}");
        }
        let wrong = r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":7}}"#;
        let answer = ask(&transport, wrong).await;
        assert_eq!(answer["error"]["code"], -32602, "{validation:?}: {answer}");
        assert_eq!(ask(&transport, "{").await["error"]["code"], -32700);
        assert_eq!(ask(&transport, "[]").await["error"]["code"], -32600);
        assert_eq!(ask(&transport, "{}").await["error"]["code"], -32600);
    }
}

#[tokio::test]
async fn batches_and_all_kinds_of_ids_are_served() {
    for validation in validations() {
        let transport = served(validation.clone());
        let batch = r#"[{"jsonrpc":"2.0","id":null,"method":"echo","params":{"text":"a"}},
            {"jsonrpc":"2.0","method":"echo","params":{"text":"b"}},
            {"jsonrpc":"2.0","id":1.5,"method":"echo","params":{"text":"c"}},
            {"jsonrpc":"2.0","id":"x","method":"no-such"}]"#;
        let answers = ask(&transport, batch).await;
        let answers = answers.as_array().unwrap_or_else(|| panic!("{validation:?}: {answers}"));
        assert_eq!(answers.len(), 3, "{answers:?}");
        assert_eq!(answers[0]["id"], Value::Null);
        assert!(answers.iter().take(2).all(|answer| answer["result"].is_object()), "{answers:?}");
        assert_eq!(answers[1]["id"], 1.5);
        assert_eq!(answers[2]["error"]["code"], -32601, "{validation:?}: {answers:?}");
    }
}
