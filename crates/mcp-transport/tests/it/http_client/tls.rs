use std::{sync::Arc, time::Duration};

use mcp_core::Transport;
use mcp_transport::http::client::{HttpSettings, HttpTransport};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use super::{next, request};

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificate(pem: &[u8]) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem).unwrap()
}

fn trusting(roots: RootCertStore) -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider());
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

fn trusting_the_authority() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate(include_bytes!("certificates/authority.pem"))).unwrap();
    trusting(roots)
}

fn acceptor() -> TlsAcceptor {
    let chain = vec![certificate(include_bytes!("certificates/localhost.pem"))];
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("certificates/localhost.key")).unwrap();
    let builder = ServerConfig::builder_with_provider(provider());
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap()).into()
}

/// What the listener does with a connection.
#[derive(Clone, Copy)]
enum Conduct {
    Serve,
    Silent,
    HangUp,
}

async fn treat(mut stream: TcpStream, conduct: Conduct) {
    match conduct {
        Conduct::HangUp => {}
        Conduct::Silent => {
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        Conduct::Serve => {
            let Ok(mut stream) = acceptor().accept(stream).await else { return };
            let _ = stream.read(&mut [0; 4096]).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2";
            let _ = stream.write_all(format!("{head}\r\n\r\n{{}}").as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    }
}

/// The outcome of a request.
async fn outcome(conduct: Conduct, tls: Arc<ClientConfig>, connect_timeout: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let accepting = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(treat(stream, conduct));
        }
    });
    let settings = HttpSettings { tls: Some(tls), connect_timeout, ..HttpSettings::default() };
    let client = HttpTransport::new(&url, settings).unwrap();
    client.send(request(1, "{}")).await.unwrap();
    let outcome = next(&client).await;
    accepting.abort();
    outcome
}

const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn messages_travel_over_tls() {
    assert_eq!(outcome(Conduct::Serve, trusting_the_authority(), LONG).await, "1: {}");
}

#[tokio::test]
async fn a_server_whose_certificate_nobody_vouches_for_is_not_spoken_to() {
    let outcome = outcome(Conduct::Serve, trusting(RootCertStore::empty()), LONG).await;
    assert!(outcome.starts_with("1 over: could not connect: "), "{outcome}");
    assert!(outcome.contains("certificate"), "{outcome}");
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_given_up() {
    let timeout = Duration::from_millis(200);
    let outcome = outcome(Conduct::Silent, trusting_the_authority(), timeout).await;
    assert!(outcome.contains("could not connect"), "{outcome}");
    assert!(outcome.contains("no connection within 200 ms"), "{outcome}");
}

#[tokio::test]
async fn a_handshake_that_breaks_off_is_no_connection() {
    let outcome = outcome(Conduct::HangUp, trusting_the_authority(), LONG).await;
    assert!(outcome.starts_with("1 over: could not connect: "), "{outcome}");
}
