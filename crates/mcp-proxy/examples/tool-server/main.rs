//! A stdio server that tests start behind a proxy.

use std::{error::Error, process, sync::Arc, time::Duration};

use mcp_sdk::{
    NoArguments, Server,
    core::{
        BoxFuture, CallToolResult, Context, ElicitForm, ElicitRequest, Json, Mcp, Progress, Tool,
        ToolHandler,
    },
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

/// A tool that announces a change of the tool list.
struct Touch(Mcp);

impl ToolHandler for Touch {
    fn call(
        &self,
        _: Json,
        _: Context,
    ) -> BoxFuture<'_, Result<CallToolResult, mcp_sdk::core::Error>> {
        self.0.tools().announce();
        Box::pin(std::future::ready(Ok(CallToolResult::text("ok"))))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder("tool-server", "1")
        .tool("echo", "Repeats", async |echo: Echo, _| Ok(echo.text))
        .tool("ask", "Asks the user", async |_: NoArguments, context| {
            let form = ElicitForm::new().required("name", ElicitForm::string());
            let answer = context.elicit("who", &ElicitRequest::form("Who?", form)).await?;
            Ok(serde_json::to_string(&answer.content)?)
        })
        .tool("steps", "Shows progress", async |_: NoArguments, context| {
            for step in [1.0, 2.0] {
                context.progress(Progress::new(step).total(2.0)).await;
            }
            Ok("done")
        })
        .tool("wait", "Never ends", async |_: NoArguments, context| {
            context.progress(Progress::new(1.0)).await;
            tokio::time::sleep(Duration::from_secs(3600)).await;
            Ok("done")
        })
        .tool("exit", "Ends the server", async |_: NoArguments, _| -> Result<String, _> {
            process::exit(3)
        })
        .build()?;
    let tool = Tool::new("touch", Json::parse(r#"{"type":"object"}"#)?);
    server.mcp().add_tool(tool, Arc::new(Touch(server.mcp().clone())))?;
    server.serve_stdio().await?;
    Ok(())
}
