//! Integers as JSON Schema defines them: `2.0` and `1e3` are integers too, which Rust's integer
//! types do not deserialize.

/// Rust's integer types hold no number with more digits.
const MAX_DIGITS: usize = 39;

/// The same JSON with its integral numbers written as integers; `None` if there is nothing to
/// change, or the numbers are too large for any integer type. Takes one pass, and a copy only if
/// something changes.
pub(super) fn with_plain_integers(json: &[u8]) -> Option<Vec<u8>> {
    let mut rewritten: Option<Vec<u8>> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = after_string(json, at),
            b'-' | b'0'..=b'9' => {
                let end = after_number(json, at);
                if let Some(plain) = json.get(at..end).and_then(plain_integer) {
                    let out = rewritten.get_or_insert_with(|| Vec::with_capacity(json.len()));
                    out.extend_from_slice(json.get(copied..at).unwrap_or_default());
                    out.extend_from_slice(&plain);
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if let Some(out) = &mut rewritten {
        out.extend_from_slice(json.get(copied..).unwrap_or_default());
    }
    rewritten
}

/// The position after the string that begins at `start`, or the end of the text.
fn after_string(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

fn after_number(json: &[u8], start: usize) -> usize {
    let rest = json.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        .count();
    start + length
}

/// The digits of an integral number that is not written as an integer. That includes `-0`, which
/// some parsers treat as a float to keep its sign.
fn plain_integer(number: &[u8]) -> Option<Vec<u8>> {
    let is_negative = number.first() == Some(&b'-');
    let unsigned = number.get(usize::from(is_negative)..)?;
    let mantissa_end = unsigned.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let mantissa = unsigned.get(..mantissa_end.unwrap_or(unsigned.len()))?;
    let point = mantissa.iter().position(|byte| *byte == b'.');
    if mantissa_end.is_none() && point.is_none() && number != b"-0" {
        return None;
    }
    let whole = mantissa.get(..point.unwrap_or(mantissa.len()))?;
    let fraction = point.and_then(|point| mantissa.get(point + 1..)).unwrap_or_default();
    let exponent = match mantissa_end {
        Some(end) => exponent(unsigned.get(end + 1..)?),
        None => 0,
    };
    let digits = || whole.iter().chain(fraction).copied();
    let Some(first) = digits().position(|digit| digit != b'0') else {
        return Some(b"0".to_vec());
    };
    let length = whole.len() + fraction.len();
    // After the last significant digit.
    let end = length - digits().rev().take_while(|digit| *digit == b'0').count();
    let shift = i64::try_from(whole.len()).ok()? - i64::try_from(end).ok()?;
    let zeros = usize::try_from(exponent.checked_add(shift)?).ok()?;
    if (end - first).saturating_add(zeros) > MAX_DIGITS {
        return None;
    }
    let mut plain = Vec::with_capacity(MAX_DIGITS + 1);
    if is_negative {
        plain.push(b'-');
    }
    plain.extend(digits().skip(first).take(end - first));
    plain.resize(plain.len() + zeros, b'0');
    Some(plain)
}

/// The exponent, saturating.
fn exponent(text: &[u8]) -> i64 {
    let is_negative = text.first() == Some(&b'-');
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let size = digits
        .fold(0_i64, |size, digit| size.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if is_negative { -size } else { size }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewritten(json: &str) -> Option<String> {
        with_plain_integers(json.as_bytes()).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn integral_numbers_become_integers_everywhere() {
        for (json, plain) in [
            ("2.0", "2"),
            ("-2.0", "-2"),
            ("1e3", "1000"),
            ("1E+3", "1000"),
            ("1.50e1", "15"),
            ("100e-2", "1"),
            ("0.0", "0"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("0e999999999999999999999", "0"),
            ("9007199254740993.0", "9007199254740993"),
            ("18446744073709551615.000", "18446744073709551615"),
            (
                "3.40282366920938463463374607431768211455e38",
                "340282366920938463463374607431768211455",
            ),
            (r#"{"a":[2.0,{"b":1e1}],"c":1.5}"#, r#"{"a":[2,{"b":10}],"c":1.5}"#),
            (r#"{"2.0":"1e3 \" 2.0","x":2.0}"#, r#"{"2.0":"1e3 \" 2.0","x":2}"#),
        ] {
            assert_eq!(rewritten(json).as_deref(), Some(plain), "{json}");
        }
    }

    #[test]
    fn everything_else_is_left_uncopied() {
        for json in [
            "2",
            "-7",
            "1.5",
            "1e-1",
            "1e400",
            "1e999999999999999999999",
            "1e-999999999999999999999",
            r#""2.0""#,
            r#"{"a":"\\","b":[true,null,1]}"#,
        ] {
            assert_eq!(rewritten(json), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[-+0-9.eE"\\\[\]{},: a]{0,40}"#) {
            let _ = rewritten(&text);
        }

        #[test]
        fn the_value_stays_the_same(value: i64, zeros in 0_usize..4, shift in 0_usize..6) {
            let shifted = format!("{value}{}e-{shift}", "0".repeat(shift));
            let fraction = format!("{value}.0{}", "0".repeat(zeros));
            for spelled in [shifted, fraction] {
                let plain = rewritten(&spelled).unwrap();
                prop_assert_eq!(plain.parse::<i64>().unwrap(), value);
            }
        }
    }
}
