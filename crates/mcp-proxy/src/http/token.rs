use http::{HeaderMap, header::AUTHORIZATION};

/// Whether a request has the required token.
pub(crate) fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, sent)) = sent.and_then(|value| value.split_once(' ')) else { return false };
    // The scheme is case-insensitive.
    scheme.eq_ignore_ascii_case("bearer")
        && is_same(sent.trim_start_matches(' ').as_bytes(), token.as_bytes())
}

/// Compares secrets in constant time.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).fold(0, |different, (left, right)| different | (left ^ right))
            == 0
}
