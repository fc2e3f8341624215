use std::io::{self, Write as _};

use mcp_proxy::{
    Watcher,
    otlp::{Exporter, ExporterSettings, SpanCounts},
};

use crate::{failure::Failure, plan::Verbosity, text::counted};

/// The span exporter, if there is a collector.
pub(super) struct Spans(Option<Exporter>);

impl Spans {
    pub(super) fn start(url: Option<&str>, counts: SpanCounts) -> anyhow::Result<Spans> {
        let Some(url) = url else { return Ok(Spans(None)) };
        let mut settings = ExporterSettings::default();
        settings.counts = counts;
        let exporter = Exporter::start(url, settings).map_err(|error| {
            Failure::new("spans cannot be exported")
                .because(error)
                .hint("write the collector's URL like http://127.0.0.1:4318")
        })?;
        Ok(Spans(Some(exporter)))
    }

    pub(super) fn watcher(&self) -> Option<Watcher> {
        self.0.as_ref().map(Exporter::watcher)
    }

    /// Sends the remaining spans. The tap must have been finished.
    pub(super) fn finish(self, verbosity: Verbosity) {
        let Some(counts) = self.0.map(Exporter::finish) else { return };
        if counts.dropped() > 0 && verbosity != Verbosity::Quiet {
            let spans = counted(counts.dropped(), "span");
            let _ = writeln!(io::stderr(), "plumb: {spans} did not reach the collector");
        }
    }
}
