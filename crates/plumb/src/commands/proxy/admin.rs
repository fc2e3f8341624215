use std::{sync::Arc, thread};

use mcp_proxy::{
    Watcher,
    metrics::{self, Health, Metrics, OpenSessions},
    otlp::SpanCounts,
};

use super::listener::announce;
use crate::args::LogFormat;

/// Metrics and health checks, on their own address.
#[derive(Clone)]
pub(super) struct Admin(Option<(Metrics, Health)>);

impl Admin {
    /// Starts serving, if there is an address, until the process ends. `names` are the names of the
    /// servers, if there are several.
    pub(super) fn start(
        address: Option<&str>,
        upstreams: &[Arc<str>],
        log: LogFormat,
    ) -> anyhow::Result<Admin> {
        let Some(address) = address else { return Ok(Admin(None)) };
        let metrics = Metrics::of_upstreams(upstreams);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(mcp_transport::bind(address))?;
        let bound = listener.local_addr()?;
        announce(log, "metrics on", &format!("http://{bound}/metrics"));
        let health = Health::of_upstreams(upstreams);
        health.set_ready(true);
        let (shown, shown_health) = (metrics.clone(), health.clone());
        thread::spawn(move || {
            let never = std::future::pending();
            runtime.block_on(metrics::serve(listener, shown, shown_health, never));
        });
        Ok(Admin(Some((metrics, health))))
    }

    /// The counters that a span exporter updates.
    pub(super) fn spans(&self) -> SpanCounts {
        self.0.as_ref().map(|(metrics, _)| metrics.spans()).unwrap_or_default()
    }

    /// A watcher that counts messages and findings.
    pub(super) fn watcher(&self) -> Option<Watcher> {
        self.0.as_ref().map(|(metrics, _)| metrics.watcher())
    }

    /// The gauge of open sessions with a server.
    pub(super) fn sessions(&self, upstream: Option<Arc<str>>) -> OpenSessions {
        self.0.as_ref().map(|(metrics, _)| metrics.sessions(upstream)).unwrap_or_default()
    }

    /// Reports that the proxy is no longer ready for new clients.
    pub(super) fn set_unready(&self) {
        if let Some((_, health)) = &self.0 {
            health.set_ready(false);
        }
    }

    /// Reports whether the settings that were last read are in use.
    pub(super) fn set_config_synced(&self, synced: bool) {
        if let Some((metrics, _)) = &self.0 {
            metrics.set_config_synced(synced);
        }
    }
}
