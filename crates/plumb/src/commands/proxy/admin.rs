use std::{
    io::{self, Write as _},
    sync::Arc,
    thread,
};

use mcp_proxy::{
    Watcher,
    metrics::{self, Health, Metrics},
    otlp::SpanCounts,
};

/// Figures and health for operators, on an address of their own.
pub(super) struct Admin(Option<Metrics>);

impl Admin {
    /// Begins to serve, if there is an address. Ends with the process. If there are several servers,
    /// these are their names.
    pub(super) fn start(address: Option<&str>, upstreams: &[Arc<str>]) -> anyhow::Result<Admin> {
        let Some(address) = address else { return Ok(Admin(None)) };
        let metrics = Metrics::of_upstreams(upstreams);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(mcp_transport::bind(address))?;
        let bound = listener.local_addr()?;
        let _ = writeln!(io::stderr(), "plumb: metrics on http://{bound}/metrics");
        let health = Health::of_upstreams(upstreams);
        // Whoever asks gets an answer only while the process runs, which is as long as it serves.
        health.set_ready(true);
        let shown = metrics.clone();
        thread::spawn(move || {
            let never = std::future::pending();
            runtime.block_on(metrics::serve(listener, shown, health, never));
        });
        Ok(Admin(Some(metrics)))
    }

    /// Where an exporter counts its spans.
    pub(super) fn spans(&self) -> SpanCounts {
        self.0.as_ref().map(Metrics::spans).unwrap_or_default()
    }

    /// Counts what passes.
    pub(super) fn watcher(&self) -> Option<Watcher> {
        self.0.as_ref().map(Metrics::watcher)
    }
}
