//! The HTTP server, with an application that does what the messages say.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod browsers;
mod client;
mod framing;
mod hostile;
mod listening;
mod quotas;
mod replaying;
mod requests;
mod sessions;
mod sources;
mod stateless;
mod streams;
#[cfg(feature = "tls")]
mod tls;
mod toy;

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use mcp_transport::http::server::{HttpService, HttpSettings, ServeSettings, serve};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use self::toy::Toy;

/// A server on its own port.
struct Server {
    address: SocketAddr,
    service: HttpService,
    toy: Arc<Toy>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    async fn start() -> Server {
        Server::with(HttpSettings::default(), ServeSettings::default()).await
    }

    async fn with(settings: HttpSettings, serving: ServeSettings) -> Server {
        let toy = Arc::new(Toy::default());
        let service = HttpService::new(toy.clone(), settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let shutdown = service.clone().drain_after(stop.clone().cancelled_owned());
        let task = tokio::spawn(serve(listener, service.clone(), serving, shutdown));
        Server { address, service, toy, stop, task }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Nothing here takes long; a test that hangs must fail.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(90), future).await.expect("takes far too long")
}

/// Waits for something that no message announces.
async fn until(mut condition: impl FnMut() -> bool) {
    soon(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}
