//! Metrics in the format of Prometheus.
//!
//! Labels have few values: sides, rules, kinds, and the methods defined by a revision. Names chosen
//! by a peer are never labels.

mod labels;
mod open_sessions;
mod service;

use std::{sync::Arc, time::SystemTime};

use mcp_core::Side;
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use self::labels::{
    ByUpstream, FindingLabels, MessageLabels, MethodLabels, NoLabels, SideLabels, method_of,
};
pub(crate) use self::open_sessions::OpenSession;
pub use self::{
    open_sessions::OpenSessions,
    service::{Health, serve},
};
use crate::{Observation, SessionHistory, TapEvent, Watcher, otlp::SpanCounts, pairs::Pairs};

/// The metrics of a proxy.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    figures: Figures,
}

#[derive(Debug, Clone)]
struct Figures {
    messages: Family<ByUpstream<MessageLabels>, Counter>,
    bytes: Family<ByUpstream<SideLabels>, Counter>,
    findings: Family<ByUpstream<FindingLabels>, Counter>,
    rejected: Family<ByUpstream<SideLabels>, Counter>,
    sessions: Family<ByUpstream<NoLabels>, Gauge>,
    unjudged: Counter,
    lost: Counter,
    apart: Counter,
    store_away: Gauge,
    config_synced: Gauge,
    answers: Family<ByUpstream<MethodLabels>, Histogram, fn() -> Histogram>,
    spans: SpanCounts,
}

