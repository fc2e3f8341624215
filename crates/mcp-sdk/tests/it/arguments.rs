//! Invalid arguments and internal errors of tools: a protocol error or a result, depending on the
//! revision and the server's settings.

use mcp_sdk::{
    Client, ClientError, Failure, NoArguments, Server, ServerBuilder, Validation,
    core::{
        CallToolResult, Dispatch, Error, InvalidArguments, Json, McpSettings, Meta, PeerError,
        Revision, Tool,
    },
    schemars::JsonSchema,
    transport::memory,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::wire::{receive, request, send, send_text};

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// How many.
    count: u64,
    #[serde(default)]
    names: Vec<String>,
}

/// Accepts less than the tool's schema, which is not derived from this type.
#[derive(Deserialize)]
struct Small {
    n: u8,
}

fn builder() -> ServerBuilder {
    let anything = Json::parse(r#"{"type":"object","required":["n"]}"#).unwrap();
    Server::builder("test", "1.0.0")
        .tool("order", "Orders", async |order: Order, _| {
            Ok(format!("{} {}", order.count, order.names.len()))
        })
        .raw_tool(Tool::new("own", anything), async |arguments: Json, _| {
            let small: Small = arguments.read().map_err(|error| Error::InvalidArguments {
                message: format!("not like this: {error}"),
                findings: Vec::new(),
            })?;
            Ok(small.n.to_string())
        })
        .tool("panics", "Fails", async |_: NoArguments, _| -> Result<String, Failure> {
            panic!("on purpose")
        })
        .blocking_tool("panics_on_its_thread", "Fails", |_: NoArguments, _| -> Result<(), _> {
            panic!("on purpose")
        })
        .tool("fails_inside", "Fails", async |_: NoArguments, _| {
            Err::<(), Failure>(Error::internal("the database is gone").into())
        })
        .tool("fails", "Fails", async |_: NoArguments, _| Err::<(), _>(Failure::new("no luck")))
}

async fn connect(server: Server, revision: Revision) -> Client {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server.serve(far).await });
    Client::builder("test", "1.0.0")
        .validation(Validation::off())
        .revision(revision)
        .connect(near)
        .await
        .unwrap()
}

/// The outcome of a call: code and data of an error, or text and findings of a result.
#[derive(Debug)]
enum Came {
    Error(i64, Value),
    Result { text: String, findings: Value },
    Fine(String),
}

fn came(outcome: Result<CallToolResult, ClientError>) -> Came {
    match outcome {
        Err(ClientError::Call { cause: PeerError::ErrorResponse { code, data, .. }, .. }) => {
            Came::Error(code, data.map(|data| data.read().unwrap()).unwrap_or_default())
        }
        Err(error) => panic!("{error}"),
        Ok(result) if result.is_error => {
            let findings = result.meta.as_ref().and_then(|meta| meta.get(Meta::FINDINGS));
            Came::Result {
                text: result.all_text(),
                findings: findings.cloned().unwrap_or_default(),
            }
        }
        Ok(result) => Came::Fine(result.all_text()),
    }
}

const CHOICES: [InvalidArguments; 3] =
    [InvalidArguments::ByRevision, InvalidArguments::ProtocolError, InvalidArguments::ToolResult];

fn is_protocol_error(choice: InvalidArguments, revision: Revision) -> bool {
    match choice {
        InvalidArguments::ByRevision => revision <= Revision::V2025_06_18,
        InvalidArguments::ProtocolError => true,
        InvalidArguments::ToolResult => false,
    }
}

