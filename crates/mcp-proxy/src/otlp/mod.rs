//! Exports a span for every request and its answer, by OpenTelemetry's protocol (OTLP/HTTP, JSON).
//!
//! ```text
//! Passage ─► Spans: pairs requests and answers ─► bounded queue ─► Exporter ─► collector
//! ```
//!
//! This is written here and not taken from the `opentelemetry` crates: those would bring a second
//! HTTP client or a generated protocol buffer stack for one kind of request, and their spans are
//! made by the code that does the work, while ours are made later, from what a [`Tap`](crate::Tap)
//! has seen.
//!
//! Spans never hold arguments, results or the text of findings, only names, codes and rules.

mod context;
mod exporter;
mod span;
mod spans;

use prometheus_client::metrics::counter::Counter;

pub use self::exporter::{Exporter, ExporterError, ExporterSettings};
use crate::Watcher;

/// How many spans were sent to the collector, and how many were not.
#[derive(Debug, Clone, Default)]
pub struct SpanCounts {
    pub(crate) exported: Counter,
    pub(crate) dropped: Counter,
}

impl SpanCounts {
    /// Spans that the collector has taken.
    pub fn exported(&self) -> u64 {
        self.exported.get()
    }

    /// Spans that were dropped: the collector is away, refuses them or is too slow.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }
}

impl Exporter {
    /// Makes spans of what passes.
    pub fn watcher(&self) -> Watcher {
        let mut spans = spans::Spans::new(self.queue());
        Box::new(move |passage| spans.take(passage))
    }
}
