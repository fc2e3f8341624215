//! A client for third-party servers:
//! `interop-client PLAN legacy|auto|modern (stdio COMMAND ARGUMENTS… | http URL)`.
//!
//! It uses everything that the server offers, as the plan says, and prints the outcomes. It fails if
//! it cannot connect, or if validation finds a fault on this side.

#![allow(clippy::print_stderr, reason = "that is where everything is shown")]

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt::Debug,
    fs,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use mcp_sdk::{
    CallOptions, Client, ClientBuilder, ClientError, Finding, Validation,
    core::{
        CompleteRequest, CompletionReference, Content, CreateMessageResult, ElicitResult, LogLevel,
        Revision, Root, Side,
    },
    transport::{ChildCommand, ChildStderr},
};
use serde_json::{Map, Value, json};

/// Unprovoked findings against this side.
static OURS: AtomicUsize = AtomicUsize::new(0);

/// The rules that this client violates on purpose, to see how the server responds.
const ON_PURPOSE: [&str; 6] = [
    "method-unknown",
    "prompt-required-argument-missing",
    "prompt-unknown",
    "task-support-required",
    "tool-arguments-invalid",
    "tool-unknown",
];

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = run(env::args().skip(1).collect()).await;
    if let Err(error) = &outcome {
        eprintln!("# FAILED {error}");
    }
    let ours = OURS.load(Ordering::Relaxed);
    eprintln!("# findings against this side: {ours}");
    if outcome.is_ok() && ours == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run(arguments: Vec<String>) -> Result<(), Box<dyn Error>> {
    let [plan, mode, transport, target @ ..] = &arguments[..] else {
        return Err(
            "usage: interop-client PLAN legacy|auto|modern (stdio COMMAND… | http URL)".into()
        );
    };
    let plan: Value = serde_json::from_str(&fs::read_to_string(plan)?)?;
    let builder = builder(&plan, mode);
    let client = match (transport.as_str(), target) {
        ("http", [url]) => builder.connect_http(url).await?,
        ("stdio", [program, arguments @ ..]) => {
            let command = ChildCommand::new(program).args(arguments.to_vec());
            builder.connect_child(&command.stderr(ChildStderr::Null)).await?
        }
        _ => return Err("a transport is `stdio COMMAND…` or `http URL`".into()),
    };
    eprintln!(
        "# connected {} {:?}",
        client.revision(),
        client.server_info().map(|info| &info.name)
    );
    let mut events = client.events();
    tokio::spawn(async move {
        while let Ok(event) = events.recv().await {
            eprintln!("# event {:.100}", format!("{event:?}"));
        }
    });
    converse(&client, &plan).await?;
    client.close().await;
    Ok(())
}

fn builder(plan: &Value, mode: &str) -> ClientBuilder {
    let root = plan["root"].as_str().unwrap_or("/").to_owned();
    let builder = Client::builder("plumb-driver", "1.0.0")
        .validation(Validation::enforce().on_finding(show))
        .timeout(Duration::from_secs(20))
        .roots([Root::new(format!("file://{root}"))])
        .on_sampling(async |_| Ok(CreateMessageResult::new("model", Content::text("hi"))))
        .on_elicitation(async |request| {
            let asked = serde_json::to_value(&request)?;
            let answers = example(&asked["requestedSchema"]);
            Ok(ElicitResult::accept(answers.as_object().cloned().unwrap_or_default()))
        });
    match mode {
        "legacy" => builder.revision(Revision::LATEST_LEGACY),
        "modern" => builder.revision(Revision::LATEST),
        _ => builder,
    }
}

fn show(finding: &Finding) {
    let side = finding.at_fault.or(finding.from);
    if side == Some(Side::Client) && !ON_PURPOSE.contains(&finding.rule.name) {
        OURS.fetch_add(1, Ordering::Relaxed);
    }
    let shown = serde_json::to_string(finding).unwrap_or_default();
    let side = side.map_or("?", |side| side.as_str());
    eprintln!(
        "FINDING {side} {} {:?}: {} {shown}",
        finding.rule.name, finding.severity, finding.message
    );
}

/// Prints the outcome, be it a result or an error.
fn note<T: Debug>(what: &str, outcome: Result<T, ClientError>) -> Option<T> {
    match outcome {
        Ok(result) => {
            eprintln!("# ok {what} {:.120}", format!("{result:?}"));
            Some(result)
        }
        Err(error) => {
            let mut text = error.to_string();
            let mut cause = error.source();
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            eprintln!("# ERR {what} {text:.240}");
            None
        }
    }
}