/// When a request was sent, and its method.
type Asked = (SystemTime, &'static str);

/// Histogram buckets in seconds, from a fast local answer to a slow tool.
const SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

impl Metrics {
    /// All metrics at zero.
    pub fn new() -> Metrics {
        Metrics::of_upstreams(&[])
    }

    /// All metrics at zero, for several servers with these names.
    pub fn of_upstreams(names: &[Arc<str>]) -> Metrics {
        let figures = Figures {
            messages: Family::default(),
            bytes: Family::default(),
            findings: Family::default(),
            rejected: Family::default(),
            sessions: Family::default(),
            unjudged: Counter::default(),
            lost: Counter::default(),
            apart: Counter::default(),
            store_away: Gauge::default(),
            config_synced: Gauge::default(),
            answers: Family::new_with_constructor(seconds),
            spans: SpanCounts::default(),
        };
        figures.config_synced.set(1);
        // Create all labels, so that counters start at zero.
        let names = names.iter().cloned().map(Some);
        let names: Vec<_> = if names.len() == 0 { vec![None] } else { names.collect() };
        for upstream in names {
            let labels = ByUpstream { upstream: upstream.clone(), labels: NoLabels {} };
            drop(figures.sessions.get_or_create(&labels));
            for side in Side::BOTH {
                let labels =
                    ByUpstream { upstream: upstream.clone(), labels: SideLabels::of(side) };
                drop(figures.bytes.get_or_create(&labels));
                drop(figures.rejected.get_or_create(&labels));
            }
        }
        let mut registry = Registry::with_prefix("plumb_proxy");
        registry.register("messages", "Messages judged", figures.messages.clone());
        registry.register_with_unit(
            "text",
            "Text that was sent",
            Unit::Bytes,
            figures.bytes.clone(),
        );
        registry.register("findings", "Findings reported", figures.findings.clone());
        registry.register("rejected", "Messages held back", figures.rejected.clone());
        registry.register(
            "sessions",
            "Open sessions with server processes, and open WebSocket connections",
            figures.sessions.clone(),
        );
        registry.register(
            "unjudged",
            "Observations recorded but not judged because they came too fast",
            figures.unjudged.clone(),
        );
        registry.register(
            "lost",
            "Observations neither recorded nor judged, for lack of time or memory",
            figures.lost.clone(),
        );
        registry.register(
            "apart",
            "Observations judged without session state because the store was unavailable",
            figures.apart.clone(),
        );
        registry.register(
            "store_away",
            "1 if the session store was unavailable when last used, else 0",
            figures.store_away.clone(),
        );
        registry.register(
            "config_synced",
            "1 if the settings last read are in use, 0 if they could not be used",
            figures.config_synced.clone(),
        );
        registry.register_with_unit(
            "answer",
            "Time from a request to its answer",
            Unit::Seconds,
            figures.answers.clone(),
        );
        let SpanCounts { exported, dropped } = &figures.spans;
        registry.register("spans", "Spans accepted by the collector", exported.clone());
        registry.register(
            "spans_dropped",
            "Spans dropped because the collector is unavailable or too slow",
            dropped.clone(),
        );
        Metrics { registry: Arc::new(registry), figures }
    }

    /// A watcher that counts messages and findings.
    pub fn watcher(&self) -> Watcher {
        let figures = self.figures.clone();
        let mut asked = Pairs::default();
        Box::new(move |event| figures.count(event, &mut asked))
    }

    /// The gauge of open sessions with a server, which has a name if there are several.
    pub fn sessions(&self, upstream: Option<Arc<str>>) -> OpenSessions {
        let labels = ByUpstream { upstream, labels: NoLabels {} };
        OpenSessions(self.figures.sessions.get_or_create_owned(&labels))
    }

    /// The counters that a span exporter updates.
    pub fn spans(&self) -> SpanCounts {
        self.figures.spans.clone()
    }

    /// Sets whether the settings that were last read are in use.
    pub fn set_config_synced(&self, synced: bool) {
        self.figures.config_synced.set(synced.into());
    }

    /// All metrics as text.
    pub fn encode(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

impl Figures {
    fn count(&self, event: &TapEvent<'_>, pairs: &mut Pairs<Asked>) {
        self.lost.inc_by(event.lost);
        let upstream = event.observation.and_then(Observation::upstream).cloned();
        for finding in event.findings {
            let labels = FindingLabels::of(finding);
            let labels = ByUpstream { upstream: upstream.clone(), labels };
            self.findings.get_or_create(&labels).inc();
        }
        let Some(observation) = event.observation else { return };
        let labels = SideLabels::of(observation.from());
        let from = ByUpstream { upstream: upstream.clone(), labels };
        self.bytes.get_or_create(&from).inc_by(observation.bytes());
        match event.history {
            SessionHistory::Missing => {
                self.apart.inc();
                self.store_away.set(1);
            }
            SessionHistory::Shared => {
                self.store_away.set(0);
            }
            SessionHistory::Own if !event.judged => {
                self.unjudged.inc();
            }
            SessionHistory::Own => {}
        }
        if !event.refusals.is_empty() {
            self.rejected.get_or_create(&from).inc();
        }
        for message in event.messages {
            let labels = MessageLabels::of(observation.from(), message);
            let labels = ByUpstream { upstream: upstream.clone(), labels };
            self.messages.get_or_create(&labels).inc();
            let asked = || (observation.at(), method_of(message));
            if let Some((at, method)) = pairs.note(observation, message, asked) {
                let time = observation.at().duration_since(at).unwrap_or_default();
                let labels = MethodLabels { method };
                let labels = ByUpstream { upstream: upstream.clone(), labels };
                self.answers.get_or_create(&labels).observe(time.as_secs_f64());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain<L>(labels: L) -> ByUpstream<L> {
        ByUpstream { upstream: None, labels }
    }

    #[test]
    fn several_servers_have_figures_of_their_own() {
        let text = Metrics::of_upstreams(&["files".into(), "git".into()]).encode();
        let expected = "plumb_proxy_rejected_total{upstream=\"git\",from=\"client\"} 0";
        assert!(text.contains(expected), "{text}");
        assert!(!Metrics::new().encode().contains("upstream"));
    }

    /// Dashboards and alerts depend on names and units.
    #[test]
    fn names_and_units_are_fixed() {
        let metrics = Metrics::new();
        let (rule, severity, side) = ("a", "b", "c");
        let labels = plain(FindingLabels { rule, severity, side });
        metrics.figures.findings.get_or_create(&labels).inc();
        let (from, kind, method) = ("a", "b", "c");
        let labels = plain(MessageLabels { from, kind, method });
        metrics.figures.messages.get_or_create(&labels).inc();
        metrics.figures.answers.get_or_create(&plain(MethodLabels { method })).observe(0.1);
        let text = metrics.encode();
        let names: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        let expected = [
            "plumb_proxy_messages counter",
            "plumb_proxy_text_bytes counter",
            "plumb_proxy_findings counter",
            "plumb_proxy_rejected counter",
            "plumb_proxy_sessions gauge",
            "plumb_proxy_unjudged counter",
            "plumb_proxy_lost counter",
            "plumb_proxy_apart counter",
            "plumb_proxy_store_away gauge",
            "plumb_proxy_config_synced gauge",
            "plumb_proxy_answer_seconds histogram",
            "plumb_proxy_spans counter",
            "plumb_proxy_spans_dropped counter",
        ];
        assert_eq!(names, expected);
    }
}
