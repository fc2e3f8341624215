//! An echo server on plumb's SDK: `echo-plumb stdio|ws|http off|observe|enforce`.

#![expect(clippy::print_stdout, reason = "whoever starts it must know the port")]

use std::error::Error;

use mcp_sdk::{
    Server, Validation,
    schemars::JsonSchema,
    transport::{
        http::server::{HttpSettings, ServeSettings, serve},
        ws::{WsListener, WsServerSettings},
    },
};
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say.
    message: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let transport = arguments.next().unwrap_or_default();
    let validation = match arguments.next().as_deref() {
        Some("off") => Validation::off(),
        Some("observe") => Validation::observe(),
        _ => Validation::enforce(),
    };
    let server = Server::builder("echo", "1.0.0")
        .validation(validation)
        .tool("echo", "Says what it is told", async |echo: Echo, _| Ok(echo.message))
        .build()?;
    match transport.as_str() {
        "http" => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("{}", listener.local_addr()?);
            let mut settings = HttpSettings::default();
            settings.max_sessions = 100_000;
            let service = server.http_service(settings);
            serve(listener, service, ServeSettings::default(), std::future::pending()).await;
        }
        "ws" => {
            let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await?;
            println!("{}", listener.local_addr());
            loop {
                let transport = listener.accept().await?;
                let server = server.clone();
                tokio::spawn(async move { server.serve(transport).await });
            }
        }
        _ => server.serve_stdio().await?,
    }
    Ok(())
}
