use std::{
    io,
    pin::pin,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use serde_json::json;
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, timeout, timeout_at},
};

use super::{
    SpanCounts,
    span::{Span, attribute},
};
use crate::{
    Access, Address, UpstreamError,
    http::{Upstream, full},
};

/// Settings of an [`Exporter`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExporterSettings {
    /// Maximum number of queued spans; further ones are dropped and counted. Default: 4,096.
    pub queue: usize,
    /// Maximum number of spans per request. Default: 512.
    pub batch: usize,
    /// How long to collect spans for a batch. Default: 2 s.
    pub interval: Duration,
    /// Timeout of a request. Default: 10 s.
    pub timeout: Duration,
    /// Maximum number of attempts if the collector is busy or unavailable. Default: 3.
    pub attempts: u32,
    /// The pause before the second attempt; doubled for each further one. Default: 1 s.
    pub pause: Duration,
    /// Counts the spans.
    pub counts: SpanCounts,
}

impl Default for ExporterSettings {
    fn default() -> Self {
        ExporterSettings {
            queue: 4096,
            batch: 512,
            interval: Duration::from_secs(2),
            timeout: Duration::from_secs(10),
            attempts: 3,
            pause: Duration::from_secs(1),
            counts: SpanCounts::default(),
        }
    }
}

/// Sends spans to a collector, on its own thread.
#[derive(Debug)]
pub struct Exporter {
    queue: SpanQueue,
    ending: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

/// The queue of spans for the collector. Adding never blocks.
#[derive(Debug, Clone)]
pub(super) struct SpanQueue {
    sender: mpsc::Sender<Box<Span>>,
    counts: SpanCounts,
}

impl SpanQueue {
    pub(super) fn push(&self, span: Box<Span>) {
        if self.sender.try_send(span).is_err() {
            self.counts.dropped.inc();
        }
    }
}

const PATH: &str = "/v1/traces";

impl Exporter {
    /// Starts exporting to the collector at `url`, such as `http://127.0.0.1:4318`.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn start(url: &str, settings: ExporterSettings) -> Result<Exporter, ExporterError> {
        let collector = Upstream::new(url, &Access::default())?;
        let base = Address::parse(url)?.path;
        let base = base.path().trim_end_matches('/');
        let path = if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, spans) = mpsc::channel(settings.queue.max(1));
        let queue = SpanQueue { sender, counts: settings.counts.clone() };
        let ending = Arc::new(Notify::new());
        let sending = Sending { collector, path, settings, ending: Arc::clone(&ending) };
        let thread = thread::spawn(move || runtime.block_on(sending.run(spans)));
        Ok(Exporter { queue, ending, thread: Some(thread) })
    }

    pub(super) fn queue(&self) -> SpanQueue {
        self.queue.clone()
    }

    /// Sends the remaining spans in a single short attempt, and stops. The watchers must have been
    /// dropped.
    pub fn finish(mut self) -> SpanCounts {
        let counts = self.queue.counts.clone();
        self.ending.notify_one();
        let Exporter { queue, thread, .. } = &mut self;
        // The thread ends once all senders are dropped.
        let (closed, _) = mpsc::channel(1);
        queue.sender = closed;
        if let Some(thread) = thread.take() {
            // If it panicked, there is nothing to send.
            let _ = thread.join();
        }
        counts
    }
}

