//! Exports a span for every request and its answer over OTLP (HTTP, JSON).
//!
//! ```text
//! TapEvent ─► Spans: pairs requests and answers ─► bounded queue ─► Exporter ─► collector
//! ```
//!
//! Written here instead of using the `opentelemetry` crates: those would bring a second HTTP client
//! or a generated protocol buffer stack for a single kind of request, and their spans are created
//! by the code that does the work, while ours are created later, from the events of a
//! [`Tap`](crate::Tap).
//!
//! Spans never hold arguments, results or the text of findings, only names, codes and rules.

mod context;
mod exporter;
mod span;
mod spans;

use prometheus_client::metrics::counter::Counter;

pub use self::exporter::{Exporter, ExporterError, ExporterSettings};
use crate::Watcher;

/// Counts of exported and dropped spans.
#[derive(Debug, Clone, Default)]
pub struct SpanCounts {
    pub(crate) exported: Counter,
    pub(crate) dropped: Counter,
}

impl SpanCounts {
    /// Spans that the collector has accepted.
    pub fn exported(&self) -> u64 {
        self.exported.get()
    }

    /// Spans that were dropped because the collector was unavailable, refused them or was too slow.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }
}

impl Exporter {
    /// A watcher that makes spans of requests and their answers.
    pub fn watcher(&self) -> Watcher {
        let mut spans = spans::Spans::new(self.queue());
        Box::new(move |event| spans.take(event))
    }
}
