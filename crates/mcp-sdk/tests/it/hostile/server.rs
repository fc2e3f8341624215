//! A server with misbehaving tools. Also compiled as a separate program, to run as a child process.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use mcp_sdk::{
    Failure, NoArguments, Server, Validation,
    core::{CallToolResult, Json, Tool},
    schemars::JsonSchema,
};
use serde::Deserialize;
use tokio::sync::watch;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Together {
    count: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Much {
    bytes: usize,
}

/// What happened to calls of the tool `never`, and how many calls of `together` are waiting.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) started: Arc<watch::Sender<usize>>,
    pub(crate) dropped: Arc<watch::Sender<usize>>,
    waiting: Arc<AtomicUsize>,
    complete: Arc<watch::Sender<bool>>,
}

impl Default for Seen {
    fn default() -> Self {
        let counter = || Arc::new(watch::channel(0).0);
        Seen {
            started: counter(),
            dropped: counter(),
            waiting: Arc::default(),
            complete: Arc::new(watch::channel(false).0),
        }
    }
}

/// Counts dropped calls.
struct Going(Arc<watch::Sender<usize>>);

impl Drop for Going {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count += 1);
    }
}

fn schema(text: &'static str) -> Json {
    Json::parse(text).unwrap()
}

pub(crate) fn server(validation: Validation, seen: &Seen) -> Server {
    let (never, together) = (seen.clone(), seen.clone());
    Server::builder("hostile", "1.0.0")
        .validation(validation)
        .tool("echo", "Says it again", async |echo: Echo, _| Ok(echo.text))
        .tool("much", "Says much", async |much: Much, _| Ok("x".repeat(much.bytes)))
        .tool("fail", "Fails", async |_: NoArguments, _| {
            Err::<String, _>(Failure::new("no luck"))
        })
        .tool("never", "Never returns", move |_: NoArguments, _| {
            let seen = never.clone();
            async move {
                let _going = Going(seen.dropped);
                seen.started.send_modify(|count| *count += 1);
                pending::<Result<String, Failure>>().await
            }
        })
        .tool("together", "Waits for others", move |all: Together, _| {
            let seen = together.clone();
            async move {
                if seen.waiting.fetch_add(1, Ordering::SeqCst) + 1 >= all.count {
                    seen.complete.send_replace(true);
                }
                seen.complete.subscribe().wait_for(|complete| *complete).await?;
                Ok("together")
            }
        })
        .raw_tool(
            Tool::new("panic", schema(r#"{"type":"object"}"#)),
            async |_, _| -> Result<String, Failure> { panic!("on purpose") },
        )
        .raw_tool(
            Tool::new("lie", schema(r#"{"type":"object"}"#)).output_schema(schema(
                r#"{"type":"object","properties":{"total":{"type":"number"}},"required":["total"]}"#,
            )),
            async |_, _| Ok(CallToolResult::structured(schema(r#"{"total":"secret"}"#))),
        )
        .build()
        .unwrap()
}
