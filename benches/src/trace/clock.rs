use std::fmt;

use crate::corpus::rng::Rng;

/// The clock of a synthetic recording; it only moves forward.
#[derive(Debug, Default)]
pub(super) struct Clock {
    milliseconds: u64,
}

impl Clock {
    pub(super) fn advance(&mut self, rng: &mut Rng) {
        self.milliseconds += rng.bits() % 5;
    }
}

impl fmt::Display for Clock {
    /// RFC 3339. Valid within one month, which is more than anyone records.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, milliseconds) = (self.milliseconds / 1000, self.milliseconds % 1000);
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
        write!(
            formatter,
            "2026-03-{:02}T{:02}:{:02}:{:02}.{milliseconds:03}Z",
            days + 1,
            hours % 24,
            minutes % 60,
            seconds % 60,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn days_hours_minutes_and_seconds_roll_over() {
        let clock = Clock { milliseconds: ((25 * 60 + 1) * 60 + 2) * 1000 + 3 };
        assert_eq!(clock.to_string(), "2026-03-02T01:01:02.003Z");
    }
}
