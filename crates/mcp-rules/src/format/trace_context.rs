//! The text formats of W3C Trace Context and W3C Baggage.

use super::token::is_token;

/// `<version>-<trace id>-<parent id>-<flags>` in lowercase hexadecimal, ids not zero.
pub(crate) fn is_traceparent(text: &[u8]) -> bool {
    let Some((head, rest)) = text.split_at_checked(55) else {
        return false;
    };
    let hex = |range: std::ops::Range<usize>| {
        head[range].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let zero = |range: std::ops::Range<usize>| head[range].iter().all(|byte| *byte == b'0');
    let version = &head[..2];
    let separated = [2, 35, 52].into_iter().all(|position| head[position] == b'-');
    // Later versions may append fields; version 00 has none.
    let ends_well = rest.is_empty() || (version != b"00" && rest[0] == b'-');
    separated
        && hex(0..2)
        && version != b"ff"
        && hex(3..35)
        && !zero(3..35)
        && hex(36..52)
        && !zero(36..52)
        && hex(53..55)
        && ends_well
}

/// Up to 32 comma-separated `key=value` members with distinct keys.
pub(crate) fn is_tracestate(text: &[u8]) -> bool {
    let members = || {
        text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
    };
    members().count() <= 32
        && members().all(|member| {
            let Some((key, value)) = split_once(member, b'=') else {
                return false;
            };
            let is_key = |other: &[u8]| split_once(other, b'=').is_some_and(|(own, _)| own == key);
            is_state_key(key)
                && is_state_value(value)
                && members().filter(|other| is_key(other)).count() == 1
        })
}

fn is_state_key(key: &[u8]) -> bool {
    let inside = |byte: &u8| {
        byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || matches!(byte, b'_' | b'-' | b'*' | b'/' | b'@')
    };
    key.len() <= 256
        && matches!(key, [first, ..] if first.is_ascii_lowercase() || first.is_ascii_digit())
        && key.iter().all(inside)
}

fn is_state_value(value: &[u8]) -> bool {
    (1..=256).contains(&value.len())
        && value.iter().all(|byte| matches!(byte, 0x20..=0x7e) && *byte != b'=')
}

/// Comma-separated `key=value` members, with optional properties after semicolons.
pub(crate) fn is_baggage(text: &[u8]) -> bool {
    text.trim_ascii().is_empty()
        || text.split(|byte| *byte == b',').all(|member| {
            let mut parts = member.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let entry = parts.next().and_then(|entry| split_once(entry, b'='));
            entry.is_some_and(|(key, value)| is_entry(key, value))
                && parts.all(|property| match split_once(property, b'=') {
                    Some((key, value)) => is_entry(key, value),
                    None => is_token(property),
                })
        })
}

fn is_entry(key: &[u8], value: &[u8]) -> bool {
    let octet = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\');
    is_token(key.trim_ascii_end()) && value.trim_ascii_start().iter().all(octet)
}

fn split_once(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let position = text.iter().position(|byte| *byte == separator)?;
    Some((&text[..position], &text[position + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traceparent_has_four_fields() {
        for text in [
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes",
        ] {
            assert!(is_traceparent(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "0af7651916cd43dd8448eb211c80319c",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert!(!is_traceparent(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn tracestate_is_a_list_of_pairs() {
        for text in ["", "vendor=00f067aa0ba902b7,other@x=1", "a=1, b=2 ,", "a= b c"] {
            assert!(is_tracestate(text.as_bytes()), "{text}");
        }
        for text in ["vendor", "Vendor=1", "a=", "a=b=c", "=1", "a=ü", "a=1,b=2,a=3"] {
            assert!(!is_tracestate(text.as_bytes()), "{text}");
        }
        let long =
            |count: u8| (0..count).map(|key| format!("k{key}=1")).collect::<Vec<_>>().join(",");
        assert!(is_tracestate(long(32).as_bytes()));
        assert!(!is_tracestate(long(33).as_bytes()));
    }

    #[test]
    fn baggage_is_a_list_of_pairs_with_properties() {
        for text in ["", "userId=alice,serverNode=DF%2028;ttl=30", "a = b ; c , d=", "a=b=c"] {
            assert!(is_baggage(text.as_bytes()), "{text}");
        }
        for text in ["userId", "a=b c", "a=\"b\"", "a b=c", "a=b,,c=d", "a=ü", "a=b;c d"] {
            assert!(!is_baggage(text.as_bytes()), "{text}");
        }
    }
}
