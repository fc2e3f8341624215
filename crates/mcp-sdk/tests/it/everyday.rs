//! Everyday use.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use mcp_sdk::{
    CallOptions, Client, NoArguments, Server, Structured, Validation,
    core::{
        Content, CreateMessageRequest, CreateMessageResult, ElicitForm, ElicitRequest,
        ElicitResult, GetPromptResult, Json, LogLevel, Progress, Prompt, PromptArgument,
        PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Revision,
        Root, SamplingMessage, Tool, Transport as _,
    },
    schemars::JsonSchema,
    transport::memory,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Sum {
    numbers: Vec<f64>,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    total: f64,
}

fn server(validation: Validation) -> Server {
    Server::builder("test", "1.0.0")
        .validation(validation)
        .tool("sum", "Adds numbers", async |sum: Sum, _| {
            Ok(Structured(Total { total: sum.numbers.iter().sum() }))
        })
        .tool("work", "Takes its time", async |_: NoArguments, context| {
            for step in 1..=3 {
                context.progress(Progress::new(f64::from(step)).total(3.0)).await;
            }
            context.log(LogLevel::Warning, None, "nearly done").await;
            Ok("worked")
        })
        .tool("ask", "Asks the user", async |_: NoArguments, context| {
            let form = ElicitForm::new().required("name", ElicitForm::string());
            let result = context.elicit("who", &ElicitRequest::form("Who are you?", form)).await?;
            let request = CreateMessageRequest::new(vec![SamplingMessage::user("Greet!")], 10);
            let greeting = context.sample("greeting", &request).await?;
            let roots = context.roots("roots").await?;
            let name = result.content.unwrap_or_default()["name"].clone();
            Ok(format!("{} {name} {}", greeting.content.all_text(), roots.len()))
        })
        .tool("fail", "Fails", async |_: NoArguments, _| {
            Err::<String, _>(std::io::Error::other("no luck").into())
        })
        .raw_tool(
            Tool::new("panic", Json::parse(r#"{"type":"object"}"#).unwrap()),
            async |_, _| -> Result<String, mcp_sdk::Failure> { panic!("on purpose") },
        )
        .prompt(
            Prompt::new("greet").argument(PromptArgument::required("name")),
            async |arguments: BTreeMap<String, String>, _| {
                let text = Content::text(format!("Hello {}", arguments["name"]));
                Ok(GetPromptResult::new(vec![PromptMessage::user(text)]))
            },
        )
        .resource(Resource::new("test://one", "one"), async |uri: String, _, _| {
            Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, "one")]))
        })
        .template(
            ResourceTemplate::new("test://item/{id}", "items"),
            async |uri: String, variables: BTreeMap<String, String>, _| {
                Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, &variables["id"])]))
            },
        )
        .build()
        .unwrap()
}

async fn connect(revision: Option<Revision>, findings: &Arc<Mutex<Vec<String>>>) -> Client {
    let (near, far) = memory::pair(16);
    let seen = Arc::clone(findings);
    let note = move |finding: &mcp_sdk::Finding| {
        seen.lock().unwrap().push(format!("{}: {}", finding.rule.name, finding.message));
    };
    let server = server(Validation::enforce().on_finding(note.clone()));
    tokio::spawn(async move { server.serve(far).await });
    let mut builder = Client::builder("test-client", "1.0.0")
        .validation(Validation::enforce().on_finding(note))
        .on_elicitation(async |_| {
            Ok(ElicitResult::accept(json!({ "name": "Ada" }).as_object().unwrap().clone()))
        })
        .on_sampling(async |_| Ok(CreateMessageResult::new("model", Content::text("Hi"))))
        .roots([Root::new("file:///home")]);
    if let Some(revision) = revision {
        builder = builder.revision(revision);
    }
    builder.connect(near).await.unwrap()
}

