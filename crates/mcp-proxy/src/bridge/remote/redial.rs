use std::time::Duration;

use mcp_core::TransportError;
use tokio::time::Instant;

/// The pause after the first failure; each further failure doubles it.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);

/// Limits how often an unreachable server is tried again. Until then, callers get an error at once.
#[derive(Debug, Default)]
pub(super) struct Redial {
    failures: u32,
    last: Option<(Instant, TransportError)>,
}

impl Redial {
    /// Returns an error while no attempt may be made.
    pub(super) fn pause(&self, now: Instant) -> Result<(), TransportError> {
        match &self.last {
            Some((until, error)) if now < *until => Err(error.clone()),
            _ => Ok(()),
        }
    }

    pub(super) fn failed(&mut self, now: Instant, error: TransportError) {
        let pause = FIRST.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures += 1;
        self.last = Some((now + pause, error));
    }

    pub(super) fn reached(&mut self) {
        *self = Redial::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_with_success() {
        let mut redial = Redial::default();
        let now = Instant::now();
        assert_eq!(redial.pause(now), Ok(()));
        let mut pauses = Vec::new();
        for _ in 0..12 {
            redial.failed(now, TransportError::Closed);
            assert_eq!(redial.pause(now), Err(TransportError::Closed));
            let pause = (0..400).find(|step| redial.pause(now + FIRST * *step).is_ok());
            pauses.push(pause.unwrap());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        redial.reached();
        assert_eq!(redial.pause(now), Ok(()));
    }
}
