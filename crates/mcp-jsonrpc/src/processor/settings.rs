use std::{fmt, sync::Arc, time::Duration};

use mcp_core::{Clock, MemoryBudget};

use crate::TokioClock;

/// Settings of a conversation.
#[derive(Clone)]
#[non_exhaustive]
pub struct ProcessorSettings {
    /// Accepts ids that MCP does not allow, null and fractions, as plain JSON-RPC 2.0 does. Bare
    /// dispatch always does.
    pub any_id: bool,
    /// Accepts batches in every revision. Bare dispatch always does.
    pub batches: bool,
    /// The maximum number of entries of a batch; a longer one is rejected as a whole. Default 1,000.
    pub max_batch: usize,
    /// The maximum number of the peer's requests in flight; further ones get an error. Default
    /// 10,000.
    pub max_in_flight: usize,
    /// The maximum number of bytes that requests in flight may hold in this conversation: their
    /// params as text and tape, ids and methods. Further requests get an error. A single request may
    /// always be as long as messages may be. What handlers allocate themselves does not count.
    /// Default 64 MiB.
    pub max_in_flight_bytes: usize,
    /// The same limit for all conversations together that share these settings or a clone of them,
    /// such as those of one server. Default: 128 MiB.
    pub in_flight_memory: MemoryBudget,
    /// The maximum number of our own requests in flight. Default 10,000.
    pub max_pending: usize,
    /// The timeout of our own requests, unless the caller sets one. Default one minute.
    pub timeout: Duration,
    /// How long requests in flight may take to finish after the conversation is closed. Default five
    /// seconds.
    pub grace: Duration,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
}

impl ProcessorSettings {
    /// The defaults, with the given clock.
    pub fn new(clock: Arc<dyn Clock>) -> ProcessorSettings {
        ProcessorSettings {
            any_id: false,
            batches: false,
            max_batch: 1_000,
            max_in_flight: 10_000,
            max_in_flight_bytes: 64 << 20,
            in_flight_memory: MemoryBudget::new(128 << 20),
            max_pending: 10_000,
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
            .field("max_batch", &self.max_batch)
            .field("max_in_flight", &self.max_in_flight)
            .field("max_in_flight_bytes", &self.max_in_flight_bytes)
            .field("in_flight_memory", &self.in_flight_memory)
            .field("max_pending", &self.max_pending)
            .field("timeout", &self.timeout)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}
