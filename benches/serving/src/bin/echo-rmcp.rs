//! The same echo server on rmcp: `echo-rmcp stdio|http`.

#![expect(clippy::print_stdout, reason = "whoever starts it must know the port")]

use std::{error::Error, sync::Arc};

use axum::serve::ListenerExt as _;
use rmcp::{
    ServerHandler, ServiceExt as _,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{ServerCapabilities, ServerConfig},
    schemars, tool, tool_handler, tool_router,
    transport::{
        io::stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use tokio::net::TcpListener;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    /// What to say.
    message: String,
}

#[derive(Debug, Clone)]
struct Echo {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Echo {
    fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    #[tool(description = "Says what it is told")]
    async fn echo(&self, Parameters(echo): Parameters<EchoArguments>) -> String {
        echo.message
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("http") {
        let mut config = StreamableHttpServerConfig::default();
        // Its fastest mode: plain JSON if there is nothing but the answer.
        config.json_response = true;
        let service: StreamableHttpService<Echo, LocalSessionManager> =
            StreamableHttpService::new(|| Ok(Echo::new()), Arc::default(), config);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        // Without this, small events wait for the client's delayed acknowledgements.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
        return Ok(());
    }
    // In its own task, as in plumb's SDK.
    tokio::spawn(async {
        let service = Echo::new().serve(stdio_pipes()).await.expect("the handshake");
        let _ = service.waiting().await;
    })
    .await?;
    Ok(())
}
