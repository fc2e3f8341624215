//! TLS for HTTP.

use std::sync::Arc;

use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
    server::{WebPkiClientVerifier, danger::ClientCertVerifier},
};

/// Why a server cannot offer TLS with this certificate and key.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum TlsError {
    #[error("the certificates could not be read")]
    Certificates(#[source] pem::Error),
    #[error("the private key could not be read")]
    Key(#[source] pem::Error),
    #[error("the certificates of authorities could not be read")]
    Authorities(#[source] pem::Error),
    #[error("the certificates and key cannot be used")]
    Unusable(#[source] rustls::Error),
}

/// A server's TLS configuration from its certificate chain and key, both as PEM.
///
/// # Errors
///
/// If either is missing or unreadable, or the key does not match the certificate.
pub fn server_config(certificates: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, TlsError> {
    config(certificates, key, WebPkiClientVerifier::no_client_auth())
}

/// Like [`server_config`], but accepts only clients with a certificate signed by one of
/// `authorities` (PEM).
///
/// # Errors
///
/// As for [`server_config`], or if there is no usable authority.
pub fn server_config_for_clients(
    certificates: &[u8],
    key: &[u8],
    authorities: &[u8],
) -> Result<Arc<ServerConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        let authority = authority.map_err(TlsError::Authorities)?;
        roots.add(authority).map_err(TlsError::Unusable)?;
    }
    if roots.is_empty() {
        return Err(TlsError::Authorities(pem::Error::NoItemsFound));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| TlsError::Unusable(rustls::Error::General(error.to_string())))?;
    config(certificates, key, verifier)
}

fn config(
    certificates: &[u8],
    key: &[u8],
    clients: Arc<dyn ClientCertVerifier>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let chain = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(TlsError::Certificates)?;
    if chain.is_empty() {
        return Err(TlsError::Certificates(pem::Error::NoItemsFound));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::Key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Unusable)?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)
        .map_err(TlsError::Unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
