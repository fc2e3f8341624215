//! Servers and clients over TLS.

use std::sync::Arc;

use mcp_proxy::{Access, Policy, ProxiedServer, ProxiedServerSettings};
use mcp_sdk::{
    Client, NoArguments, Server,
    transport::{
        http::server::{HttpSettings, ServeSettings},
        ws::{self, WsClientSettings, WsServerSettings},
    },
};
use mcp_transport::http::{
    client::{self, HttpTransport},
    server::serve_tls,
    tls,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::net::TcpListener;

use crate::support::{Proxy, Recording};

/// Signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap());
        Authority(issuer.unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate and its key.
    pub(crate) fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

fn trusting(authority: &Authority, identity: Option<(String, String)>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let pem = authority.pem();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    })
}

fn sdk_server() -> Server {
    Server::builder("server", "1")
        .tool("hello", "Greets", async |_: NoArguments, _| Ok("hello"))
        .build()
        .unwrap()
}

/// A server over HTTPS.
async fn https_server(authority: &Authority) -> String {
    let (certificate, key) = authority.sign("localhost");
    let config = tls::server_config(certificate.as_bytes(), key.as_bytes()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let service = sdk_server().http_service(HttpSettings::default());
    let never = std::future::pending();
    tokio::spawn(serve_tls(listener, config, service, ServeSettings::default(), never));
    format!("https://localhost:{port}/mcp")
}

/// A server over WSS.
async fn wss_server(authority: &Authority) -> String {
    let (certificate, key) = authority.sign("localhost");
    let config = tls::server_config(certificate.as_bytes(), key.as_bytes()).unwrap();
    let mut settings = WsServerSettings::default();
    settings.tls = Some(config);
    let listener = mcp_transport::WsListener::bind("127.0.0.1:0", settings).await.unwrap();
    let port = listener.local_addr().port();
    tokio::spawn(async move { sdk_server().serve_ws_on(listener, std::future::pending()).await });
    format!("wss://localhost:{port}/mcp")
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_over_tls_are_trusted_by_the_given_certificates_only() {
    let (right, wrong) = (Authority::new(), Authority::new());
    for url in [https_server(&right).await, wss_server(&right).await] {
        for (authority, trusted) in [(&right, true), (&wrong, false)] {
            let access = Access::default().trusting(authority.pem().as_bytes()).unwrap();
            let settings = ProxiedServerSettings::default();
            let proxy = Proxy::reaching(&url, &access, Policy::enforce(), &settings).await;
            let http = format!("http://{}/mcp", proxy.address);
            let web_socket = format!("ws://{}/mcp", proxy.address);
            let first = Client::builder("client", "1").connect_http(&http).await;
            let second = Client::builder("client", "1").connect_ws(&web_socket).await;
            for client in [first, second] {
                assert_eq!(client.is_ok(), trusted, "{url}: {client:?}");
                if let Ok(client) = client {
                    assert_eq!(client.list_tools(None).await.unwrap().tools.len(), 1);
                    client.close().await;
                }
            }
            let outcome = proxy.stop().await;
            outcome.assert_same();
        }
    }
    assert!(Access::default().trusting(b"no certificate").is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_served_over_tls_and_known_by_their_certificates() {
    let (authority, clients, strangers) = (Authority::new(), Authority::new(), Authority::new());
    let (certificate, key) = authority.sign("localhost");
    let pem = clients.pem();
    let (certificate, key) = (certificate.as_bytes(), key.as_bytes());
    let config = tls::server_config_for_clients(certificate, key, pem.as_bytes()).unwrap();
    let recording = Recording::new(Policy::observe());
    let upstream = https_server(&authority).await;
    let access = Access::default().trusting(authority.pem().as_bytes()).unwrap();
    let mut settings = ProxiedServerSettings::default();
    settings.secure = true;
    let entrance = ProxiedServer::to_url(&upstream, &access, &recording.tap, &settings).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let never = std::future::pending();
    tokio::spawn(serve_tls(listener, config, entrance.clone(), ServeSettings::default(), never));
    for (identity, served) in [
        (Some(clients.sign("client")), true),
        (Some(strangers.sign("client")), false),
        (None, false),
    ] {
        let config = trusting(&authority, identity);
        let settings = client::HttpSettings {
            tls: Some(Arc::clone(&config)),
            ..client::HttpSettings::default()
        };
        let transport = HttpTransport::new(&format!("https://localhost:{port}/mcp"), settings);
        let client = Client::builder("client", "1").connect(transport.unwrap()).await;
        assert_eq!(client.is_ok(), served, "{client:?}");
        let mut settings = WsClientSettings::default();
        settings.tls = Some(config);
        let socket = ws::connect(&format!("wss://localhost:{port}/mcp"), &settings).await;
        assert_eq!(socket.is_ok(), served, "{socket:?}");
        if let Ok(client) = client {
            assert_eq!(client.list_tools(None).await.unwrap().tools.len(), 1);
            client.close().await;
        }
    }
    entrance.close().await;
    let outcome = recording.finish().await;
    let url = format!("https://localhost:{port}/mcp");
    assert!(outcome.record.contains(&url), "{}", outcome.record);
    outcome.assert_same();
    for (certificates, key, authorities) in [
        (&b""[..], key, pem.as_bytes()),
        (certificate, b"", pem.as_bytes()),
        (certificate, key, b""),
    ] {
        assert!(tls::server_config_for_clients(certificates, key, authorities).is_err());
    }
}
