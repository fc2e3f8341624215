use std::borrow::Cow;

use crate::Json;

/// The beginning of a text from a peer, for an error message. An error must not repeat megabytes: it
/// is sent, kept for clients that resume, and logged.
///
/// ```
/// assert_eq!(mcp_core::excerpt("tools/call", 200), "tools/call");
/// assert_eq!(mcp_core::excerpt("überlang", 3), "üb… (9 bytes)");
/// ```
pub fn excerpt(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    Cow::Owned(format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()))
}

/// The maximum number of bytes of a name that an error message quotes.
pub(crate) const NAME: usize = 200;

/// The maximum size of the findings in one error, in bytes.
const FINDINGS: usize = 64 << 10;

/// The first findings, as many as one error may carry.
pub fn first_findings(findings: &[Json]) -> &[Json] {
    let mut bytes = 0;
    let fits = |finding: &&Json| {
        bytes += finding.as_bytes().len();
        bytes <= FINDINGS
    };
    let count = findings.iter().take_while(fits).count();
    findings.get(..count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_at_the_limit_between_characters() {
        assert_eq!(excerpt("abc", 3), "abc");
        assert_eq!(excerpt("abcd", 3), "abc… (4 bytes)");
        assert_eq!(excerpt("é", 1), "… (2 bytes)");
        assert_eq!(excerpt(&"x".repeat(1 << 20), 200).len(), 219);
    }

    #[test]
    fn findings_fit_into_an_error() {
        let finding = |length| Json::of(&"x".repeat(length - 2)).unwrap();
        let half = finding(FINDINGS / 2);
        assert_eq!(first_findings(&[half.clone(), half.clone()]).len(), 2);
        assert_eq!(first_findings(&[half.clone(), half, finding(3)]).len(), 2);
        assert!(first_findings(&[finding(FINDINGS + 1)]).is_empty());
    }
}
