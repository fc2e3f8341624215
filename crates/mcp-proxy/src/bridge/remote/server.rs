use std::{ffi::OsString, sync::Arc, time::Duration};

use mcp_core::{Transport, TransportError};
use mcp_transport::{
    ChildCommand, ChildSettings, ChildTransport,
    http::client::{HttpSettings, HttpSetupError, HttpTransport},
};

use crate::{Access, UpstreamError, UrlKind, bridge::dial::WsServer};

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum RemoteError {
    #[error(transparent)]
    Url(#[from] UpstreamError),
    #[error(transparent)]
    Http(#[from] HttpSetupError),
}

/// A server that clients are connected to, each with its own conversation. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Remote(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    /// A template: conversations are made from it, over the same connections.
    Http(HttpTransport),
    WebSocket(WsServer),
    Child(ChildCommand, ChildSettings),
}

/// Default time for a server to begin its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// What happens when a client opens its conversation again, or the connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Renewal {
    /// Open a new conversation with the server.
    Always,
    /// Open another connection if it was lost.
    WhenLost,
    /// The conversation ends with the server.
    Never,
}

impl Remote {
    /// The server at `url` (`http`, `https`, `ws` or `wss`). Does not connect yet. Messages of more
    /// than `max_message` bytes are refused.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn new(url: &str, max_message: usize, access: &Access) -> Result<Remote, RemoteError> {
        Remote::answering(url, max_message, ANSWER_TIMEOUT, access)
    }

    /// Like [`Remote::new`]; an HTTP server has to begin each answer within `answer_timeout`.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn answering(
        url: &str,
        max_message: usize,
        answer_timeout: Duration,
        access: &Access,
    ) -> Result<Remote, RemoteError> {
        // An invalid URL is best reported by the transport.
        if matches!(UrlKind::of(url), Ok(UrlKind::WebSocket)) {
            let server = WsServer::new(url, max_message, access)?;
            return Ok(Remote(Arc::new(Kind::WebSocket(server))));
        }
        let secure = url.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("https:"));
        let settings = HttpSettings {
            max_message,
            // The number of open requests is limited elsewhere, without blocking others.
            max_exchanges: usize::MAX,
            answer_timeout: Some(answer_timeout),
            headers: access.headers().clone(),
            tls: Some(access.tls(secure).map_err(UpstreamError::from)?),
            ..HttpSettings::default()
        };
        Ok(Remote(Arc::new(Kind::Http(HttpTransport::new(url, settings)?))))
    }

    /// A server process, started for each conversation. It has `exit_wait` to exit after its input
    /// was closed, and `terminate_wait` after it was terminated.
    pub fn child(
        program: &OsString,
        arguments: &[OsString],
        max_message: usize,
        (exit_wait, terminate_wait): (Duration, Duration),
    ) -> Remote {
        let mut settings = ChildSettings::default();
        settings.lines.max_message = max_message;
        (settings.exit_wait, settings.terminate_wait) = (exit_wait, terminate_wait);
        let command = ChildCommand::new(program).args(arguments);
        Remote(Arc::new(Kind::Child(command, settings)))
    }

    pub(super) async fn connect(&self) -> Result<Arc<dyn Transport>, TransportError> {
        Ok(match &*self.0 {
            Kind::Http(first) => Arc::new(first.renewed()),
            Kind::WebSocket(server) => Arc::new(server.connect().await?),
            Kind::Child(command, settings) => Arc::new(ChildTransport::spawn(command, settings)?),
        })
    }

    pub(super) fn renewal(&self) -> Renewal {
        match &*self.0 {
            Kind::Http(_) => Renewal::Always,
            Kind::WebSocket(_) => Renewal::WhenLost,
            Kind::Child(..) => Renewal::Never,
        }
    }

    /// Whether its transport can carry this text, which is not JSON, unchanged.
    pub(super) fn can_carry(&self, text: &[u8]) -> bool {
        match &*self.0 {
            Kind::Http(_) => true,
            Kind::WebSocket(_) => std::str::from_utf8(text).is_ok(),
            Kind::Child(..) => !text.iter().any(|byte| matches!(byte, b'\n' | b'\r')),
        }
    }

    /// Whether its transport is line-based.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(&*self.0, Kind::Child(..))
    }
}
