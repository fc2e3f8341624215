use std::{sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use mcp_core::{
    ClientCapabilities, CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult,
    Implementation, Revision, Root, Transport,
};

#[cfg(feature = "http")]
use super::connect::connect_through;
use super::{
    Client, ClientError, answers::Answers, connect::connect, reconnect::Endpoint, roots::Roots,
};
#[cfg(feature = "http")]
use crate::http_watch::GateWatch;
use crate::{Failure, Validation};

/// Configures a client.
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    pub(super) info: Implementation,
    pub(super) answers: Answers,
    pub(super) validation: Validation,
    pub(super) timeout: Duration,
    pub(super) max_timeout: Duration,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) probe_timeout: Duration,
    pub(super) revision: Option<Revision>,
    pub(super) max_rounds: usize,
    pub(super) max_questions: usize,
    pub(super) max_message_bytes: Option<usize>,
    pub(super) endpoint: Endpoint,
    #[cfg(any(feature = "http", feature = "ws"))]
    headers: super::headers::Headers,
}

impl ClientBuilder {
    pub(super) fn new(info: Implementation) -> ClientBuilder {
        ClientBuilder {
            info,
            answers: Answers::default(),
            validation: Validation::default(),
            timeout: Duration::from_secs(60),
            max_timeout: Duration::from_secs(60 * 60),
            connect_timeout: None,
            probe_timeout: Duration::from_secs(15),
            revision: None,
            max_rounds: 10,
            max_questions: 100,
            max_message_bytes: None,
            endpoint: Endpoint::default(),
            #[cfg(any(feature = "http", feature = "ws"))]
            headers: super::headers::Headers::default(),
        }
    }

