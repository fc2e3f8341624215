use std::env;

use anyhow::Context as _;
use mcp_sdk::{Client, ClientBuilder, Finding, Validation, core::Revision};
use serde::de::DeserializeOwned;

/// The task given by the suite.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) scenario: String,
    url: String,
    revision: Revision,
    context: Option<String>,
}

impl Task {
    #[expect(clippy::disallowed_methods, reason = "the suite passes the task there")]
    pub(crate) fn of_environment() -> anyhow::Result<Task> {
        let given = |name: &str| env::var(name).with_context(|| format!("{name} is not set"));
        Ok(Task {
            scenario: given("MCP_CONFORMANCE_SCENARIO")?,
            url: env::args().skip(1).last().context("the URL of the server is missing")?,
            revision: given("MCP_CONFORMANCE_PROTOCOL_VERSION")?.parse()?,
            context: env::var("MCP_CONFORMANCE_CONTEXT").ok(),
        })
    }

    /// A client that uses the revision of the task.
    pub(crate) fn client(&self) -> ClientBuilder {
        Client::builder("plumb-conformance-client", "0.1.0")
            .revision(self.revision)
            .validation(Validation::enforce().on_finding(tell))
    }

    /// Connects a client without capabilities.
    pub(crate) async fn connect(&self) -> anyhow::Result<Client> {
        self.connect_with(self.client()).await
    }

    pub(crate) async fn connect_with(&self, client: ClientBuilder) -> anyhow::Result<Client> {
        Ok(client.connect_http(&self.url).await?)
    }

    /// Further data of the suite about the scenario.
    pub(crate) fn context<T: DeserializeOwned>(&self) -> anyhow::Result<T> {
        let context = self.context.as_deref().context("MCP_CONFORMANCE_CONTEXT is not set")?;
        serde_json::from_str(context).context("MCP_CONFORMANCE_CONTEXT is invalid")
    }
}

fn tell(finding: &Finding) {
    let side = finding.at_fault.or(finding.from).map_or("nobody", |side| side.as_str());
    eprintln!("finding against {side}: {}: {}", finding.rule.name, finding.message);
}
