//! Date-times in RFC 3339 and (slightly more permissive) ISO 8601 format.

/// Whether `text` is an RFC 3339 date-time, which requires seconds and an offset.
pub(crate) fn is_rfc3339(text: &[u8]) -> bool {
    let Some(rest) = date_and_minutes(text) else {
        return false;
    };
    let Some((rest, true)) = seconds(rest) else {
        return false;
    };
    match rest {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', hours @ .., b':', m, n] => {
            two_digits(hours, 23).is_some() && two_digits(&[*m, *n], 59).is_some()
        }
        _ => false,
    }
}

/// Converts an RFC 3339 date-time to milliseconds since 1970.
pub fn rfc3339_millis(text: &[u8]) -> Option<i64> {
    if !is_rfc3339(text) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        text.get(range)?.iter().try_fold(0, |sum: i64, digit| {
            digit.is_ascii_digit().then(|| 10 * sum + i64::from(digit - b'0'))
        })
    };
    let days = days_since_1970(number(0..4)?, number(5..7)?, number(8..10)?);
    let seconds = (days * 24 + number(11..13)?) * 3600 + number(14..16)? * 60 + number(17..19)?;
    let rest = &text[19..];
    let fraction = rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
    let (millis, zone) = match rest {
        [b'.' | b',', digits @ ..] => {
            let thousandths = (0..3).fold(0, |sum, position| {
                let digit = digits.get(position).filter(|_| position < fraction);
                10 * sum + digit.map_or(0, |digit| i64::from(digit - b'0'))
            });
            (thousandths, &digits[fraction..])
        }
        zone => (0, zone),
    };
    let offset = match zone {
        [sign @ (b'+' | b'-'), h, i, b':', m, n] => {
            let pair = |tens: &u8, ones: &u8| i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
            let minutes = pair(h, i) * 60 + pair(m, n);
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => 0,
    };
    Some((seconds - offset * 60) * 1000 + millis)
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
    let Some((rest, _)) = date_and_minutes(text).and_then(seconds) else {
        return false;
    };
    match rest {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-', h, i, minutes @ ..] => {
            let minutes = minutes.strip_prefix(b":").unwrap_or(minutes);
            two_digits(&[*h, *i], 23).is_some()
                && (minutes.is_empty() || two_digits(minutes, 59).is_some())
        }
        _ => false,
    }
}

/// Parses `2025-05-03T14:30` and returns the rest.
fn date_and_minutes(text: &[u8]) -> Option<&[u8]> {
    let (head, rest) = text.split_at_checked(16)?;
    let year = 100 * two_digits(&head[..2], 99)? + two_digits(&head[2..4], 99)?;
    let month = two_digits(&head[5..7], 12)?;
    let day = two_digits(&head[8..10], 31)?;
    two_digits(&head[11..13], 23)?;
    two_digits(&head[14..16], 59)?;
    let separated =
        head[4] == b'-' && head[7] == b'-' && matches!(head[10], b'T' | b't') && head[13] == b':';
    (separated && day >= 1 && day <= days_in(month, year)).then_some(rest)
}

/// Parses `:00` and a fraction, if present; returns the rest and whether they were.
fn seconds(text: &[u8]) -> Option<(&[u8], bool)> {
    let [b':', tens, ones, rest @ ..] = text else {
        return Some((text, false));
    };
    // 60 is a leap second.
    two_digits(&[*tens, *ones], 60)?;
    let [b'.' | b',', fraction @ ..] = rest else {
        return Some((rest, true));
    };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| (&fraction[digits..], true))
}

fn two_digits(text: &[u8], most: u32) -> Option<u32> {
    let &[tens, ones] = text else { return None };
    if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
        return None;
    }
    let value = u32::from(tens - b'0') * 10 + u32::from(ones - b'0');
    (value <= most).then_some(value)
}

fn days_in(month: u32, year: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
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
