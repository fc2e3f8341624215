//! Servers: functions as tools, prompts and resources, served over any transport.

mod arguments;
mod builder;
mod failure;
mod functions;
#[cfg(feature = "http")]
pub(crate) mod http;
mod integers;
mod listen;
mod offers;
mod output;
mod schema;
mod tool_function;
mod tool_name;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use mcp_core::{Era, Framing, Implementation, Mcp, Revision, Side, Transport, TransportError};
use mcp_json::{Limits, TapePool};
use mcp_jsonrpc::{Gate, JsonRpcProcessor, JsonRpcTransport, ProcessorSettings};
use mcp_schema::Schemas;

pub use self::{
    builder::ServerBuilder,
    failure::Failure,
    functions::NoArguments,
    output::{Structured, ToolOutput},
    tool_function::ToolFunction,
};
use crate::Validation;

/// A server: what it offers, how it validates, and how it is reached. Cheap to clone; all clones
/// are the same server.
#[derive(Debug, Clone)]
pub struct Server {
    mcp: Mcp,
    /// For future conversations.
    validation: Arc<RwLock<Validation>>,
    settings: ProcessorSettings,
    /// The limits of messages, which are parsed once for the rules and everything else.
    limits: Limits,
    /// Shared by all conversations.
    tapes: TapePool,
    #[cfg(feature = "http")]
    principals: Option<http::PrincipalFinder>,
}

impl Server {
    /// Starts building a server with this name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(Implementation::new(name, version))
    }

    /// Starts building a server with a title, description and so on.
    pub fn builder_for(info: Implementation) -> ServerBuilder {
        ServerBuilder::new(info)
    }

    fn new(mcp: Mcp, validation: Validation, max_message: usize) -> Server {
        let mut settings = ProcessorSettings::default();
        let mut validation = validation;
        if mcp.settings().dispatch == mcp_core::Dispatch::Bare {
            validation = validation.for_json_rpc();
        }
        validation.allow(&mut settings);
        let limits = validation.limits(max_message);
        Server {
            mcp,
            validation: Arc::new(RwLock::new(validation)),
            settings,
            limits,
            tapes: TapePool::new(),
            #[cfg(feature = "http")]
            principals: None,
        }
    }

    /// Changes the limits and timeouts of its conversations.
    #[must_use]
    pub fn conversations(mut self, change: impl FnOnce(&mut ProcessorSettings)) -> Server {
        change(&mut self.settings);
        self
    }

    /// The engine, which holds the tools, prompts and resources.
    pub fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    /// The protocol schemas for new conversations.
    pub fn schemas(&self) -> Schemas {
        self.validation().schemas_in_force()
    }

    /// Sets the protocol schemas for new conversations. Running ones keep theirs: an HTTP session
    /// until it ends, whereas in the stateless era every request is its own conversation.
    ///
    /// ```
    /// use mcp_sdk::{Server, schema::{SourceError, SourceLimits}};
    ///
    /// /// Reloads overrides from their sources. If one cannot be used, nothing changes.
    /// fn reload(server: &Server) -> Result<(), SourceError> {
    ///     server.replace_schemas(server.schemas().reload(&SourceLimits::default())?);
    ///     Ok(())
    /// }
    /// # reload(&Server::builder("test", "1.0.0").build().unwrap()).unwrap();
    /// ```
    pub fn replace_schemas(&self, schemas: Schemas) {
        let mut validation = self.validation.write().unwrap_or_else(PoisonError::into_inner);
        *validation = validation.clone().schemas(schemas);
    }

    fn validation(&self) -> RwLockReadGuard<'_, Validation> {
        self.validation.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a conversation until the client disconnects or `stop` is cancelled; requests in flight
    /// are finished.
    #[cfg(feature = "ws")]
    async fn run_conversation_until(
        &self,
        stop: tokio_util::sync::CancellationToken,
        transport: impl Transport + 'static,
    ) -> Result<(), TransportError> {
        let gate = self.gate(transport.framing(), None);
        let processor = self.processor(transport, gate, ConversationInfo::default());
        let peer = processor.peer();
        let mut running = std::pin::pin!(processor.run());
        tokio::select! {
            biased;
            outcome = &mut running => return outcome,
            () = stop.cancelled() => peer.close(),
        }
        running.await
    }

    pub(crate) async fn run_conversation(
        &self,
        transport: impl Transport + 'static,
    ) -> Result<(), TransportError> {
        let gate = self.gate(transport.framing(), None);
        self.processor(transport, gate, ConversationInfo::default()).run().await
    }

    fn gate(&self, framing: Framing, settled: Option<Revision>) -> Box<dyn Gate> {
        self.validation().gate(Side::Server, framing, settled)
    }

    fn processor<T: Transport + 'static>(
        &self,
        transport: T,
        gate: Box<dyn Gate>,
        info: ConversationInfo,
    ) -> JsonRpcProcessor<T> {
        let ConversationInfo { era, principal } = info;
        let transport = JsonRpcTransport::new(transport, Side::Server, gate)
            .with_limits(self.limits)
            .with_tapes(self.tapes.clone());
        let conversation = self.mcp.conversation(era).with_principal(principal);
        JsonRpcProcessor::with_handler(transport, Arc::new(conversation), self.settings.clone())
    }
}

/// What is known about a conversation before it begins.
#[derive(Debug, Default)]
pub(crate) struct ConversationInfo {
    /// The only supported era, if there is no choice.
    era: Option<Era>,
    /// The client's authenticated identity.
    principal: Option<Arc<str>>,
}
