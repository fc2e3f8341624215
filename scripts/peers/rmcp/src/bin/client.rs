//! Drives a server with the client of rmcp: `client PLAN legacy|modern|auto (stdio CMD ARGS… | http URL)`.
#![allow(deprecated)] // roots, sampling and logging are what we want to hear

use std::{env, fs, time::Duration};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::*,
    service::{PeerRequestOptions, RequestContext, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, from_value, json};
use tokio::{process::Command, time::sleep};

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Me {
    bare: bool,
    root: String,
}

impl ClientHandler for Me {
    fn get_info(&self) -> ClientConfig {
        let capabilities = if self.bare {
            json!({})
        } else {
            json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {"form": {}, "url": {}}})
        };
        from_value(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "rmcp-driver", "version": "1.0.0"},
        }))
        .expect("a client's description")
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(from_value(json!({
            "role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m", "stopReason": "endTurn",
        }))
        .expect("a sampled message"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(from_value(json!({"roots": [{"uri": format!("file://{}", self.root), "name": "root"}]}))
            .expect("roots"))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let mut answer = json!({"action": "accept"});
        if let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = asked {
            let schema = serde_json::to_value(requested_schema).unwrap_or_default();
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            answer["content"] = fields.iter().map(|(name, field)| (name.clone(), example(field))).collect();
        }
        Ok(from_value(answer).expect("an answer"))
    }
}

/// A value that more or less fits a schema.
fn example(schema: &Value) -> Value {
    for given in ["default", "const"] {
        if !schema[given].is_null() {
            return schema[given].clone();
        }
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(first) = schema[choice].get(0) {
            return example(first);
        }
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("string");
    match kind {
        "number" | "integer" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "array" => json!([example(&schema["items"])]),
        "object" => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let names = required.iter().filter_map(Value::as_str);
            names.map(|name| (name.to_owned(), example(&schema["properties"][name]))).collect()
        }
        "null" => Value::Null,
        _ if schema["format"] == "email" => json!("a@example.com"),
        _ if schema["format"] == "uri" => json!("https://example.com/"),
        _ => json!("abc"),
    }
}

fn params<T: serde::de::DeserializeOwned>(value: Value) -> T {
    from_value(value).expect("parameters of a request")
}

