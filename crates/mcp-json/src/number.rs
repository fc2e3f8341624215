//! Number literals, read exactly.
//!
//! Every function takes a literal that the parser has accepted.

/// The value as an integer, if the literal has neither fraction nor exponent and fits.
pub(crate) fn to_i64(literal: &[u8]) -> Option<i64> {
    match literal.strip_prefix(b"-") {
        Some(digits) => 0i64.checked_sub_unsigned(magnitude(digits)?),
        None => magnitude(literal)?.try_into().ok(),
    }
}

/// Like [`to_i64`], for non-negative values; `-0` is 0.
pub(crate) fn to_u64(literal: &[u8]) -> Option<u64> {
    match literal.strip_prefix(b"-") {
        Some(digits) => magnitude(digits).filter(|magnitude| *magnitude == 0),
        None => magnitude(literal),
    }
}

fn magnitude(digits: &[u8]) -> Option<u64> {
    /// Numbers with up to this many digits always fit.
    const SAFE: usize = 19;
    if digits.len() <= SAFE {
        return digits.iter().try_fold(0, |value, byte| {
            byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0'))
        });
    }
    digits.iter().try_fold(0u64, |value, byte| {
        if !byte.is_ascii_digit() {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
    })
}

/// The nearest `f64`; `None` if out of range.
pub(crate) fn to_f64(literal: &str) -> Option<f64> {
    literal.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Whether the value is an integer, in any notation and of any size.
pub(crate) fn is_integer(literal: &[u8]) -> bool {
    let (mantissa, exponent) = match literal.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&literal[..at], exponent(&literal[at + 1..])),
        None => (literal, 0),
    };
    let fraction = mantissa.iter().rev().position(|byte| *byte == b'.').unwrap_or(0);
    let digits = mantissa.iter().rev().filter(|byte| byte.is_ascii_digit());
    let trailing_zeros = digits.clone().take_while(|byte| **byte == b'0').count();
    if trailing_zeros == digits.count() {
        return true;
    }
    // Position of the last significant digit after the decimal point; negative if before it.
    let places = i64::try_from(fraction).unwrap_or(i64::MAX)
        - i64::try_from(trailing_zeros).unwrap_or(i64::MAX);
    exponent >= places
}

/// The exponent, saturating at the limits of `i64`: no mantissa has that many digits.
fn exponent(literal: &[u8]) -> i64 {
    let (negative, digits) = match literal {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let value = digits
        .iter()
        .fold(0i64, |value, byte| value.saturating_mul(10).saturating_add(i64::from(byte - b'0')));
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::{is_integer, to_f64, to_i64, to_u64};

    #[test]
    fn whole_numbers_are_recognised_in_any_spelling() {
        for literal in [
            "0",
            "-0",
            "1",
            "-1",
            "10000000000000000001",
            "1.0",
            "-0.0",
            "0.000",
            "1e2",
            "1E+2",
            "1.5e1",
            "1.50e1",
            "100e-2",
            "1e400",
            "1.5e400",
            "0e-5",
            "0.0e-999999999999999999999",
            "123456789012345678901234567890.0",
            "1e99999999999999999999999",
            "9007199254740993.0",
            "1200.00e-2",
        ] {
            assert!(is_integer(literal.as_bytes()), "{literal}");
        }
    }

    #[test]
    fn fractions_are_recognised_in_any_spelling() {
        for literal in [
            "0.1",
            "1.5",
            "-1.5",
            "1e-1",
            "15e-1",
            "1.55e1",
            "1e-400",
            "1e-99999999999999999999",
            "123456789012345678901234567890.1",
            "1000000000000000000000.0000000000000000000001",
            "1200.00e-3",
            "9007199254740992.5",
        ] {
            assert!(!is_integer(literal.as_bytes()), "{literal}");
        }
    }

    #[test]
    fn conversions_refuse_what_does_not_fit() {
        assert_eq!(to_i64(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(to_i64(b"-9223372036854775809"), None);
        assert_eq!(to_i64(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(to_i64(b"9223372036854775808"), None);
        assert_eq!(to_u64(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(to_u64(b"18446744073709551616"), None);
        assert_eq!(to_u64(b"-1"), None);
        assert_eq!((to_i64(b"-0"), to_u64(b"-0")), (Some(0), Some(0)));
        assert_eq!((to_i64(b"1.0"), to_u64(b"1e0")), (None, None));
        assert_eq!(to_f64("1e308"), Some(1e308));
        assert_eq!(to_f64("1e400"), None);
        assert_eq!(to_f64("-1e400"), None);
        assert_eq!(to_f64("1e-400"), Some(0.0));
    }
}
