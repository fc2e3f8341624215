//! How do I use several servers as if they were one?
//!
//! ```sh
//! cargo run -p example-host
//! ```
//!
//! Both servers run in this process; any other clients are added the same way.
#![expect(clippy::print_stdout, reason = "it prints the answers")]

use mcp_sdk::{Client, Host, NoArguments, Server, transport::memory, visible};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    name: String,
}

fn greeter(place: &'static str, hello: &'static str) -> anyhow::Result<Server> {
    Ok(Server::builder(place, "1.0.0")
        .tool("greet", "Says hello as people do there", move |greeting: Greeting, _| async move {
            Ok(format!("{hello}, {}!", greeting.name))
        })
        .tool(format!("about_{place}"), "Where that is", move |_: NoArguments, _| async move {
            Ok(format!("{place} is a capital"))
        })
        .build()?)
}

async fn connect(server: Server) -> anyhow::Result<Client> {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server.serve(far).await });
    Ok(Client::builder("example-host", "1.0.0").connect(near).await?)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let host = Host::builder()
        .server("oslo", connect(greeter("oslo", "Hei")?).await?)
        .server("paris", connect(greeter("paris", "Bonjour")?).await?)
        .build()?;

    let tools = host.tools().await;
    for tool in &tools.entries {
        println!("{} ({} at {})", visible(&tool.name), visible(&tool.entry.name), tool.server);
    }
    for (server, error) in &tools.failures {
        println!("{server} is not available: {}", visible(&error.to_string()));
    }

    let said = host.call_tool("paris__greet", json!({ "name": "Ada" })).await?;
    println!("{}", visible(&said.all_text()));
    // Invalid arguments are not even sent; the error names the server.
    if let Err(error) = host.call_tool("oslo__greet", json!({ "name": 7 })).await {
        println!("{}", visible(&error.to_string()));
    }
    host.close().await;
    Ok(())
}
