//! How do I use a server?
//!
//! Connects to a command or a URL, lists what the server offers, and optionally calls a tool:
//!
//! ```sh
//! cargo run -p example-client -- cargo run -q -p example-stdio-tools
//! cargo run -p example-client -- --call visits '{}' http://127.0.0.1:8080/mcp
//! ```
#![expect(clippy::print_stdout, reason = "it prints the answers")]

use std::{env, process::ExitCode};

use anyhow::{Context as _, bail};
use futures_util::TryStreamExt as _;
use mcp_sdk::{Client, transport::ChildCommand, visible};
use serde_json::Value;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A server's error message is in there.
            eprintln!("error: {}", visible(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let mut words = env::args().skip(1).peekable();
    let mut call = None;
    if words.next_if(|word| word == "--call").is_some() {
        let tool = words.next().context("--call TOOL ARGUMENTS")?;
        let arguments = words.next().context("--call TOOL ARGUMENTS")?;
        let arguments: Value = serde_json::from_str(&arguments).context("ARGUMENTS is no JSON")?;
        call = Some((tool, arguments));
    }
    let Some(target) = words.next() else {
        bail!("example-client [--call TOOL ARGUMENTS] URL | COMMAND [ARGUMENT...]");
    };

    let client = connect(&target, words.collect()).await?;
    show(&client).await?;
    if let Some((tool, arguments)) = call {
        let result = client.call_tool(&tool, arguments).await?;
        let outcome = if result.is_error { "failed" } else { "said" };
        println!("{tool} {outcome}: {}", visible(&result.all_text()));
    }
    client.close().await;
    Ok(())
}

async fn connect(target: &str, arguments: Vec<String>) -> anyhow::Result<Client> {
    let builder = Client::builder("example-client", "1.0.0");
    let client = match target.split_once("://") {
        Some(("http" | "https", _)) => builder.connect_http(target).await,
        Some(("ws" | "wss", _)) => builder.connect_ws(target).await,
        _ => builder.connect_child(&ChildCommand::new(target).args(arguments)).await,
    };
    client.with_context(|| format!("cannot use {target}"))
}

async fn show(client: &Client) -> anyhow::Result<()> {
    let name = client.server_info().map_or("a server", |info| info.name.as_str());
    // The server chose its name and everything else: none of it may reach the terminal as it is.
    println!("{} speaks {}", visible(name), client.revision());
    // A server must not be asked for anything it has not declared.
    let offers = client.server_capabilities().cloned().unwrap_or_default();
    if offers.tools.is_some() {
        let mut tools = std::pin::pin!(client.tools());
        while let Some(tool) = tools.try_next().await? {
            print_offer("tool", &tool.name, &tool.description.unwrap_or_default());
        }
    }
    if offers.prompts.is_some() {
        let mut prompts = std::pin::pin!(client.prompts());
        while let Some(prompt) = prompts.try_next().await? {
            print_offer("prompt", &prompt.name, &prompt.description.unwrap_or_default());
        }
    }
    if offers.resources.is_some() {
        let mut resources = std::pin::pin!(client.resources());
        while let Some(resource) = resources.try_next().await? {
            print_offer("resource", &resource.uri, &resource.name);
        }
    }
    Ok(())
}

fn print_offer(kind: &str, name: &str, description: &str) {
    println!("{kind} {}: {}", visible(name), visible(description));
}
