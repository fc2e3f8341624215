//! A server for third-party clients: `interop-server` uses stdio, `interop-server PORT` Streamable
//! HTTP on loopback. Findings go to standard error.

#![allow(clippy::print_stderr, reason = "that is where findings are shown")]

use std::{collections::BTreeMap, error::Error, sync::Arc, time::Duration};

use mcp_sdk::{
    Failure, Finding, NoArguments, Server, Structured, Validation,
    core::{
        BoxFuture, CallToolResult, Completion, Content, Context, CreateMessageRequest, ElicitForm,
        ElicitRequest, GetPromptResult, Json, LogLevel, Mcp, Progress, Prompt, PromptArgument,
        PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
        SamplingMessage, Tool, ToolHandler,
    },
    schemars::JsonSchema,
    transport::http::server::{HttpSettings, ServeSettings, serve},
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// How many steps it takes, of 150 milliseconds each.
    steps: u32,
}

fn tools(builder: mcp_sdk::ServerBuilder) -> mcp_sdk::ServerBuilder {
    builder
        .tool("add", "Adds two numbers", async |add: Add, _| {
            Ok(Structured(Sum { sum: add.a.wrapping_add(add.b) }))
        })
        .tool("fail", "Fails", async |_: NoArguments, _| Err::<String, _>(Failure::new("as asked")))
        .tool("slow", "Takes its time", async |slow: Slow, context| {
            let total = f64::from(slow.steps);
            for step in 1..=slow.steps {
                context.progress(Progress::new(f64::from(step)).total(total)).await;
                context.log(LogLevel::Info, Some("slow"), format!("step {step}")).await;
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
            Ok("done")
        })
        .tool("ask", "Asks the user", async |_: NoArguments, context| {
            let form = ElicitForm::new().required("name", ElicitForm::string());
            let answer = context.elicit("who", &ElicitRequest::form("Who are you?", form)).await?;
            Ok(format!("{:?} {:?}", answer.action, answer.content))
        })
        .tool("think", "Asks a model", async |_: NoArguments, context| {
            let request = CreateMessageRequest::new(vec![SamplingMessage::user("q")], 10);
            Ok(context.sample("thought", &request).await?.content.all_text())
        })
        .tool("roots", "Asks for roots", async |_: NoArguments, context| {
            Ok(context.roots("roots").await?.len().to_string())
        })
        .tool("link", "Gives all kinds of content", async |_: NoArguments, _| {
            Ok(vec![
                Content::text("text"),
                Content::image("AAAA", "image/png"),
                Content::resource(ResourceContents::text("demo://a", "A")),
                Content::resource_link(Resource::new("demo://a", "a")),
            ])
        })
}

fn server() -> Result<Server, mcp_sdk::BuildError> {
    let validation = Validation::enforce().on_finding(show);
    tools(Server::builder("plumb-demo", "1.0.0").validation(validation))
        .instructions("A demonstration.")
        .prompt(
            Prompt::new("greet").argument(PromptArgument::required("who")),
            async |arguments: BTreeMap<String, String>, _| {
                let who = arguments.get("who").map_or("nobody", String::as_str);
                let text = Content::text(format!("Hello {who}"));
                Ok(GetPromptResult::new(vec![PromptMessage::user(text)]))
            },
        )
        .resource(Resource::new("demo://a", "a"), async |uri: String, _, _| {
            Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, "A")]))
        })
        .resource(
            Resource::new("demo://b", "b").mime_type("application/octet-stream"),
            async |uri: String, _, _| {
                let contents = ResourceContents::blob(uri, "AAE=");
                Ok(ReadResourceResult::new(vec![contents.mime_type("application/octet-stream")]))
            },
        )
        .template(
            ResourceTemplate::new("demo://x/{id}", "x"),
            async |uri: String, values: BTreeMap<String, String>, _| {
                let id = values.get("id").map_or("", String::as_str);
                Ok(ReadResourceResult::new(vec![ResourceContents::text(uri, id)]))
            },
        )
        .completions(async |_, _| Ok(Completion::new(vec!["Ann".into(), "Bob".into()])))
        .build()
}

/// A tool that causes changes.
struct Touch(Mcp);

impl ToolHandler for Touch {
    fn call(
        &self,
        _: Json,
        _: Context,
    ) -> BoxFuture<'_, Result<CallToolResult, mcp_sdk::core::Error>> {
        self.0.resource_updated("demo://a");
        self.0.tools().announce();
        Box::pin(std::future::ready(Ok(CallToolResult::text("ok"))))
    }
}

fn show(finding: &Finding) {
    let side = finding.at_fault.or(finding.from).map_or("?", |side| side.as_str());
    let shown = serde_json::to_string(finding).unwrap_or_default();
    eprintln!(
        "FINDING {side} {} {:?}: {} {shown}",
        finding.rule.name, finding.severity, finding.message
    );
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = server()?;
    let tool = Tool::new("touch", Json::parse(r#"{"type":"object"}"#)?);
    server.mcp().add_tool(tool, Arc::new(Touch(server.mcp().clone())))?;
    let Some(port) = std::env::args().nth(1) else {
        server.serve_stdio().await?;
        return Ok(());
    };
    let listener = mcp_sdk::transport::bind(("127.0.0.1", port.parse()?)).await?;
    let service = server.http_service(HttpSettings::default());
    serve(listener, service, ServeSettings::default(), std::future::pending()).await;
    Ok(())
}