    /// Sets how messages are validated. Default: everything is enforced.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// How long to wait for an answer. Default: one minute.
    ///
    /// If a call [follows its progress](crate::CallOptions::on_progress), every report restarts the
    /// time-out, up to [`ClientBuilder::max_timeout`]. Time spent answering a request of the server
    /// (the user is being asked, a model is thinking) does not count.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long to wait for an answer in total, however much progress there is. Default: one hour,
    /// and never less than the time-out itself.
    #[must_use]
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.max_timeout = timeout;
        self
    }

    /// How long connecting may take in total, until a revision is negotiated. Default: the
    /// [time-out](ClientBuilder::timeout) of a call.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// How long to wait for an answer to the probe (`server/discover`) before starting the
    /// handshake of older revisions: old servers may never answer it. A late answer still counts,
    /// until the handshake is answered. Default: fifteen seconds, since some servers are first
    /// downloaded by a package manager, and never more than half of the [time to
    /// connect](ClientBuilder::connect_timeout).
    #[must_use]
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// Requests this revision instead of probing. A server of the handshake era may still choose
    /// another one of that era.
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// The maximum number of input rounds in one call. Default: ten.
    #[must_use]
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// The maximum number of concurrent requests of the server; further ones are rejected. At least
    /// one; default: one hundred.
    #[must_use]
    pub fn max_questions(mut self, questions: usize) -> Self {
        self.max_questions = questions;
        self
    }

    /// The maximum size of messages in bytes, in both directions and over any transport. Default:
    /// 16 MiB. A transport that you create yourself also has its own limit. The [guide to
    /// validation](crate::guide::validation#message-size) describes what happens to longer ones.
    #[must_use]
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = Some(bytes);
        self
    }

    pub(super) fn max_message(&self) -> usize {
        self.max_message_bytes.unwrap_or_else(|| self.validation.message_bytes())
    }

    /// Lets servers use a model through this client. The future may take its time but must not
    /// block: it runs on the same task as the conversation.
    #[must_use]
    pub fn on_sampling<F, R>(mut self, sample: F) -> Self
    where
        F: Fn(CreateMessageRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CreateMessageResult, Failure>> + Send + 'static,
    {
        self.answers.sampler = Some(Arc::new(move |request| sample(request).boxed()));
        self
    }

    /// Lets servers ask the user for input. The future may take its time but must not block: it
    /// runs on the same task as the conversation.
    #[must_use]
    pub fn on_elicitation<F, R>(mut self, ask: F) -> Self
    where
        F: Fn(ElicitRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ElicitResult, Failure>> + Send + 'static,
    {
        self.answers.asker = Some(Arc::new(move |request| ask(request).boxed()));
        self
    }

    /// Tells servers which folders they may work in. They are fixed unless the roots [may
    /// change](ClientBuilder::roots_may_change). Their URIs must begin with `file://`, or
    /// connecting fails.
    #[must_use]
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.answers.roots = Some(Arc::new(Roots::new(roots)));
        self
    }

    /// Declares that servers are notified when the roots change, with [`Client::set_roots`]. There
    /// are none at first unless [given](ClientBuilder::roots).
    #[must_use]
    pub fn roots_may_change(mut self) -> Self {
        self.answers.roots.get_or_insert_with(|| Arc::new(Roots::new([])));
        self.answers.roots_may_change = true;
        self
    }

    /// Adds a header to every HTTP request and to the request that opens a WebSocket:
    /// `Authorization` with a token, for example. The value is never logged or displayed.
    /// Connecting fails for headers that the protocol sets itself, and for invalid ones.
    #[cfg(any(feature = "http", feature = "ws"))]
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.add(name.into(), value.into());
        self
    }

    /// Declares further capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.answers.declared = capabilities;
        self
    }

    /// Connects over `transport` and negotiates a revision with the server.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached or there is no common revision.
    pub async fn connect(
        mut self,
        transport: impl Transport + 'static,
    ) -> Result<Client, ClientError> {
        self.endpoint = Endpoint::Custom;
        connect(self, Arc::new(transport)).await
    }

    /// Starts a server as a child process and connects to it.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, or as for [`ClientBuilder::connect`].
    #[cfg(feature = "stdio")]
    pub async fn connect_child(
        mut self,
        command: &mcp_transport::ChildCommand,
    ) -> Result<Client, ClientError> {
        self.endpoint = Endpoint::Child(Box::new(command.clone()));
        let mut settings = mcp_transport::ChildSettings::default();
        settings.lines.max_message = self.max_message();
        let child = mcp_transport::ChildTransport::spawn(command, &settings)
            .map_err(ClientError::Connect)?;
        connect(self, Arc::new(child)).await
    }

    /// Connects to a server over Streamable HTTP.
    ///
    /// # Errors
    ///
    /// If the URL is invalid, or as for [`ClientBuilder::connect`].
    #[cfg(feature = "http")]
    pub async fn connect_http(mut self, url: &str) -> Result<Client, ClientError> {
        self.endpoint = Endpoint::Http(url.to_owned());
        let settings = mcp_transport::http::client::HttpSettings {
            headers: self.headers.to_map()?,
            max_message: self.max_message(),
            watch: GateWatch::factory(&self.validation, self.max_message()),
            ..mcp_transport::http::client::HttpSettings::default()
        };
        let transport =
            mcp_transport::http::client::HttpTransport::new(url, settings).map_err(|error| {
                let text = match url {
                    "" => error.to_string(),
                    url => format!("{}: {error}", shown(url)),
                };
                ClientError::Connect(mcp_core::TransportError::Connect(text))
            })?;
        let gate = transport.watch().and_then(GateWatch::client_gate);
        let connecting = connect_through(gate, self, Arc::new(transport));
        connecting.await.map_err(|error| error.at(url))
    }

    /// Connects to a server over WebSocket.
    ///
    /// # Errors
    ///
    /// As for [`ClientBuilder::connect`].
    #[cfg(feature = "ws")]
    pub async fn connect_ws(mut self, url: &str) -> Result<Client, ClientError> {
        self.endpoint = Endpoint::WebSocket(url.to_owned());
        let mut settings = mcp_transport::ws::WsClientSettings::default();
        settings.connection.max_message = self.max_message();
        settings.headers = self.headers.to_map()?;
        let transport =
            mcp_transport::ws::connect(url, &settings).await.map_err(ClientError::Connect)?;
        connect(self, Arc::new(transport)).await
    }
}

/// A URL without anything that may be secret: credentials, and everything after the path.
#[cfg(feature = "http")]
pub(super) fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let path = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = match rest.split_at(path) {
        // An unescaped password may contain a slash.
        (start, _) if !has_plain_port(start) => (rest, ""),
        parts => parts,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(feature = "http")]
fn has_plain_port(authority: &str) -> bool {
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    authority.contains('@') || authority.ends_with(']') || port.bytes().all(|c| c.is_ascii_digit())
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_secret_is_left_out() {
        for (url, seen) in [
            ("https://host:1/mcp", "https://host:1/mcp"),
            ("https://user:secret@host/mcp?key=secret", "https://host/mcp"),
            ("https://a@b@host#secret", "https://host"),
            ("https://user:sec/ret@host/mcp", "https://host/mcp"),
            ("https://[::1]/@scope", "https://[::1]/@scope"),
            ("https://host/@scope/mcp", "https://host/@scope/mcp"),
            ("host", "host"),
        ] {
            assert_eq!(shown(url), seen);
        }
    }
}
