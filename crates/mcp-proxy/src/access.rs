use std::{fmt, io, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use hyper_rustls::ConfigBuilderExt as _;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem, pem::PemObject as _},
};

/// Why the settings for reaching a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum AccessError {
    #[error("only the proxy can set the header `{0}`")]
    Reserved(HeaderName),
    #[error("the certificates to trust could not be read")]
    Unreadable(#[source] pem::Error),
    #[error("a certificate to trust cannot be used")]
    Unusable(#[source] rustls::Error),
    #[error("there are no certificates to verify servers against")]
    NoCertificates(#[source] io::Error),
}

/// How to reach servers at a URL: headers to send, and certificates to trust.
#[derive(Clone, Default)]
pub struct Access {
    headers: HeaderMap,
    /// `None` trusts the certificates of the system.
    trusted: Option<Arc<RootCertStore>>,
}

/// Headers that belong to a connection or a message, and that the user cannot set.
const RESERVED: [HeaderName; 15] = [
    header::HOST,
    header::CONNECTION,
    header::UPGRADE,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::CONTENT_ENCODING,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::ACCEPT,
    header::SEC_WEBSOCKET_KEY,
    header::SEC_WEBSOCKET_VERSION,
    header::SEC_WEBSOCKET_EXTENSIONS,
    header::SEC_WEBSOCKET_PROTOCOL,
    HeaderName::from_static("last-event-id"),
];

impl Access {
    /// Sends this header with every request to the server, replacing any that a client sends under
    /// that name. It is neither shown nor recorded.
    ///
    /// # Errors
    ///
    /// [`AccessError::Reserved`] if only the proxy may set the header.
    pub fn header(
        mut self,
        name: HeaderName,
        mut value: HeaderValue,
    ) -> Result<Access, AccessError> {
        if RESERVED.contains(&name) || name.as_str().starts_with("mcp-") {
            return Err(AccessError::Reserved(name));
        }
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Trusts only these CA certificates (PEM), instead of those of the system.
    ///
    /// # Errors
    ///
    /// If there are none, or one cannot be used.
    pub fn trusting(mut self, certificates: &[u8]) -> Result<Access, AccessError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(certificates) {
            let certificate = certificate.map_err(AccessError::Unreadable)?;
            roots.add(certificate).map_err(AccessError::Unusable)?;
        }
        if roots.is_empty() {
            return Err(AccessError::Unreadable(pem::Error::NoItemsFound));
        }
        self.trusted = Some(Arc::new(roots));
        Ok(self)
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The TLS configuration; without root certificates unless `secure`.
    pub(crate) fn tls(&self, secure: bool) -> Result<Arc<ClientConfig>, AccessError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(AccessError::Unusable)?;
        let builder = match &self.trusted {
            Some(trusted) => builder.with_root_certificates(Arc::clone(trusted)),
            // Loading the certificates of the system takes a while, so only do it if needed.
            None if secure => builder.with_native_roots().map_err(AccessError::NoCertificates)?,
            None => builder.with_root_certificates(RootCertStore::empty()),
        };
        Ok(Arc::new(builder.with_no_client_auth()))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Access").field("headers", &names).finish_non_exhaustive()
    }
}
