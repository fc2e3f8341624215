use prometheus_client::metrics::gauge::Gauge;

/// Counts open sessions. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct OpenSessions(pub(super) Gauge);

/// A session that counts as open until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenSession(Gauge);

impl OpenSessions {
    pub(crate) fn begin(&self) -> OpenSession {
        self.0.inc();
        OpenSession(self.0.clone())
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.0.dec();
    }
}
