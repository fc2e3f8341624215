use std::time::Duration;

use mcp_core::{BoxFuture, Clock};
use tokio::time::Instant;

/// The clock of the tokio runtime.
#[derive(Debug)]
pub(crate) struct TokioClock {
    start: Instant,
}

impl TokioClock {
    pub(crate) fn new() -> TokioClock {
        TokioClock { start: Instant::now() }
    }
}

impl Clock for TokioClock {
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}
