//! Resource URIs and URI templates, which JSON Schema does not check (`format` is an annotation).

use fluent_uri::Uri;

/// Why a text is not an absolute URI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UriFault {
    /// The text is empty.
    #[error("the URI is empty")]
    Empty,
    /// There is no scheme: a relative reference, a path or a bare word.
    #[error("the URI has no scheme, such as `file:` or `https:`")]
    NoScheme,
    /// A character that RFC 3986 allows nowhere, or not here.
    #[error("{character:?} at byte {position} is not allowed in a URI; percent-encode it")]
    Character {
        /// Byte offset in the text.
        position: usize,
        /// The offending character.
        character: char,
    },
    /// `%` without two hexadecimal digits.
    #[error("the `%` at byte {position} is not followed by two hexadecimal digits")]
    PercentEncoding {
        /// Byte offset of the `%`.
        position: usize,
    },
    /// An invalid or unfinished IP literal in brackets.
    #[error("the host at byte {position} is not a valid IP address")]
    Host {
        /// Byte offset of the address.
        position: usize,
    },
    /// The text ends where more is needed.
    #[error("the URI ends too early")]
    Truncated,
    /// A house rule: `resource://<provider>` is required.
    #[error("the URI is not of the form `resource://<provider>`, with or without a path")]
    NotFromProvider,
}

impl UriFault {
    /// Byte offset of the error in the text, if it has one.
    pub fn position(&self) -> Option<usize> {
        match self {
            UriFault::Character { position, .. }
            | UriFault::PercentEncoding { position }
            | UriFault::Host { position } => Some(*position),
            UriFault::Empty
            | UriFault::NoScheme
            | UriFault::Truncated
            | UriFault::NotFromProvider => None,
        }
    }
}

/// Whether `text` is an absolute URI by RFC 3986, of any scheme.
///
/// "Absolute" means that it has a scheme; a fragment is allowed, as the specification uses the
/// word loosely.
///
/// # Errors
///
/// What is wrong and, if it has a position, at which byte.
pub fn absolute_uri(text: &str) -> Result<(), UriFault> {
    use fluent_uri::ParseErrorKind;

    if text.is_empty() {
        return Err(UriFault::Empty);
    }
    if !has_scheme(text) {
        return Err(UriFault::NoScheme);
    }
    let Err(error) = Uri::parse(text) else {
        return Ok(());
    };
    let position = error.index();
    Err(match error.kind() {
        ParseErrorKind::InvalidPctEncodedOctet => UriFault::PercentEncoding { position },
        ParseErrorKind::InvalidIpv6Addr => UriFault::Host { position },
        ParseErrorKind::UnexpectedChar => {
            match text.get(position..).and_then(|rest| rest.chars().next()) {
                Some(character) => UriFault::Character { position, character },
                None => UriFault::Truncated,
            }
        }
    })
}

/// Whether `text` is certainly an absolute URI: a common one, without IP addresses, ports,
/// percent-encoding and fragment. If `false`, [`absolute_uri`] has to decide.
pub fn is_plain_uri(text: &[u8]) -> bool {
    let Some(colon) = text.iter().position(|byte| !is(*byte, SCHEME)) else { return false };
    let (scheme, rest) = text.split_at(colon);
    let Some(rest) = rest.strip_prefix(b":") else { return false };
    let path = match rest.strip_prefix(b"//") {
        Some(rest) => {
            let authority = rest.iter().take_while(|byte| is(**byte, AUTHORITY)).count();
            let path = &rest[authority..];
            if !matches!(path, [] | [b'/' | b'?', ..]) {
                return false;
            }
            path
        }
        None => rest,
    };
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && path.iter().all(|byte| is(*byte, PATH_OR_QUERY))
}

// The parts of a plain URI in which a byte may occur.
const SCHEME: u8 = 1;
const AUTHORITY: u8 = 2;
const PATH_OR_QUERY: u8 = 4;

const PLACES: [u8; 256] = {
    let mut places = [0; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        let is_unreserved =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        let is_delimiter = matches!(
            byte,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
        );
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.') {
            places[byte as usize] |= SCHEME;
        }
        if is_unreserved || is_delimiter {
            places[byte as usize] |= AUTHORITY | PATH_OR_QUERY;
        }
        if matches!(byte, b':' | b'@' | b'/' | b'?') {
            places[byte as usize] |= PATH_OR_QUERY;
        }
        byte += 1;
    }
    places
};

#[inline]
fn is(byte: u8, place: u8) -> bool {
    PLACES[usize::from(byte)] & place != 0
}