/// Prints the outcome and goes on: an error is as good a recording as a result.
fn note<T: std::fmt::Debug, E: std::fmt::Display>(what: &str, outcome: Result<T, E>) -> Option<T> {
    match outcome {
        Ok(value) => {
            eprintln!("# ok {what}");
            Some(value)
        }
        Err(error) => {
            eprintln!("# ERR {what}: {error}");
            None
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    let plan = fs::read_to_string(arguments.next().ok_or("no plan")?)?;
    let plan: Value = serde_json::from_str(&plan)?;
    let newest = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match arguments.next().as_deref() {
        Some("legacy") => ClientLifecycleMode::Initialize,
        Some("modern") => ClientLifecycleMode::Discover { preferred_versions: newest },
        Some("auto") => ClientLifecycleMode::Auto { preferred_versions: newest, legacy_version: None },
        other => return Err(format!("no such mode: {other:?}").into()),
    };
    let me = Me {
        bare: plan["bare"] == true,
        root: plan["root"].as_str().unwrap_or("/tmp").to_owned(),
    };
    let transport = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let client = match transport.as_deref() {
        Some("http") => {
            let transport = StreamableHttpClientTransport::from_uri(rest[0].as_str());
            me.serve_with_lifecycle(transport, lifecycle).await?
        }
        Some("stdio") => {
            let mut command = Command::new(&rest[0]);
            command.args(&rest[1..]);
            me.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
        }
        other => return Err(format!("no such transport: {other:?}").into()),
    };
    drive(&client, &plan).await;
    sleep(Duration::from_secs_f64(plan["linger"].as_f64().unwrap_or(0.4))).await;
    client.cancel().await?;
    Ok(())
}

async fn drive(client: &RunningService<RoleClient, Me>, plan: &Value) {
    let Some(info) = client.peer_info() else { return };
    let info = serde_json::to_value(info.as_ref()).unwrap_or_default();
    let legacy = info["protocolVersion"].as_str().is_some_and(|version| version < "2026");
    let offered = info["capabilities"].clone();
    eprintln!("# {info}");
    if legacy && !offered["logging"].is_null() {
        note("setLevel", client.set_level(params(json!({"level": "debug"}))).await);
    }
    if !offered["prompts"].is_null() {
        prompts(client, plan, &offered).await;
    }
    if !offered["resources"].is_null() {
        resources(client, legacy, &offered).await;
    }
    if !offered["tools"].is_null() {
        tools(client, plan).await;
    }
    if !legacy && plan["listOnly"] != true {
        listen(client, plan).await;
    }
    if legacy && plan["bare"] != true {
        note("roots changed", client.notify_roots_list_changed().await);
    }
}

async fn prompts(client: &RunningService<RoleClient, Me>, plan: &Value, offered: &Value) {
    let listed = note("prompts/list", client.list_all_prompts().await).unwrap_or_default();
    for prompt in listed {
        let wanted = prompt.arguments.unwrap_or_default();
        let value = |name: &str| plan["prompts"].get(name).cloned().unwrap_or(json!("1"));
        let filled: Value = wanted.iter().map(|one| (one.name.clone(), value(&one.name))).collect();
        let full = params(json!({"name": prompt.name, "arguments": filled}));
        note("prompts/get", client.get_prompt(full).await);
        if let Some(first) = wanted.first() {
            note("prompts/get, nothing", client.get_prompt(params(json!({"name": prompt.name}))).await);
            if !offered["completions"].is_null() {
                let what = json!({"ref": {"type": "ref/prompt", "name": prompt.name}, "argument": {"name": first.name, "value": ""}});
                note("complete", client.complete(params(what)).await);
            }
        }
    }
    note("prompts/get, unknown", client.get_prompt(params(json!({"name": "no-such"}))).await);
}

async fn resources(client: &RunningService<RoleClient, Me>, legacy: bool, offered: &Value) {
    let listed = note("resources/list", client.list_all_resources().await).unwrap_or_default();
    for resource in listed.into_iter().take(4) {
        let resource = serde_json::to_value(resource).unwrap_or_default();
        let one = json!({"uri": resource["uri"]});
        note("resources/read", client.read_resource(params(one.clone())).await);
        if legacy && offered["resources"]["subscribe"] == true {
            note("subscribe", client.subscribe(params(one)).await);
        }
    }
    note("templates", client.list_all_resource_templates().await);
    note("resources/read, unknown", client.read_resource(params(json!({"uri": "demo://no/such"}))).await);
}

async fn tools(client: &RunningService<RoleClient, Me>, plan: &Value) {
    let listed = note("tools/list", client.list_all_tools().await).unwrap_or_default();
    if plan["listOnly"] == true {
        return;
    }
    let skipped = plan["skip"].as_array().cloned().unwrap_or_default();
    for tool in &listed {
        if skipped.contains(&json!(tool.name)) {
            continue;
        }
        let schema = Value::Object(tool.input_schema.as_ref().clone());
        let calls = plan["calls"][tool.name.as_ref()].as_array().cloned();
        for arguments in calls.unwrap_or_else(|| vec![example(&schema)]) {
            let call = params(json!({"name": tool.name, "arguments": arguments}));
            let answer = tokio::time::timeout(Duration::from_secs(20), client.call_tool(call)).await;
            note(&tool.name, answer.map_err(|_| "timeout".to_owned()).and_then(|answer| answer.map_err(|error| error.to_string())));
        }
        if schema["properties"].as_object().is_some_and(|fields| !fields.is_empty()) {
            note("no arguments", client.call_tool(params(json!({"name": tool.name, "arguments": {}}))).await);
        }
    }
    note("unknown tool", client.call_tool(params(json!({"name": "no_such_tool", "arguments": {}}))).await);
    if !plan["slow"].is_null() {
        let slow = || ClientRequest::CallToolRequest(CallToolRequest::new(params(plan["slow"].clone())));
        let cancelled = client.send_cancellable_request(slow(), PeerRequestOptions::no_options()).await;
        if let Some(handle) = note("slow", cancelled.map_err(|error| error.to_string()).map(Held)) {
            sleep(Duration::from_millis(500)).await;
            note("cancel", handle.0.cancel(Some("enough".to_owned())).await);
        }
        let hurried = PeerRequestOptions::with_timeout(Duration::from_millis(300));
        if let Ok(handle) = client.send_cancellable_request(slow(), hurried).await {
            note("timeout", handle.await_response().await);
        }
    }
}

/// A handle that `note` accepts.
struct Held(rmcp::service::RequestHandle<RoleClient>);

impl std::fmt::Debug for Held {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a request")
    }
}

async fn listen(client: &RunningService<RoleClient, Me>, plan: &Value) {
    let filter = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": plan["listen"]["uris"].as_array().cloned().unwrap_or_default(),
    });
    let mut subscription = match client.listen(params(filter)).await {
        Ok(subscription) => subscription,
        Err(error) => return eprintln!("# ERR listen: {error}"),
    };
    for call in plan["listen"]["calls"].as_array().into_iter().flatten() {
        note("call while listening", client.call_tool(params(call.clone())).await);
    }
    while let Ok(Ok(Some(_))) = tokio::time::timeout(Duration::from_millis(500), subscription.next()).await {}
    note("end listening", subscription.cancel().await);
}
