//! The connections to a server over HTTP.

use std::{
    collections::HashSet,
    convert::Infallible,
    error::Error,
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{CaptureConnection, HttpConnector, HttpInfo, capture_connection},
    },
    rt::TokioExecutor,
};

use crate::ConversationError;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A pool of reused connections, as clients have.
#[derive(Debug)]
pub(super) struct Connections {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    /// Local addresses of connections that have delivered a response.
    used: Mutex<HashSet<SocketAddr>>,
}

impl Connections {
    pub(super) fn to(url: &Uri) -> Result<Connections, ConversationError> {
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(
            rustls::crypto::ring::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConversationError::Unreachable(error.to_string()))?;
        let config = if url.scheme_str() == Some("https") {
            config
                .with_native_roots()
                .map_err(|error| ConversationError::Unreachable(error.to_string()))?
        } else {
            config.with_root_certificates(rustls::RootCertStore::empty())
        };
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(config.with_no_client_auth())
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Connections { client, used: Mutex::default() })
    }

    /// Sends a request and waits for the response head. A server may close an idle connection just
    /// as it is reused, which is no fault: then the request is sent again.
    pub(super) async fn send(
        &self,
        request: impl Fn() -> Result<Request<Body>, String>,
    ) -> Result<Response<Incoming>, String> {
        let (mut answer, mut connection) = self.send_once(request()?).await;
        if answer.as_ref().is_err_and(|error| says_closed(error)) && self.has_been_used(&connection)
        {
            (answer, connection) = self.send_once(request()?).await;
        }
        let answer = answer.map_err(|error| innermost(&error))?;
        self.note_used(&connection);
        Ok(answer)
    }

    async fn send_once(
        &self,
        mut request: Request<Body>,
    ) -> (Result<Response<Incoming>, hyper_util::client::legacy::Error>, CaptureConnection) {
        let connection = capture_connection(&mut request);
        (self.client.request(request).await, connection)
    }

    fn has_been_used(&self, connection: &CaptureConnection) -> bool {
        own_end(connection).is_some_and(|end| self.used().contains(&end))
    }

    fn note_used(&self, connection: &CaptureConnection) {
        if let Some(end) = own_end(connection) {
            self.used().insert(end);
        }
    }

    fn used(&self) -> std::sync::MutexGuard<'_, HashSet<SocketAddr>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a connection was closed before any data arrived, rather than after an invalid response.
fn says_closed(error: &(dyn Error + 'static)) -> bool {
    let is_io = error.downcast_ref::<io::Error>().is_some_and(|error| {
        matches!(
            error.kind(),
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe
        )
    });
    let is_http = error.downcast_ref::<hyper::Error>().is_some_and(|error| {
        error.is_incomplete_message() || error.is_closed() || error.is_canceled()
    });
    is_io || is_http || error.source().is_some_and(says_closed)
}

/// The local address identifies a connection.
fn own_end(connection: &CaptureConnection) -> Option<SocketAddr> {
    let connected = connection.connection_metadata();
    let mut extras = http::Extensions::new();
    connected.as_ref()?.get_extras(&mut extras);
    extras.get::<HttpInfo>().map(HttpInfo::local_addr)
}

pub(super) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Empty};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        sync::mpsc,
    };

    use super::*;

    const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

    /// A server whose connections answer so many requests each, and the next one with what `last` is
    /// before they are closed. Says how many requests have come on each.
    async fn server_with(
        last: &'static str,
        answered: &'static [usize],
    ) -> (Connections, Uri, mpsc::Receiver<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri: Uri = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let (ended, counts) = mpsc::channel(16);
        tokio::spawn(async move {
            for answered in answered {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut requests = 0;
                let mut buffer = [0; 1024];
                while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {
                    requests += 1;
                    let is_last = requests > *answered;
                    let text = if is_last { last } else { ANSWER };
                    stream.write_all(text.as_bytes()).await.unwrap();
                    if is_last {
                        break;
                    }
                }
                drop(stream);
                ended.send(requests).await.unwrap();
            }
        });
        (Connections::to(&uri).unwrap(), uri, counts)
    }

    async fn server(answered: &'static [usize]) -> (Connections, Uri, mpsc::Receiver<usize>) {
        server_with("", answered).await
    }

    async fn ask(connections: &Connections, uri: &Uri) -> Result<u16, String> {
        let request =
            || Ok(Request::get(uri).body(Empty::new().boxed_unsync()).expect("it is valid"));
        let response = connections.send(request).await?;
        let status = response.status().as_u16();
        // Only then can the connection be used again.
        response.into_body().collect().await.map_err(|error| error.to_string())?;
        tokio::task::yield_now().await;
        Ok(status)
    }

    #[tokio::test]
    async fn a_connection_that_is_closed_when_it_is_used_again_is_nobodys_fault() {
        let (connections, uri, mut counts) = server(&[1, 1]).await;
        assert_eq!(ask(&connections, &uri).await, Ok(200));
        assert_eq!(ask(&connections, &uri).await, Ok(200));
        assert_eq!(counts.recv().await, Some(2));
    }

    #[tokio::test]
    async fn a_new_connection_that_is_closed_is_the_servers_answer() {
        let (connections, uri, mut counts) = server(&[0, 1]).await;
        assert!(ask(&connections, &uri).await.is_err());
        assert_eq!(counts.recv().await, Some(1));
        assert!(counts.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_server_that_closes_every_connection_does_not_answer() {
        let (connections, uri, mut counts) = server(&[1, 0]).await;
        assert_eq!(ask(&connections, &uri).await, Ok(200));
        assert!(ask(&connections, &uri).await.is_err());
        assert_eq!([counts.recv().await, counts.recv().await], [Some(2), Some(1)]);
    }

    #[tokio::test]
    async fn an_answer_that_is_none_is_the_servers_own_on_any_connection() {
        let (connections, uri, mut counts) = server_with("no HTTP\r\n\r\n", &[1, 1]).await;
        assert_eq!(ask(&connections, &uri).await, Ok(200));
        assert!(ask(&connections, &uri).await.is_err());
        assert_eq!(counts.recv().await, Some(2));
        assert!(counts.try_recv().is_err());
    }
}
