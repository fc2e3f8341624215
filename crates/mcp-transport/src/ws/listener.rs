use std::{fmt, net::SocketAddr, sync::Arc};

use mcp_core::TransportError;
use tokio::{
    net::{TcpListener, TcpStream, ToSocketAddrs},
    sync::{Mutex, mpsc},
    task::JoinHandle,
};

use super::{
    WsTransport,
    server::{WsServerSettings, accept_holding},
    slots::{NoSlot, Slot, Slots},
};
use crate::listening::{AcceptBackoff, is_exhausted};

const SERVICE_UNAVAILABLE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

const TOO_MANY_REQUESTS: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Accepts clients on a TCP port.
///
/// Handshakes run concurrently, so a slow client does not delay others. Dropping the listener frees
/// the port; conversations continue.
#[derive(Debug)]
pub struct WsListener {
    address: SocketAddr,
    opened: Mutex<mpsc::Receiver<WsTransport>>,
    task: JoinHandle<()>,
}

impl WsListener {
    /// Listens on `address`; port 0 is any free one.
    ///
    /// # Errors
    ///
    /// [`TransportError::Listen`] if that is not possible.
    pub async fn bind(
        address: impl ToSocketAddrs + fmt::Debug,
        settings: WsServerSettings,
    ) -> Result<Self, TransportError> {
        settings.hosts.warn_as_hosts();
        settings.origins.warn_as_origins();
        let stated = format!("{address:?}");
        let listener = crate::bind(address).await?;
        let address = listener.local_addr().map_err(|error| TransportError::Listen {
            address: stated,
            reason: error.to_string(),
        })?;
        let (sender, opened) = mpsc::channel(16);
        let task = tokio::spawn(listen(listener, settings, sender));
        Ok(WsListener { address, opened: Mutex::new(opened), task })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The next client that has opened a conversation. Rejected ones are skipped.
    ///
    /// # Errors
    ///
    /// When the runtime is shutting down.
    pub async fn accept(&self) -> Result<WsTransport, TransportError> {
        self.opened.lock().await.recv().await.ok_or(TransportError::Closed)
    }
}

impl Drop for WsListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(
    listener: TcpListener,
    settings: WsServerSettings,
    opened: mpsc::Sender<WsTransport>,
) {
    let slots = Arc::new(Slots::new(&settings));
    let settings = Arc::new(settings);
    let mut backoff = AcceptBackoff::default();
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                if is_exhausted(&error) {
                    slots.make_room();
                }
                backoff.pause(&error).await;
                continue;
            }
        };
        backoff.reset();
        // Best effort: a client beyond the limit is not waited for.
        match slots.take(address.ip()) {
            Ok(slot) => {
                tokio::spawn(accept_client(stream, Arc::clone(&settings), slot, opened.clone()));
            }
            Err(NoSlot::Everywhere) => drop(stream.try_write(SERVICE_UNAVAILABLE)),
            Err(NoSlot::ForAddress) => drop(stream.try_write(TOO_MANY_REQUESTS)),
        }
    }
}

async fn accept_client(
    stream: TcpStream,
    settings: Arc<WsServerSettings>,
    slot: Slot,
    opened: mpsc::Sender<WsTransport>,
) {
    let _ = stream.set_nodelay(true);
    match accept_holding(stream, &settings, Some(slot)).await {
        Ok(transport) => {
            // Fails when the listener is gone: the transport closes itself.
            let _ = opened.send(transport).await;
        }
        Err(error) => tracing::debug!(%error, "a client was rejected"),
    }
}
