use std::{fmt, sync::Arc, time::Duration};

use mcp_core::Clock;

use crate::TokioClock;

/// How a conversation is driven.
#[derive(Clone)]
#[non_exhaustive]
pub struct ProcessorSettings {
    /// Serves requests whose ids MCP does not have, null and fractions, as base JSON-RPC 2.0 does. Bare
    /// calls may have them always.
    pub any_id: bool,
    /// Serves batches in every revision. Bare calls may come in batches always.
    pub batches: bool,
    /// Requests of the other side that may be in work at once; beyond it they are answered with an
    /// error. Default 10,000.
    pub max_in_work: usize,
    /// Bytes of params of requests that may be in work at once, since they are kept as long; beyond it
    /// requests are answered with an error. One alone may be as long as messages may be. Default
    /// 256 MiB.
    pub max_in_work_bytes: usize,
    /// Requests of our own that may wait for their answer at once. Default 10,000.
    pub max_waiting: usize,
    /// How long an answer is waited for where the caller does not say. Default one minute.
    pub timeout: Duration,
    /// How long requests in work may still take after the other side has said its last word.
    /// Default five seconds.
    pub grace: Duration,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
}

impl ProcessorSettings {
    /// The defaults, with a clock of your own.
    pub fn new(clock: Arc<dyn Clock>) -> ProcessorSettings {
        ProcessorSettings {
            any_id: false,
            batches: false,
            max_in_work: 10_000,
            max_in_work_bytes: 256 << 20,
            max_waiting: 10_000,
            timeout: Duration::from_secs(60),
            grace: Duration::from_secs(5),
            clock,
        }
    }
}

/// With the clock of the tokio runtime.
impl Default for ProcessorSettings {
    fn default() -> Self {
        ProcessorSettings::new(Arc::new(TokioClock::new()))
    }
}

impl fmt::Debug for ProcessorSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessorSettings")
            .field("any_id", &self.any_id)
            .field("batches", &self.batches)
            .field("max_in_work", &self.max_in_work)
            .field("max_in_work_bytes", &self.max_in_work_bytes)
            .field("max_waiting", &self.max_waiting)
            .field("timeout", &self.timeout)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}
