//! `wss`, with a certificate for `localhost` that is used for nothing else.

use std::sync::Arc;

use mcp_core::{Transport, TransportError};
use mcp_transport::ws::{WsClientSettings, WsListener, WsServerSettings, connect};
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer},
};

use crate::support::{message, next, within_a_minute};

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from(&include_bytes!("../data/localhost.certificate.der")[..])
}

fn server_settings() -> WsServerSettings {
    let key = &include_bytes!("../data/localhost.key.der")[..];
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate()], PrivateKeyDer::try_from(key).unwrap())
        .unwrap();
    let mut settings = WsServerSettings::default();
    settings.tls = Some(Arc::new(config));
    settings
}

fn client_settings(trusted: Option<CertificateDer<'static>>) -> WsClientSettings {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trusted);
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut settings = WsClientSettings::default();
    settings.tls = Some(Arc::new(config));
    settings
}

#[tokio::test]
async fn a_conversation_may_be_encrypted() {
    let listener = WsListener::bind("127.0.0.1:0", server_settings()).await.unwrap();
    let url = format!("wss://localhost:{}", listener.local_addr().port());
    let client = connect(&url, &client_settings(Some(certificate()))).await.unwrap();
    let server = listener.accept().await.unwrap();
    let text = "x".repeat(1_000_000);
    client.send(message(text.clone())).await.unwrap();
    assert!(next(&server).await == Ok(Some(text)));
    server.send(message("{}")).await.unwrap();
    assert_eq!(next(&client).await, Ok(Some("{}".into())));
    let (end, ()) = within_a_minute(async { tokio::join!(next(&server), client.close()) }).await;
    assert_eq!(end, Ok(None));
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_trusted() {
    let listener = WsListener::bind("127.0.0.1:0", server_settings()).await.unwrap();
    let url = format!("wss://localhost:{}", listener.local_addr().port());
    let error = connect(&url, &client_settings(None)).await.unwrap_err();
    assert!(matches!(error, TransportError::Connect(_)), "{error:?}");
    let error = connect(&url, &WsClientSettings::default()).await.unwrap_err();
    assert!(matches!(error, TransportError::Connect(_)), "{error:?}");
}
