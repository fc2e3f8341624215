//! A task of 2025-11-25 that a walk has started.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until};

/// Tasks with a longer polling interval are not polled again.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Task {
    pub(super) id: String,
    /// How long to wait between two `tasks/get`.
    pause: Duration,
    polled: Option<Instant>,
}

impl Task {
    /// The task created by the result of a call.
    pub(super) fn created_by(result: &Value) -> Option<Task> {
        let task = &result["task"];
        let pause = task["pollInterval"].as_u64().unwrap_or_default();
        Some(Task {
            id: task["taskId"].as_str()?.to_owned(),
            pause: Duration::from_millis(pause),
            polled: None,
        })
    }

    /// Waits until `tasks/get` may be sent; returns false without waiting if that takes too long.
    pub(super) async fn may_be_polled(&mut self) -> bool {
        if let Some(polled) = self.polled {
            if self.pause > LONGEST_PAUSE {
                return false;
            }
            sleep_until(polled + self.pause).await;
        }
        self.polled = Some(Instant::now());
        true
    }
}
