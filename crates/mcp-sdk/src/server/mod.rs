//! Servers.

mod builder;
mod failure;
mod functions;
#[cfg(feature = "http")]
pub(crate) mod http;
mod output;
mod schema;

use std::sync::Arc;

use mcp_core::{Era, Implementation, Mcp, Revision, Side, Transport, TransportError};
use mcp_jsonrpc::{ErrorDialect, JsonRpcProcessor, JsonRpcTransport, ProcessorSettings};
use mcp_rules::Carrier;

pub use self::{
    builder::ServerBuilder,
    failure::Failure,
    functions::NoArguments,
    output::{Structured, ToolOutput},
};
use crate::{Validation, clock::TokioClock};

/// A server: what it offers, how it validates, and ways to be reached. Cheap to clone; all clones
/// are the same server.
#[derive(Debug, Clone)]
pub struct Server {
    mcp: Mcp,
    validation: Validation,
    settings: ProcessorSettings,
}

impl Server {
    /// Begins a server that calls itself `name`.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(Implementation::new(name, version))
    }

    /// Begins a server that introduces itself more fully.
    pub fn builder_for(info: Implementation) -> ServerBuilder {
        ServerBuilder::new(info)
    }

    fn new(mcp: Mcp, validation: Validation) -> Server {
        let mut settings = ProcessorSettings::new(Arc::new(TokioClock::new()));
        if mcp.settings().dispatch == mcp_core::Dispatch::Bare {
            settings.dialect = ErrorDialect::Bare;
        }
        Server { mcp, validation, settings }
    }

    /// Takes other limits and times for its conversations.
    #[must_use]
    pub fn conversations(mut self, change: impl FnOnce(&mut ProcessorSettings)) -> Server {
        change(&mut self.settings);
        self
    }

    /// The engine, to add or remove what is offered while the server runs.
    pub fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    /// Serves one client over `transport` until it leaves.
    ///
    /// # Errors
    ///
    /// If the transport failed.
    pub async fn serve(&self, transport: impl Transport + 'static) -> Result<(), TransportError> {
        self.hold(transport, Carrier::Stdio, None).await
    }

    /// Serves the client on the process's own standard streams until it leaves.
    ///
    /// Nothing else may be written to standard output; logs belong to standard error.
    ///
    /// # Errors
    ///
    /// If the streams failed.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(&self) -> Result<(), TransportError> {
        self.serve(mcp_transport::stdio(&mcp_transport::LineSettings::default())).await
    }

    pub(crate) async fn hold(
        &self,
        transport: impl Transport + 'static,
        carrier: Carrier,
        era: Option<Era>,
    ) -> Result<(), TransportError> {
        let settled = (era == Some(Era::Modern)).then_some(Revision::LATEST);
        let gate = self.validation.gate(Side::Server, carrier, settled);
        let transport = JsonRpcTransport::new(transport, Side::Server, gate);
        let conversation = Arc::new(self.mcp.conversation(era));
        JsonRpcProcessor::new(transport, conversation, self.settings.clone()).run().await
    }
}