async fn use_everything(revision: Option<Revision>) {
    let findings = Arc::default();
    let client = connect(revision, &findings).await;
    assert_eq!(client.revision(), revision.unwrap_or(Revision::LATEST));
    assert_eq!(client.server_info().unwrap().name, "test");

    let tools: Vec<_> =
        client.all_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(tools, ["sum", "work", "ask", "fail", "panic"]);

    let sum = client.call_tool("sum", json!({ "numbers": [1, 2.5] })).await.unwrap();
    assert_eq!(sum.all_text(), r#"{"total":3.5}"#);

    let steps = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&steps);
    let options = CallOptions::new().on_progress(move |at| sink.lock().unwrap().push(at.progress));
    let worked = client.call_tool_with("work", json!({}), &options).await.unwrap();
    assert_eq!(worked.all_text(), "worked");
    assert_eq!(*steps.lock().unwrap(), [1.0, 2.0, 3.0]);

    if client.revision() >= Revision::V2025_06_18 {
        let asked = client.call_tool("ask", json!({})).await.unwrap();
        assert_eq!(asked.all_text(), "Hi \"Ada\" 1");
    }

    let failed = client.call_tool("fail", json!({})).await.unwrap();
    assert!(failed.is_error);
    assert_eq!(failed.all_text(), "no luck");
    let panicked = client.call_tool("panic", json!({})).await.unwrap();
    assert!(panicked.is_error);
    assert!(!panicked.all_text().contains("on purpose"), "{panicked:?}");

    let greeting =
        client.get_prompt("greet", &[("name".into(), "Bo".into())].into()).await.unwrap();
    assert_eq!(greeting.messages[0].content.as_text(), Some("Hello Bo"));

    let one = client.read_resource("test://one").await.unwrap();
    assert_eq!(one.contents[0].text.as_deref(), Some("one"));
    let item = client.read_resource("test://item/7").await.unwrap();
    assert_eq!(item.contents[0].text.as_deref(), Some("7"));
    let missing = client.read_resource("test://nothing").await.unwrap_err();
    let code = if client.revision() == Revision::LATEST { -32602 } else { -32002 };
    assert_eq!(missing.code(), Some(code));
    client.ping().await.unwrap();
    client.close().await;
    assert_eq!(*findings.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn everything_works_at_every_revision() {
    for revision in Revision::ALL {
        use_everything(Some(revision)).await;
    }
}

#[tokio::test]
async fn the_newest_revision_is_found() {
    use_everything(None).await;
}

#[tokio::test]
async fn invalid_arguments_never_reach_the_tool() {
    for revision in Revision::ALL {
        let findings = Arc::default();
        let client = connect(Some(revision), &findings).await;
        let result = match client.call_tool("sum", json!({ "numbers": "three" })).await {
            Err(error) => {
                assert!(revision <= Revision::V2025_06_18, "{error}");
                assert_eq!(error.code(), Some(-32602), "{error}");
                error.to_string()
            }
            Ok(result) => {
                assert!(revision >= Revision::V2025_11_25 && result.is_error, "{result:?}");
                result.all_text()
            }
        };
        assert!(result.contains("/numbers: "), "{result}");
        client.all_tools().await.unwrap();
        // Now the client knows the contract too and does not send the call.
        let error = client.call_tool("sum", json!({ "numbers": "three" })).await.unwrap_err();
        assert_eq!(error.code(), None, "{error}");
    }
}

#[tokio::test]
async fn an_abandoned_connection_attempt_is_closed() {
    let (near, far) = memory::pair(16);
    let connecting = tokio::spawn(Client::builder("test", "1.0.0").connect(near));
    assert!(far.receive().await.unwrap().is_some(), "it probes for the revision");
    connecting.abort();
    // Anything it sends while closing does not matter.
    while far.receive().await.unwrap().is_some() {}
}

#[tokio::test]
async fn no_progress_is_reported_after_the_response() {
    let (near, far) = memory::pair(16);
    let server = Server::builder("test", "1.0.0")
        .validation(Validation::off())
        .tool("early", "Answers before it is done", async |_: NoArguments, context| {
            tokio::spawn(async move {
                context.cancelled().await;
                context.progress(Progress::new(1.0)).await;
            });
            Ok("soon")
        })
        .build()
        .unwrap();
    tokio::spawn(async move { server.serve(far).await });
    let params = json!({ "name": "early", "_meta": { "progressToken": 1 } });
    let answer = crate::wire::ask(&near, "tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "soon", "{answer}");
    let next = tokio::time::timeout(std::time::Duration::from_millis(50), near.receive());
    assert!(next.await.is_err(), "nothing more");
}
