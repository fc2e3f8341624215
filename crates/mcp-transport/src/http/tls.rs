//! TLS for HTTP.

use std::sync::Arc;

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
};

/// Why a server cannot offer TLS with what it was given.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum TlsError {
    #[error("the certificates could not be read")]
    Certificates(#[source] pem::Error),
    #[error("the private key could not be read")]
    Key(#[source] pem::Error),
    #[error("certificates and key are not usable")]
    Unusable(#[source] rustls::Error),
}

/// What a server needs to offer TLS: its certificate, the chain behind it, and its key, all as PEM.
///
/// # Errors
///
/// If there is none, it cannot be read, or the key is not that of the certificate.
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
