use std::sync::Arc;

use mcp_transport::http::{
    server::{HttpService, HttpSettings, ServeSettings, serve_tls},
    tls::server_config,
};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsConnector;

use super::{client::Ask, soon, toy::Toy};

const CERTIFICATE: &[u8] = include_bytes!("../certificates/localhost.pem");
const KEY: &[u8] = include_bytes!("../certificates/localhost.key");

fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

#[tokio::test]
async fn the_server_speaks_tls_and_nothing_else_on_such_a_port() {
    let service = HttpService::new(Arc::new(Toy::default()), HttpSettings::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = server_config(CERTIFICATE, KEY).unwrap();
    let settings = ServeSettings::default();
    let task = tokio::spawn(serve_tls(listener, config, service, settings, std::future::pending()));

    let mut plain = TcpStream::connect(address).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut plain, b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = soon(plain.read_to_end(&mut answer)).await;
    assert!(!answer.starts_with(b"HTTP"));

    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = soon(connector().connect(name, stream)).await.unwrap();
    let reply = Ask::post("stream 3").stateless().over(stream).await;
    assert_eq!(soon(reply.events()).await.len(), 4);
    task.abort();
}

#[test]
fn what_is_no_certificate_or_key_is_refused() {
    assert!(server_config(b"", KEY).is_err());
    assert!(server_config(CERTIFICATE, b"").is_err());
    assert!(server_config(KEY, CERTIFICATE).is_err());
    let broken = CERTIFICATE.iter().map(|byte| if *byte == b'A' { b'!' } else { *byte });
    assert!(server_config(&broken.collect::<Vec<_>>(), KEY).is_err());
}
