use std::fmt;

use mcp_core::Side;
use mcp_rules::Finding;

/// Identifies a finding even if lines are added above it, or the same traffic is recorded again
/// with other ids.
///
/// FNV-1a over rule, sender, method, position and message, the last two without their numbers. It
/// is written to files: changing it changes their format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn of(finding: &Finding) -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
            .and(finding.rule.name)
            .and(finding.from.map_or("", Side::as_str))
            .and(finding.method.unwrap_or_default())
            .and(&place(finding))
            .and(&without_numbers(&finding.message))
    }

    /// Mixes in one more text.
    pub(crate) fn and(self, text: &str) -> Fingerprint {
        // The separator cannot occur in UTF-8.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Fingerprint(text.bytes().chain([0xff]).fold(self.0, mix))
    }

    /// Reads what `Display` writes.
    pub(crate) fn parse(text: &str) -> Option<Fingerprint> {
        let is_ours = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_ours.then(|| u64::from_str_radix(text, 16).ok().map(Fingerprint)).flatten()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Where in the message, for any entry of an array: `/result/tools/#/name`.
pub(crate) fn place(finding: &Finding) -> String {
    let mut path =
        finding.pointer.as_deref().filter(|_| finding.schema.is_some()).unwrap_or_default();
    if finding.index.is_some() {
        // The entries of a batch are separate messages.
        path =
            path.char_indices().skip(1).find(|(_, c)| *c == '/').map_or("", |(at, _)| &path[at..]);
    }
    let is_index = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = path.split('/').map(|step| if is_index(step) { "#" } else { step });
    steps.collect::<Vec<_>>().join("/")
}

/// Every run of digits as `#`: ids, lines and offsets vary.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_number = false;
    for character in text.chars() {
        let is_digit = character.is_ascii_digit();
        if !is_digit {
            out.push(character);
        } else if !in_number {
            out.push('#');
        }
        in_number = is_digit;
    }
    out
}

#[cfg(test)]
mod tests {
    use mcp_rules::{SchemaFault, Severity};
    use serde_json::Value;

    use super::*;

    fn finding(place: &str, message: &str) -> Finding {
        let rule = mcp_rules::rule("params-invalid").unwrap();
        let mut finding = Finding::new(rule, Severity::Error, message);
        finding.pointer = Some(place.into());
        finding.schema = Some(SchemaFault {
            instance_path: place.into(),
            schema_path: String::new(),
            keyword: String::new(),
            params: Value::Null,
        });
        finding
    }

    #[test]
    fn numbers_do_not_matter() {
        let one = finding("/params/list/3", "the id 17 was used on line 4");
        let mut other = finding("/params/list/12", "the id 9 was used on line 120");
        other.line = Some(7);
        assert_eq!(Fingerprint::of(&one), Fingerprint::of(&other));
        assert_eq!(place(&one), "/params/list/#");
        let mut in_batch = finding("/5/params/list/12", "the id 9 was used on line 120");
        in_batch.index = Some(5);
        assert_eq!(Fingerprint::of(&one), Fingerprint::of(&in_batch));
    }

    #[test]
    fn everything_else_does() {
        let one = finding("/params/a", "wrong");
        let mut others = vec![finding("/params/b", "wrong"), finding("/params/a", "bad")];
        others.extend([one.clone(), one.clone()]);
        others[2].from = Some(Side::Client);
        others[3].method = Some("ping");
        for other in &others {
            assert_ne!(Fingerprint::of(&one), Fingerprint::of(other), "{other:?}");
        }
    }

    #[test]
    fn it_is_read_as_it_is_written() {
        let print = Fingerprint::of(&finding("", ""));
        assert_eq!(Fingerprint::parse(&print.to_string()), Some(print));
        for text in ["", "12", "+123456789abcdef", "0123456789abcdefg", "xyz3456789abcdef"] {
            assert_eq!(Fingerprint::parse(text), None, "{text}");
        }
    }

    /// Files in other people's repositories contain these.
    #[test]
    fn it_never_changes() {
        let mut one = finding("/params/name", "7 is not of type \"string\"");
        one.from = Some(Side::Client);
        one.method = Some("tools/call");
        assert_eq!(Fingerprint::of(&one).to_string(), "b411a0116213e44c");
    }
}