/// Why spans cannot be exported.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ExporterError {
    #[error(transparent)]
    Url(#[from] UpstreamError),
    #[error("could not start the exporter")]
    Start(#[from] io::Error),
}

struct Sending {
    collector: Upstream,
    path: String,
    settings: ExporterSettings,
    ending: Arc<Notify>,
}

/// Time limit for the last spans.
const LAST: Duration = Duration::from_secs(2);

impl Sending {
    async fn run(self, mut spans: mpsc::Receiver<Box<Span>>) {
        loop {
            let Some(first) = spans.recv().await else { return };
            let mut batch = vec![*first];
            let deadline = Instant::now() + self.settings.interval;
            let mut is_ending = false;
            while batch.len() < self.settings.batch && !is_ending {
                tokio::select! {
                    next = timeout_at(deadline, spans.recv()) => match next {
                        Ok(Some(span)) => batch.push(*span),
                        Ok(None) => is_ending = true,
                        Err(_) => break,
                    },
                    () = self.ending.notified() => is_ending = true,
                }
            }
            if is_ending {
                return self.send_last(batch, spans, Instant::now() + LAST).await;
            }
            let mut sending = pin!(self.send(&batch));
            tokio::select! {
                () = &mut sending => {}
                () = self.ending.notified() => {
                    // A request under way may still succeed, and must not be sent twice.
                    let deadline = Instant::now() + LAST;
                    if timeout_at(deadline, sending).await.is_err() {
                        self.count(batch.len(), false);
                    }
                    return self.send_last(Vec::new(), spans, deadline).await;
                }
            }
        }
    }

    /// Sends the batch, with retries.
    async fn send(&self, batch: &[Span]) {
        let mut pause = self.settings.pause;
        for attempt in 1..=self.settings.attempts.max(1) {
            match self.post(batch).await {
                Posted::Taken => return self.count(batch.len(), true),
                Posted::Refused => break,
                Posted::Busy if attempt == self.settings.attempts => break,
                Posted::Busy => tokio::time::sleep(pause).await,
            }
            pause *= 2;
        }
        self.count(batch.len(), false);
    }

    async fn send_last(
        &self,
        batch: Vec<Span>,
        mut spans: mpsc::Receiver<Box<Span>>,
        deadline: Instant,
    ) {
        let mut batch = batch;
        loop {
            // All that are queued; no more can be added.
            while batch.len() < self.settings.batch
                && let Ok(span) = spans.try_recv()
            {
                batch.push(*span);
            }
            if batch.is_empty() {
                return;
            }
            let taken = timeout_at(deadline, self.post(&batch)).await;
            self.count(batch.len(), matches!(taken, Ok(Posted::Taken)));
            batch.clear();
        }
    }

    async fn post(&self, batch: &[Span]) -> Posted {
        let body = encode(batch);
        let request = Request::builder()
            .method(Method::POST)
            .uri(&*self.path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(full(body));
        let Ok(mut request) = request else { return Posted::Refused };
        self.collector.address(&mut request);
        let answer =
            timeout(self.settings.timeout, self.collector.send(request, self.settings.timeout));
        match answer.await {
            Ok(Ok(answer)) if answer.status().is_success() => Posted::Taken,
            Ok(Ok(answer)) => match answer.status() {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => Posted::Busy,
                status => {
                    tracing::warn!(%status, "the collector refused spans");
                    Posted::Refused
                }
            },
            Ok(Err(error)) => {
                tracing::debug!(%error, "the collector cannot be reached");
                Posted::Busy
            }
            Err(_) => Posted::Busy,
        }
    }

    fn count(&self, spans: usize, is_taken: bool) {
        let SpanCounts { exported, dropped } = &self.settings.counts;
        if is_taken { exported } else { dropped }.inc_by(spans as u64);
    }
}

enum Posted {
    Taken,
    /// The collector may accept it later.
    Busy,
    /// The collector will never accept it.
    Refused,
}

fn encode(batch: &[Span]) -> Bytes {
    let spans: Vec<_> = batch.iter().map(Span::to_json).collect();
    let service = [
        attribute("service.name", &json!("plumb")),
        attribute("service.version", &json!(env!("CARGO_PKG_VERSION"))),
    ];
    let scope = json!({ "name": "mcp-proxy", "version": env!("CARGO_PKG_VERSION") });
    json!({
        "resourceSpans": [{
            "resource": { "attributes": service },
            "scopeSpans": [{ "scope": scope, "spans": spans }],
        }],
    })
    .to_string()
    .into()
}