async fn converse(client: &Client, plan: &Value) -> Result<(), Box<dyn Error>> {
    client.ping().await?;
    let offered = json!(client.server_capabilities());
    if !offered["logging"].is_null() {
        note("log level", client.set_log_level(LogLevel::Debug).await);
    }
    let subscription = note("subscribe", client.subscribe(&uris(plan, &offered)).await);
    if !offered["tools"].is_null() {
        tools(client, plan).await?;
    }
    if !offered["prompts"].is_null() {
        prompts(client, plan, &offered).await;
    }
    if !offered["resources"].is_null() {
        resources(client, &offered).await;
    }
    for call in plan["listen"]["calls"].as_array().into_iter().flatten() {
        let name = call["name"].as_str().unwrap_or_default();
        note("call while listening", client.call_tool(name, &call["arguments"]).await);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(subscription);
    note("unknown method", client.request("acme/none", Map::new(), &CallOptions::new()).await);
    client.ping().await?;
    Ok(())
}

fn uris<'p>(plan: &'p Value, offered: &Value) -> Vec<&'p str> {
    if offered["resources"]["subscribe"] != true {
        return Vec::new();
    }
    plan["listen"]["uris"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

async fn tools(client: &Client, plan: &Value) -> Result<(), Box<dyn Error>> {
    let tools = client.all_tools().await?;
    eprintln!("# {} tools", tools.len());
    for tool in &tools {
        let schema: Value = tool.input_schema.read()?;
        let planned = plan["calls"][&tool.name].as_array().cloned();
        let progress = |at| eprintln!("# progress {at:?}");
        let options = CallOptions::new().on_progress(progress);
        for arguments in planned.unwrap_or_else(|| vec![example(&schema)]) {
            note(&tool.name, client.call_tool_with(&tool.name, arguments, &options).await);
        }
    }
    // Before the tools were listed, this side could not know better.
    note("unknown tool", client.call_tool("no_such_tool", json!({})).await);
    cancel(client, plan).await;
    Ok(())
}

async fn cancel(client: &Client, plan: &Value) {
    let Some(name) = plan["slow"]["name"].as_str() else { return };
    let options = CallOptions::new().timeout(Duration::from_millis(400));
    note("cancelled", client.call_tool_with(name, &plan["slow"]["arguments"], &options).await);
    let calls = plan["parallel"].as_array().cloned().unwrap_or_default().into_iter().map(|call| {
        let client = client.clone();
        tokio::spawn(async move {
            let name = call["name"].as_str().unwrap_or_default();
            note("parallel", client.call_tool(name, &call["arguments"]).await);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        if let Err(error) = call.await {
            eprintln!("# ERR {error}");
        }
    }
}

async fn prompts(client: &Client, plan: &Value, offered: &Value) {
    for prompt in
        note("prompts", client.list_prompts(None).await).map_or(vec![], |page| page.prompts)
    {
        let value = |name: &str| plan["prompts"][name].as_str().unwrap_or("1").to_owned();
        let wanted = prompt.arguments.clone();
        let filled: BTreeMap<_, _> =
            wanted.iter().map(|one| (one.name.clone(), value(&one.name))).collect();
        note("prompt", client.get_prompt(&prompt.name, &filled).await);
        let Some(first) = wanted.first() else { continue };
        note("prompt, nothing", client.get_prompt(&prompt.name, &BTreeMap::new()).await);
        if !offered["completions"].is_null() {
            let about = CompletionReference::Prompt { name: prompt.name.clone() };
            let request = CompleteRequest::new(about, first.name.clone(), "");
            note("complete", client.complete(&request).await);
        }
    }
    note("prompt, unknown", client.get_prompt("no-such", &BTreeMap::new()).await);
}

async fn resources(client: &Client, offered: &Value) {
    let listed = note("resources", client.list_resources(None).await);
    for resource in listed.map_or(vec![], |page| page.resources).iter().take(4) {
        note("resource", client.read_resource(&resource.uri).await);
    }
    let listed = note("templates", client.list_resource_templates(None).await);
    for template in listed.map_or(vec![], |page| page.resource_templates) {
        let uri = template.uri_template.replace("{id}", "1").replace("{resourceId}", "1");
        note("by template", client.read_resource(&uri).await);
        if !offered["completions"].is_null() {
            let about = CompletionReference::Resource { uri: template.uri_template.clone() };
            note("complete", client.complete(&CompleteRequest::new(about, "id", "")).await);
        }
    }
    note("resource, unknown", client.read_resource("demo://no/such").await);
}

/// A value that roughly matches a schema.
fn example(schema: &Value) -> Value {
    for given in ["default", "const"] {
        if let Some(value) = schema.get(given) {
            return value.clone();
        }
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if let Some(first) = schema["oneOf"].get(0).or_else(|| schema["anyOf"].get(0)) {
        return example(first);
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([example(&schema["items"])]),
        Some("object") => schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|name| (name.to_owned(), example(&schema["properties"][name])))
            .collect::<Map<_, _>>()
            .into(),
        _ => match schema["format"].as_str() {
            Some("email") => json!("a@example.com"),
            Some("uri") => json!("https://example.com/"),
            Some("date") => json!("2026-01-02"),
            Some("date-time") => json!("2026-01-02T03:04:05Z"),
            _ => json!("abc"),
        },
    }
}
