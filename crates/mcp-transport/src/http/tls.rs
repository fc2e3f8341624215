//! TLS for HTTP.

use std::sync::Arc;

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
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
    #[error("the certificates and key cannot be used")]
    Unusable(#[source] rustls::Error),
}

/// A server's TLS configuration from its certificate chain and key, both as PEM.
///
/// # Errors
///
/// If either is missing or unreadable, or the key does not match the certificate.
pub fn server_config(certificates: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, TlsError> {
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
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(TlsError::Unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
