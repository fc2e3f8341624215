//! Ways to be reached.

use mcp_core::{Transport, TransportError};
use mcp_rules::Carrier;
use tokio::task::JoinSet;

use super::{Circumstances, Server};

/// The path at which a server over HTTP is found.
#[cfg(feature = "http")]
const PATH: &str = "/mcp";

impl Server {
    /// Serves one client over `transport` until it leaves. Dropping the future breaks off.
    ///
    /// # Errors
    ///
    /// If the transport failed.
    pub async fn serve(&self, transport: impl Transport + 'static) -> Result<(), TransportError> {
        let server = self.clone();
        // A task of its own lets the workers of the runtime pass messages on to each other; the main
        // future of a program is not run by any of them. The set ends the task when it is dropped.
        let mut task = JoinSet::new();
        task.spawn(
            async move { server.hold(transport, Circumstances::over(Carrier::Stdio)).await },
        );
        match task.join_next().await {
            Some(Ok(outcome)) => outcome,
            Some(Err(failed)) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(TransportError::Closed),
            },
            None => Ok(()),
        }
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
        let mut settings = mcp_transport::LineSettings::default();
        settings.max_message = self.max_message;
        self.serve(mcp_transport::stdio(&settings)).await
    }

    /// Serves clients over Streamable HTTP at `http://127.0.0.1:<port>/mcp` until `shutdown`
    /// completes, then lets running requests finish, for ten seconds at most. Only this machine can
    /// reach it; see [`Server::serve_http_on`] for everything else, and the
    /// [guide](crate::guide::http) for a second Ctrl-C.
    ///
    /// ```no_run
    /// # async fn example(server: mcp_sdk::Server) -> Result<(), Box<dyn std::error::Error>> {
    /// server.serve_http(8080, async { drop(tokio::signal::ctrl_c().await) }).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the port cannot be had.
    #[cfg(feature = "http")]
    pub async fn serve_http(
        &self,
        port: u16,
        shutdown: impl Future<Output = ()>,
    ) -> std::io::Result<()> {
        let address = (std::net::Ipv4Addr::LOCALHOST, port);
        let listener = tokio::net::TcpListener::bind(address).await?;
        let settings = mcp_transport::http::server::HttpSettings::default();
        self.serve_http_on(listener, settings, shutdown).await;
        Ok(())
    }

    /// Serves clients over Streamable HTTP at the path `/mcp` of `listener` until `shutdown`
    /// completes, then lets running requests finish, for ten seconds at most
    /// ([`ServeSettings::grace`](mcp_transport::http::server::ServeSettings::grace)).
    ///
    /// A server that others shall reach has to be told its own name, or requests are refused:
    ///
    /// ```no_run
    /// use mcp_sdk::transport::{Allowed, http::server::HttpSettings};
    ///
    /// # async fn example(server: mcp_sdk::Server) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut settings = HttpSettings::default();
    /// settings.hosts = Allowed::loopback().and("tools.example.com");
    /// let listener = tokio::net::TcpListener::bind("0.0.0.0:8080").await?;
    /// server.serve_http_on(listener, settings, std::future::pending()).await;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "http")]
    pub async fn serve_http_on(
        &self,
        listener: tokio::net::TcpListener,
        settings: mcp_transport::http::server::HttpSettings,
        shutdown: impl Future<Output = ()>,
    ) {
        use mcp_transport::http::server::{Mounted, ServeSettings, serve};
        let service = self.http_service(settings);
        let stop = service.clone().drain_after(shutdown);
        serve(listener, Mounted::new(PATH, service.clone()), ServeSettings::default(), stop).await;
        service.close();
    }

    /// Serves clients over WebSocket at `ws://127.0.0.1:<port>` until `shutdown` completes, then
    /// lets running requests finish. No revision defines this transport; both sides have to know
    /// it.
    ///
    /// # Errors
    ///
    /// If the port cannot be had.
    #[cfg(feature = "ws")]
    pub async fn serve_ws(
        &self,
        port: u16,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), TransportError> {
        let address = (std::net::Ipv4Addr::LOCALHOST, port);
        let mut settings = mcp_transport::ws::WsServerSettings::default();
        settings.connection.max_message = self.max_message;
        let listener = mcp_transport::WsListener::bind(address, settings).await?;
        self.serve_ws_on(listener, shutdown).await;
        Ok(())
    }

    /// Serves everybody whom `listener` lets in until `shutdown` completes, then lets running
    /// requests finish.
    #[cfg(feature = "ws")]
    pub async fn serve_ws_on(
        &self,
        listener: mcp_transport::WsListener,
        shutdown: impl Future<Output = ()>,
    ) {
        let stop = tokio_util::sync::CancellationToken::new();
        let mut conversations = JoinSet::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(_) = conversations.join_next() => {}
                accepted = listener.accept() => {
                    let Ok(transport) = accepted else { break };
                    let (server, stop) = (self.clone(), stop.clone());
                    conversations.spawn(async move {
                        let circumstances = Circumstances::over(Carrier::WebSocket);
                        if let Err(error) = server.hold_until(stop, transport, circumstances).await {
                            tracing::debug!(%error, "a conversation broke off");
                        }
                    });
                }
            }
        }
        drop(listener);
        stop.cancel();
        while conversations.join_next().await.is_some() {}
    }
}