fn paths(findings: &Value) -> Vec<&str> {
    let findings = findings.as_array().unwrap();
    findings.iter().map(|finding| finding["instancePath"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn invalid_arguments_are_answered_as_the_revision_or_the_setting_says() {
    let bad = json!({ "count": "three", "names": [7] });
    for validation in [Validation::enforce(), Validation::observe()] {
        for choice in CHOICES {
            for revision in Revision::ALL {
                let server = builder().validation(validation.clone()).invalid_arguments(choice);
                let client = connect(server.build().unwrap(), revision).await;
                // Once the tools are listed, the gate knows the schema too.
                for lists in [false, true] {
                    if lists {
                        client.all_tools().await.unwrap();
                    }
                    let findings = match came(client.call_tool("order", &bad).await) {
                        Came::Error(code, data) if is_protocol_error(choice, revision) => {
                            assert_eq!(code, -32602);
                            data
                        }
                        Came::Result { text, findings } if !is_protocol_error(choice, revision) => {
                            let lines: Vec<&str> = text.lines().collect();
                            assert_eq!(lines.len(), 3, "{text}");
                            assert!(lines[1].contains("/count: must be integer"), "{text}");
                            assert!(lines[2].contains("/names/0: must be string"), "{text}");
                            findings
                        }
                        other => panic!("{choice:?} at {revision}: {other:?}"),
                    };
                    let paths = paths(&findings);
                    assert!(paths[0].ends_with("/count") && paths[1].ends_with("/names/0"));
                    assert_eq!(findings[0]["keyword"], "type");
                }
                let good = client.call_tool("order", json!({ "count": 3 })).await;
                assert!(matches!(came(good), Came::Fine(text) if text == "3 0"));
            }
        }
    }
}

/// Calls `order` with this literal for `count`, which a client would normalize.
async fn ordered(count: &str) -> Value {
    let (near, far) = memory::pair(16);
    let server = builder().build().unwrap();
    tokio::spawn(async move { server.serve(far).await });
    let call = request(1, "tools/call", json!({ "name": "order", "arguments": { "count": 0 } }));
    let call = call.to_string().replace(r#""count":0"#, &format!(r#""count":{count}"#));
    send_text(&near, &call).await;
    receive(&near).await["result"].take()
}

#[tokio::test]
async fn integers_are_read_as_in_json_schema() {
    for (count, read) in
        [("2.0", "2 0"), ("1e3", "1000 0"), ("18446744073709551615.0", "18446744073709551615 0")]
    {
        assert_eq!(ordered(count).await["content"][0]["text"], read, "{count}");
    }
    assert_eq!(ordered("2.5").await["isError"], true);
}

#[tokio::test]
async fn arguments_that_match_the_schema_but_not_the_type_are_answered_alike() {
    // The schema of a `u64` has no maximum, which most parsers could not represent.
    let huge: Value = serde_json::from_str(r#"{"count":1e30}"#).unwrap();
    for choice in CHOICES {
        for revision in Revision::ALL {
            let server = builder().invalid_arguments(choice).build().unwrap();
            let client = connect(server, revision).await;
            match came(client.call_tool("order", &huge).await) {
                Came::Error(-32602, data) if is_protocol_error(choice, revision) => {
                    assert_eq!(data[0]["rule"], "tool-arguments-invalid");
                }
                Came::Result { text, findings } if !is_protocol_error(choice, revision) => {
                    assert!(text.contains("expected u64"), "{text}");
                    assert_eq!(findings[0]["rule"], "tool-arguments-invalid");
                }
                other => panic!("{choice:?} at {revision}: {other:?}"),
            }
            // A tool that reads its arguments itself can return the same error.
            match came(client.call_tool("own", json!({ "n": 256 })).await) {
                Came::Error(-32602, _) if is_protocol_error(choice, revision) => {}
                Came::Result { text, .. } if !is_protocol_error(choice, revision) => {
                    assert!(text.starts_with("not like this: "), "{text}");
                }
                other => panic!("{choice:?} at {revision}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn unknown_tools_are_always_protocol_errors() {
    for choice in CHOICES {
        for revision in Revision::ALL {
            let server = builder().invalid_arguments(choice).build().unwrap();
            let client = connect(server, revision).await;
            let unknown = came(client.call_tool("nothing", json!({})).await);
            assert!(matches!(unknown, Came::Error(-32602, _)), "{unknown:?}");
        }
    }
}

#[tokio::test]
async fn an_internal_error_is_a_result_unless_protocol_errors_were_chosen() {
    for choice in CHOICES {
        for revision in Revision::ALL {
            let server = builder().invalid_arguments(choice).build().unwrap();
            let client = connect(server, revision).await;
            for (tool, expected) in [
                ("panics", "`panics` failed unexpectedly"),
                ("panics_on_its_thread", "`panics_on_its_thread` failed unexpectedly"),
                ("fails_inside", "the database is gone"),
            ] {
                match came(client.call_tool(tool, json!({})).await) {
                    Came::Error(-32603, _) if choice == InvalidArguments::ProtocolError => {}
                    Came::Result { text, .. } if choice != InvalidArguments::ProtocolError => {
                        assert_eq!(text, expected);
                    }
                    other => panic!("{tool}, {choice:?} at {revision}: {other:?}"),
                }
            }
            // An ordinary failure is always for the model.
            let failed = came(client.call_tool("fails", json!({})).await);
            assert!(matches!(failed, Came::Result { text, .. } if text == "no luck"));
        }
    }
}

#[tokio::test]
async fn bare_calls_have_only_protocol_errors() {
    for choice in CHOICES {
        let mut settings = McpSettings::default();
        settings.dispatch = Dispatch::Bare;
        let server = builder().settings(settings).invalid_arguments(choice).build().unwrap();
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        for (method, params, code) in [
            ("order", json!({ "count": "three" }), -32602),
            ("order", json!({ "count": 1e30 }), -32602),
            ("panics", json!({}), -32603),
            ("fails_inside", json!({}), -32603),
            ("fails", json!({}), -32000),
            ("nothing", json!({}), -32601),
        ] {
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            send(&near, &call).await;
            let answer = receive(&near).await;
            assert_eq!(answer["error"]["code"], code, "{method}, {choice:?}: {answer}");
        }
    }
}
