//! A server on standard streams that tests start behind a proxy.

use std::{error::Error, process, time::Duration};

use mcp_sdk::{
    NoArguments, Server,
    core::{ElicitForm, ElicitRequest, Progress},
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
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
    server.serve_stdio().await?;
    Ok(())
}
