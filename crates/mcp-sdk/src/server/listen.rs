//! Serving over the transports.

use mcp_core::{Transport, TransportError};
use tokio::task::JoinSet;

use super::Server;

/// The path of the server over HTTP.
#[cfg(feature = "http")]
const PATH: &str = "/mcp";

impl Server {
    /// Serves one client over `transport` until it disconnects. Dropping the future aborts the
    /// conversation.
    ///
    /// # Errors
    ///
    /// If the transport failed.
    pub async fn serve(&self, transport: impl Transport + 'static) -> Result<(), TransportError> {
        let server = self.clone();
        // In its own task, the conversation runs on the runtime's workers, which can wake each other
        // cheaply; a program's main future does not. Dropping the set aborts the task.
        let mut task = JoinSet::new();
        task.spawn(async move { server.run_conversation(transport).await });
        match task.join_next().await {
            Some(Ok(outcome)) => outcome,
            Some(Err(failed)) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(TransportError::Closed),
            },
            None => Ok(()),
        }
    }

    /// Serves the client on the process's standard streams until it disconnects.
    ///
    /// Nothing else may be written to standard output; logs belong on standard error.
    ///
    /// # Errors
    ///
    /// If the streams failed.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(&self) -> Result<(), TransportError> {
        let mut settings = mcp_transport::LineSettings::default();
        settings.max_message = self.limits.max_bytes;
        self.serve(mcp_transport::stdio(&settings)).await
    }

    /// Serves clients over Streamable HTTP at `http://127.0.0.1:<port>/mcp` until `shutdown`
    /// completes, then lets requests in flight finish, for at most ten seconds. Only local clients
    /// can reach it; see [`Server::serve_http_on`] for anything else, and the
    /// [guide](crate::guide::http) for handling a second Ctrl-C.
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
    /// If the port cannot be bound.
    #[cfg(feature = "http")]
    pub async fn serve_http(
        &self,
        port: u16,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), TransportError> {
        let listener = mcp_transport::bind((std::net::Ipv4Addr::LOCALHOST, port)).await?;
        let settings = mcp_transport::http::server::HttpSettings::default();
        self.serve_http_on(listener, settings, shutdown).await;
        Ok(())
    }

    /// Serves clients over Streamable HTTP at the path `/mcp` of `listener` until `shutdown`
    /// completes, then lets requests in flight finish, for at most ten seconds
    /// ([`ServeSettings::grace`](mcp_transport::http::server::ServeSettings::grace)).
    ///
    /// A server that is reachable from elsewhere must know its own host name, or it rejects the
    /// requests:
    ///
    /// ```no_run
    /// use mcp_sdk::transport::{Allowed, http::server::HttpSettings};
    ///
    /// # async fn example(server: mcp_sdk::Server) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut settings = HttpSettings::default();
    /// settings.hosts = Allowed::loopback().and("tools.example.com");
    /// // Web pages that may use it, in addition to local ones.
    /// settings.origins = Allowed::loopback().and("https://app.example.com");
    /// let listener = mcp_sdk::transport::bind("0.0.0.0:8080").await?;
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
    /// lets requests in flight finish. No revision defines this transport; both sides must support
    /// it.
    ///
    /// # Errors
    ///
    /// If the port cannot be bound.
    #[cfg(feature = "ws")]
    pub async fn serve_ws(
        &self,
        port: u16,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), TransportError> {
        let address = (std::net::Ipv4Addr::LOCALHOST, port);
        let mut settings = mcp_transport::ws::WsServerSettings::default();
        settings.connection.max_message = self.limits.max_bytes;
        let listener = mcp_transport::WsListener::bind(address, settings).await?;
        self.serve_ws_on(listener, shutdown).await;
        Ok(())
    }

    /// Serves every client that `listener` accepts until `shutdown` completes, then lets requests in
    /// flight finish.
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
                        let conversation = server.run_conversation_until(stop, transport);
                        if let Err(error) = conversation.await {
                            tracing::debug!(%error, "a conversation ended with an error");
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
