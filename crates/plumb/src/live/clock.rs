//! Times of day.

const DAY: i64 = 24 * 60 * 60 * 1000;

/// `12:00:01.123`, of a time in milliseconds since 1970.
pub(super) fn time_of_day(millis: i64) -> String {
    let millis = millis.rem_euclid(DAY);
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!("{:02}:{:02}:{seconds:02}.{millis:03}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_wrap_at_midnight() {
        assert_eq!(time_of_day(0), "00:00:00.000");
        assert_eq!(time_of_day(DAY - 1), "23:59:59.999");
        assert_eq!(time_of_day(DAY), "00:00:00.000");
        assert_eq!(time_of_day(-1), "23:59:59.999");
        assert_eq!(time_of_day(i64::MIN), time_of_day(i64::MIN.rem_euclid(DAY)));
    }
}