/// Whether `text` is `resource://<provider>`, with or without a path: a house rule of some stacks,
/// not of MCP.
///
/// # Errors
///
/// [`UriFault::NotFromProvider`] for another scheme or a missing provider, and whatever
/// [`absolute_uri`] finds.
pub fn provider_uri(text: &str) -> Result<(), UriFault> {
    absolute_uri(text)?;
    let (scheme, rest) = text.split_once("://").ok_or(UriFault::NotFromProvider)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let has_provider = !host.is_empty() && !host.starts_with(':');
    if scheme.eq_ignore_ascii_case("resource") && has_provider {
        Ok(())
    } else {
        Err(UriFault::NotFromProvider)
    }
}

/// `scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )`, then a colon.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fault(text: &str) -> UriFault {
        absolute_uri(text).expect_err(text)
    }

    #[test]
    fn any_scheme_is_welcome() {
        for text in [
            "file:///notes/today.txt",
            "https://example.com/a?b=c#d",
            "git+ssh://host/x",
            "urn:isbn:0451450523",
            "data:text/plain;base64,SGk=",
            "x:",
            "postgres://db:5432/%C3%BC",
            "http://[2001:db8::1]/",
            "ui://widget/Clock.html",
        ] {
            assert_eq!(absolute_uri(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn relative_references_have_no_scheme() {
        for text in ["/etc/passwd", "notes.txt", "//host/path", "1a:b", "a b:c", "?x", "ü:x"] {
            assert_eq!(fault(text), UriFault::NoScheme, "{text}");
        }
        assert_eq!(fault(""), UriFault::Empty);
    }

    #[test]
    fn faults_say_where() {
        assert_eq!(
            fault("file:///my notes.txt"),
            UriFault::Character { position: 10, character: ' ' }
        );
        assert_eq!(fault("file:///grün"), UriFault::Character { position: 10, character: 'ü' });
        assert_eq!(fault("http://h/%zz"), UriFault::PercentEncoding { position: 9 });
        assert_eq!(fault("http://h/%4"), UriFault::PercentEncoding { position: 9 });
        assert_eq!(fault("http://[::g]/").position(), Some(10));
        assert_eq!(fault("c:\\windows"), UriFault::Character { position: 2, character: '\\' });
    }

    #[test]
    fn plain_uris_are_accepted_at_a_glance() {
        for text in [
            "file:///notes/today.txt",
            "https://example.com/a?b=c&d=/e?f",
            "https://example.com?x",
            "git+ssh://host",
            "urn:isbn:0451450523",
            "data:text/plain;base64,SGk=",
            "x:",
            "x://",
            "mailto:someone@example.com",
        ] {
            assert!(is_plain_uri(text.as_bytes()), "{text}");
            assert_eq!(absolute_uri(text), Ok(()), "{text}");
        }
        for text in [
            "",
            ":",
            "x",
            "1a:b",
            "/a:b",
            "http://h:80/",
            "http://u@h/",
            "http://[::1]/",
            "a:%20",
            "a:b#c",
            "a:b c",
            "a:ü",
            "a:\\b",
            "a:\"",
            "x://ü",
            "x://a^b/",
        ] {
            assert!(!is_plain_uri(text.as_bytes()), "{text}");
        }
    }

    /// The full check accepts every URI that counts as plain.
    #[test]
    fn what_is_plain_is_valid() {
        let alphabet = ['a', '1', ':', '/', '?', '#', '@', '%', '[', ' ', '+', '~', 'ü'];
        let base = alphabet.len();
        for number in 0..base.pow(3) {
            let digits = [number % base, number / base % base, number / base.pow(2)];
            let end: String = digits.map(|digit| alphabet[digit]).iter().collect();
            for start in ["", "x", "x:", "x:/", "x://", "x://a", "x://a/"] {
                let text = format!("{start}{end}");
                if is_plain_uri(text.as_bytes()) {
                    assert_eq!(absolute_uri(&text), Ok(()), "{text}");
                }
            }
        }
    }

    #[test]
    fn the_house_rule_wants_a_provider() {
        for text in [
            "resource://github/issues/1",
            "resource://github/",
            "resource://github",
            "resource://github?x=/y",
        ] {
            assert_eq!(provider_uri(text), Ok(()), "{text}");
        }
        for text in [
            "file:///x",
            "https://x",
            "resource://",
            "resource:///x",
            "resource://?x",
            "resource://#x",
            "resource:github/x",
        ] {
            assert_eq!(provider_uri(text), Err(UriFault::NotFromProvider), "{text}");
        }
    }
}
