//! A small server on rmcp: `server` speaks stdio, `server PORT` Streamable HTTP on loopback.
#![allow(deprecated)] // roots, sampling and logging are what we want to hear

use std::{env, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, SubscriptionContext},
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde_json::{Value, from_value, json};
use tokio::time::sleep;

#[derive(Clone)]
struct Demo;

/// Everything is written as JSON and parsed into the SDK's types, which then serialise it again.
fn made<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// The same for a result. Its constructors would mark it as complete; the SDK removes that again
/// for older peers.
fn result<T: serde::de::DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = json!("complete");
    made(value)
}

fn text(text: &str) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

fn form() -> Value {
    json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}}, "required": ["name"]})
}

impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        from_value(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true},
                "completions": {}, "logging": {},
            },
            "serverInfo": {"name": "rmcp-demo", "version": "1.0.0"},
        }))
        .expect("a server's description")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let plain = json!({"type": "object"});
        result(json!({"tools": [
            {"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
             "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}},
            {"name": "fail", "inputSchema": plain}, {"name": "slow", "inputSchema": plain}, {"name": "ask", "inputSchema": plain},
            {"name": "think", "inputSchema": plain}, {"name": "roots", "inputSchema": plain}, {"name": "link", "inputSchema": plain},
            {"name": "touch", "inputSchema": plain},
        ]}))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = call.arguments.clone().unwrap_or_default();
        let failed = |error: rmcp::ServiceError| ErrorData::internal_error(error.to_string(), None);
        match call.name.as_ref() {
            "add" => {
                let number = |name: &str| given.get(name).and_then(Value::as_i64);
                let (Some(a), Some(b)) = (number("a"), number("b")) else {
                    return Err(ErrorData::invalid_params("a and b are integers", None));
                };
                Ok(CallToolResult::structured(json!({"sum": a + b})).into())
            }
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("as asked")]).into()),
            "slow" => {
                for step in 1..=4 {
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, f64::from(step)).with_total(4.0);
                        let _ = context.peer.notify_progress(progress).await;
                    }
                    let message = made(json!({"level": "info", "data": format!("step {step}")}))?;
                    let _ = context.peer.notify_logging_message(message).await;
                    sleep(Duration::from_millis(150)).await;
                }
                text("done")
            }
            "ask" | "think" | "roots" if call.input_responses.is_some() => text("thanks"),
            "ask" => {
                let asked = json!({"mode": "form", "message": "Who?", "requestedSchema": form()});
                if modern(&context) {
                    return wanted("elicitation/create", asked);
                }
                let answer = context.peer.create_elicitation(made(asked)?).await.map_err(failed)?;
                text(&format!("{:?}", answer.action))
            }
            "think" => {
                let asked = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "q"}}], "maxTokens": 5});
                if modern(&context) {
                    return wanted("sampling/createMessage", asked);
                }
                let answer = context.peer.create_message(made(asked)?).await.map_err(failed)?;
                text(&answer.model)
            }
            "roots" => {
                if modern(&context) {
                    return wanted("roots/list", json!({}));
                }
                let answer = context.peer.list_roots().await.map_err(failed)?;
                text(&answer.roots.len().to_string())
            }
            "link" => result::<CallToolResult>(json!({"content": [
                {"type": "resource_link", "uri": "demo://a", "name": "a"},
                {"type": "resource", "resource": {"uri": "demo://a", "text": "A"}},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            ]}))
            .map(Into::into),
            "touch" => {
                let _ = context.peer.notify_tool_list_changed().await;
                let _ = context.peer.notify_resource_updated(made(json!({"uri": "demo://a"}))?).await;
                text("ok")
            }
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        result(json!({"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": true}]}]}))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if asked.name != "greet" || asked.arguments.is_none() {
            return Err(ErrorData::invalid_params("no such prompt, or no name to greet", None));
        }
        result::<GetPromptResult>(json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]}))
            .map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        result(json!({"resources": [{"uri": "demo://a", "name": "a"}, {"uri": "demo://b", "name": "b", "mimeType": "application/octet-stream"}]}))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        result(json!({"resourceTemplates": [{"uriTemplate": "demo://x/{id}", "name": "x"}]}))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = match asked.uri.as_str() {
            "demo://a" => json!({"uri": asked.uri, "text": "A"}),
            "demo://b" => json!({"uri": asked.uri, "blob": "AAE="}),
            other => return Err(ErrorData::resource_not_found(format!("no {other}"), None)),
        };
        result::<ReadResourceResult>(json!({"contents": [contents]})).map(Into::into)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    /// Something changes soon after a client starts listening.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        sleep(Duration::from_millis(200)).await;
        let sink = context.sink();
        let _ = sink.notify_tool_list_changed().await;
        let _ = sink.notify_resource_updated("demo://a").await;
        context.cancelled().await;
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        result(json!({"completion": {"values": ["Ann", "Bob"], "total": 2, "hasMore": false}}))
    }
}

fn modern(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some()
}

/// Asks inside the result, as in 2026-07-28.
fn wanted(method: &str, params: Value) -> Result<CallToolResponse, ErrorData> {
    let asked = json!({"resultType": "input_required", "inputRequests": {"it": {"method": method, "params": params}}, "requestState": "state-1"});
    made::<InputRequiredResult>(asked).map(Into::into)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(port) = env::args().nth(1) else {
        Demo.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let service: StreamableHttpService<Demo, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Demo), Default::default(), StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
