use std::{sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use mcp_core::{
    ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult,
    Implementation, Revision, Root, Transport,
};

use super::{Client, ClientError, answers::Answers, connect::connect};
use crate::{Failure, Validation};

/// Prepares a client.
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    pub(super) info: Implementation,
    pub(super) answers: Answers,
    pub(super) validation: Validation,
    pub(super) timeout: Duration,
    pub(super) probe_timeout: Duration,
    pub(super) revision: Option<Revision>,
    pub(super) max_rounds: usize,
    pub(super) max_message_bytes: Option<usize>,
}

impl ClientBuilder {
    pub(super) fn new(info: Implementation) -> ClientBuilder {
        ClientBuilder {
            info,
            answers: Answers::default(),
            validation: Validation::default(),
            timeout: Duration::from_secs(60),
            probe_timeout: Duration::from_secs(15),
            revision: None,
            max_rounds: 10,
            max_message_bytes: None,
        }
    }

    /// Validates as `validation` says. Default: everything is enforced.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// Waits at most this long for an answer. Default one minute.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Waits at most this long for an answer to the question which revisions the server speaks;
    /// old servers may leave it unanswered. Default fifteen
    /// seconds: some are started by a package manager first.
    #[must_use]
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// Asks for this revision instead of finding out what the server speaks. A server of the
    /// handshake era may still choose another one of that era.
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Answers at most this many rounds of questions in one call. Default ten.
    #[must_use]
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Takes messages of at most so many bytes, whatever they travel over, and where messages are
    /// validated sends none that are longer. Default 16 MiB. A transport that you make yourself has
    /// a limit of its own.
    #[must_use]
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = Some(bytes);
        self
    }

    pub(super) fn max_message(&self) -> usize {
        self.max_message_bytes.unwrap_or_else(|| self.validation.message_bytes())
    }

    /// Lets servers use a model through this client.
    #[must_use]
    pub fn on_sampling<F, R>(mut self, sample: F) -> Self
    where
        F: Fn(CreateMessageRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CreateMessageResult, Failure>> + Send + 'static,
    {
        self.answers.sampler = Some(Arc::new(move |request| sample(request).boxed()));
        self
    }

    /// Lets servers ask the user something.
    #[must_use]
    pub fn on_elicitation<F, R>(mut self, ask: F) -> Self
    where
        F: Fn(ElicitRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ElicitResult, Failure>> + Send + 'static,
    {
        self.answers.asker = Some(Arc::new(move |request| ask(request).boxed()));
        self
    }

    /// Tells servers where they may work.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.answers.roots = Some(roots.into_iter().collect());
        self
    }

    /// Declares further capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.answers.declared = capabilities;
        self
    }

    /// Connects over `transport` and agrees on a revision with the server.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached or no revision can be agreed on.
    pub async fn connect(self, transport: impl Transport + 'static) -> Result<Client, ClientError> {
        connect(self, Arc::new(transport)).await
    }

    /// Starts a server as a child process and connects to it.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, or as for [`ClientBuilder::connect`].
    #[cfg(feature = "stdio")]
    pub async fn connect_child(
        self,
        command: &mcp_transport::ChildCommand,
    ) -> Result<Client, ClientError> {
        let mut settings = mcp_transport::ChildSettings::default();
        settings.lines.max_message = self.max_message();
        let child = mcp_transport::ChildTransport::spawn(command, &settings)
            .map_err(ClientError::Connect)?;
        self.connect(child).await
    }

    /// Connects to a server over Streamable HTTP.
    ///
    /// # Errors
    ///
    /// If the URL is none, or as for [`ClientBuilder::connect`].
    #[cfg(feature = "http")]
    pub async fn connect_http(self, url: &str) -> Result<Client, ClientError> {
        let settings = mcp_transport::http::client::HttpSettings {
            max_message: self.max_message(),
            ..mcp_transport::http::client::HttpSettings::default()
        };
        let transport =
            mcp_transport::http::client::HttpTransport::new(url, settings).map_err(|error| {
                ClientError::Connect(mcp_core::TransportError::Connect(error.to_string()))
            })?;
        self.connect(transport).await
    }

    /// Connects to a server over WebSocket.
    ///
    /// # Errors
    ///
    /// As for [`ClientBuilder::connect`].
    #[cfg(feature = "ws")]
    pub async fn connect_ws(self, url: &str) -> Result<Client, ClientError> {
        let mut settings = mcp_transport::ws::WsClientSettings::default();
        settings.connection.max_message = self.max_message();
        let transport =
            mcp_transport::ws::connect(url, &settings).await.map_err(ClientError::Connect)?;
        self.connect(transport).await
    }
}
