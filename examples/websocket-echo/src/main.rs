//! How do I serve over WebSocket?
//!
//! ```sh
//! cargo run -p example-websocket-echo -- 8765
//! cargo run -p example-client -- --call echo '{"text":"hello"}' ws://127.0.0.1:8765
//! ```
//!
//! Port 0, the default, is any free one. Ctrl-C stops it once running calls are done.
#![expect(clippy::print_stdout, reason = "says where it listens")]

use std::{env, net::Ipv4Addr};

use mcp_sdk::{
    Server,
    transport::{WsListener, ws::WsServerSettings},
};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say.
    text: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port: u16 = env::args().nth(1).as_deref().unwrap_or("0").parse()?;
    let server = Server::builder("echo", "1.0.0")
        .tool("echo", "Returns its input", async |echo: Echo, _| Ok(echo.text))
        .build()?;

    // `server.serve_ws(port, stop)` does the same if you do not need the address.
    let listener =
        WsListener::bind((Ipv4Addr::LOCALHOST, port), WsServerSettings::default()).await?;
    println!("ws://{}", listener.local_addr());
    server.serve_ws_on(listener, async { drop(tokio::signal::ctrl_c().await) }).await;
    Ok(())
}
