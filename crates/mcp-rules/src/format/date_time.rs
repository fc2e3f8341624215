//! Date-times in RFC 3339 and (slightly more permissive) ISO 8601 format.

/// Whether `text` is an RFC 3339 date-time, which requires seconds and an offset.
pub(crate) fn is_rfc3339(text: &[u8]) -> bool {
    rfc3339_millis(text).is_some()
}

/// Converts an RFC 3339 date-time to milliseconds since 1970.
pub fn rfc3339_millis(text: &[u8]) -> Option<i64> {
    let (minutes, rest) = date_and_minutes(text)?;
    let (Some(millis), rest) = seconds(rest)? else { return None };
    let offset = match *rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h, i, b':', m, n] => {
            let minutes = two_digits(h, i, 23)? * 60 + two_digits(m, n, 59)?;
            if sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    Some((minutes - offset) * 60_000 + millis)
}

/// Days in the Gregorian calendar, counting years from March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Whether `text` is an ISO 8601 date-time in extended format: seconds and offset may be omitted,
/// and the offset may be shorter.
pub(crate) fn is_iso8601(text: &[u8]) -> bool {
    let Some((_, rest)) = date_and_minutes(text).and_then(|(_, rest)| seconds(rest)) else {
        return false;
    };
    match *rest {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-', h, i, ref minutes @ ..] => {
            let minutes = minutes.strip_prefix(b":").unwrap_or(minutes);
            let fits = match *minutes {
                [] => true,
                [m, n] => two_digits(m, n, 59).is_some(),
                _ => false,
            };
            fits && two_digits(h, i, 23).is_some()
        }
        _ => false,
    }
}

/// Parses `2025-05-03T14:30` as minutes since 1970, and returns the rest as well.
fn date_and_minutes(text: &[u8]) -> Option<(i64, &[u8])> {
    let (head, rest) = text.split_first_chunk::<16>()?;
    let pair = |at: usize, most| two_digits(head[at], head[at + 1], most);
    let year = 100 * pair(0, 99)? + pair(2, 99)?;
    let (month, day) = (pair(5, 12)?, pair(8, 31)?);
    let minutes = pair(11, 23)? * 60 + pair(14, 59)?;
    if [head[4], head[7], head[10].to_ascii_uppercase(), head[13]] != *b"--T:" {
        return None;
    }
    if day < 1 || day > days_in(month, year) {
        return None;
    }
    Some((days_since_1970(year, month, day) * 24 * 60 + minutes, rest))
}

/// Parses `:00` and a fraction, if present, as milliseconds; returns the rest as well.
fn seconds(text: &[u8]) -> Option<(Option<i64>, &[u8])> {
    let [b':', tens, ones, rest @ ..] = text else {
        return Some((None, text));
    };
    // 60 is a leap second.
    let millis = 1000 * two_digits(*tens, *ones, 60)?;
    let [b'.' | b',', fraction @ ..] = rest else {
        return Some((Some(millis), rest));
    };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = fraction.split_at(digits);
    let thousandths = digits.iter().zip([100, 10, 1]).map(|(digit, unit)| value(*digit) * unit);
    (!digits.is_empty()).then(|| (Some(millis + thousandths.sum::<i64>()), rest))
}

fn two_digits(tens: u8, ones: u8, most: i64) -> Option<i64> {
    let value = value(tens) * 10 + value(ones);
    (tens.is_ascii_digit() && ones.is_ascii_digit() && value <= most).then_some(value)
}

/// The value of a digit.
fn value(digit: u8) -> i64 {
    i64::from(digit) - i64::from(b'0')
}

fn days_in(month: i64, year: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_wants_seconds_and_an_offset() {
        for text in [
            "2025-05-03T14:30:00Z",
            "2025-05-03t14:30:00z",
            "2025-05-03T14:30:00.5+02:00",
            "2025-05-03T14:30:00.123456789-11:30",
            "2024-02-29T23:59:60Z",
            "1996-02-29T00:00:00Z",
            "0000-01-01T00:00:00Z",
        ] {
            assert!(is_rfc3339(text.as_bytes()), "{text}");
            assert!(is_iso8601(text.as_bytes()), "{text}");
        }
        for text in [
            "2025-05-03T14:30:00",
            "2025-05-03T14:30Z",
            "2025-05-03T14:30:00+0200",
            "2025-05-03T14:30:00+02",
        ] {
            assert!(!is_rfc3339(text.as_bytes()), "{text}");
            assert!(is_iso8601(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn other_spellings_are_neither() {
        for text in [
            "",
            "2025-05-03",
            "2025-05-03 14:30:00Z",
            "Sat, 03 May 2025 14:30:00 GMT",
            "1746282600",
            "2025-02-29T14:30:00Z",
            "2025-04-31T14:30:00Z",
            "2025-00-10T14:30:00Z",
            "2025-01-00T14:30:00Z",
            "2025-13-01T14:30:00Z",
            "2025-05-03T24:00:00Z",
            "2025-05-03T14:60:00Z",
            "2025-05-03T14:30:00.Z",
            "2025-05-03T14:30:00+2:00",
            "2025-05-03T14:30:00ZZ",
            "2025-05-03T14:30:00+02:0x",
            "2025-05-03Tüü:30:00Z",
            "2025/05-03T14:30:00Z",
            "2025-05/03T14:30:00Z",
            "2025-05-03T14.30:00Z",
            "2025-05-03T1::30:00Z",
            "2025-05-03T14:3::00Z",
        ] {
            assert!(!is_rfc3339(text.as_bytes()), "{text}");
            assert!(!is_iso8601(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn moments_are_counted_from_1970() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-07-28T12:00:00.250Z", 1_785_240_000_250),
            ("2026-07-28T14:00:00.25+02:00", 1_785_240_000_250),
            ("2026-07-27T23:45:00.25-12:15", 1_785_240_000_250),
            ("2024-02-29T23:59:60Z", 1_709_251_200_000),
            ("1969-12-31T23:59:59Z", -1000),
        ] {
            assert_eq!(rfc3339_millis(text.as_bytes()), Some(millis), "{text}");
        }
        assert_eq!(rfc3339_millis(b"2026-07-28"), None);
    }
}
