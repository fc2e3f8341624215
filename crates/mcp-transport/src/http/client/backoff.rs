use std::time::Duration;

/// The maximum delay, unless the server asks for a longer one.
const CEILING: Duration = Duration::from_secs(30);
/// The minimum delay, even if the server asks for none.
const FLOOR: Duration = Duration::from_millis(10);

/// How long to wait before the next attempt: at least what the server asks for, and longer with
/// each failed attempt in a row.
#[derive(Debug)]
pub(super) struct Backoff {
    start: Duration,
    attempts: u32,
}

impl Backoff {
    pub(super) fn new(start: Duration) -> Backoff {
        Backoff { start, attempts: 0 }
    }

    /// The last attempt succeeded.
    pub(super) fn reset(&mut self) {
        self.attempts = 0;
    }

    /// Attempts since the last success, including the next one.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(super) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let base = asked.unwrap_or(self.start).max(FLOOR);
        let grown = base.saturating_mul(1 << self.attempts.min(16)).min(CEILING);
        self.attempts = self.attempts.saturating_add(1);
        grown.max(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_never_fall_below_what_the_server_asked_for() {
        let mut backoff = Backoff::new(Duration::from_secs(1));
        let waits: Vec<u64> = (0..7).map(|_| backoff.next(None).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(backoff.next(Some(Duration::from_secs(60))).as_secs(), 60);
        backoff.reset();
        assert_eq!(backoff.next(Some(Duration::from_millis(500))).as_millis(), 500);
        assert_eq!(backoff.attempts(), 1);
        backoff.reset();
        assert_eq!(backoff.next(Some(Duration::ZERO)), FLOOR);
    }
}
