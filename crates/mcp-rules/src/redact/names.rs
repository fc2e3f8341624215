//! Names of members, headers and parameters whose values are secrets.

use crate::format::secret;

/// Last words of names of credentials, in addition to those that a form must not ask for.
const CREDENTIALS: [&str; 13] = [
    "assertion",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "jwt",
    "otp",
    "signature",
    "token",
    "totp",
    "verifier",
];

/// Words before `token` that mean something other than a secret.
const OTHER_TOKENS: [&str; 10] = [
    "cancel",
    "cancellation",
    "continuation",
    "cursor",
    "max",
    "next",
    "page",
    "previous",
    "progress",
    "sync",
];

/// Parameters of URLs and forms that are secrets there, though not everywhere.
const PARAMETERS: [&str; 5] = ["code", "sessionid", "session_id", "session-id", "sig"];

/// Headers whose value, or a part of it, is a secret.
const HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "x-api-key", "mcp-session-id"];

/// The prefix of headers that repeat an argument.
const PARAM_PREFIX: &str = "mcp-param-";

/// Whether `name` (`apiKey`, `GITHUB_TOKEN`, `Set-Cookie`) indicates that its value is a secret,
/// judging by its last words. `progressToken` and the like do not.
pub fn names_secret(name: &str) -> bool {
    if secret::names_secret(name) {
        return true;
    }
    let Some((before, last)) = secret::split_last_word(name) else { return false };
    if last.eq_ignore_ascii_case("token") {
        let word = secret::split_last_word(before).map_or("", |(_, word)| word);
        return !OTHER_TOKENS.iter().any(|other| word.eq_ignore_ascii_case(other));
    }
    CREDENTIALS.iter().any(|known| last.eq_ignore_ascii_case(known))
}

/// Whether a parameter of a URL or form is a secret.
pub(super) fn is_secret_parameter(name: &str) -> bool {
    names_secret(name) || PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// How the value of a header is to be masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderKind {
    /// All of it, except for the name of a scheme.
    Secret,
    /// An argument, possibly encoded.
    Parameter,
    /// The value of every pair.
    Cookies,
    /// The value of the first pair.
    SetCookie,
    /// A URL that may have secrets in its query.
    Url,
}

impl HeaderKind {
    /// How to mask a header; `None` if it is not secret.
    pub(super) fn of(name: &str) -> Option<HeaderKind> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("cookie") {
            return Some(HeaderKind::Cookies);
        }
        if is("set-cookie") {
            return Some(HeaderKind::SetCookie);
        }
        if is("location") || is("referer") {
            return Some(HeaderKind::Url);
        }
        if HeaderKind::is_parameter(name) {
            return names_secret(&name[PARAM_PREFIX.len()..]).then_some(HeaderKind::Parameter);
        }
        (HEADERS.iter().any(|known| is(known)) || names_secret(name)).then_some(HeaderKind::Secret)
    }

    /// How to mask a header that the user named.
    pub(super) fn of_named(name: &str) -> HeaderKind {
        match HeaderKind::of(name) {
            Some(kind) => kind,
            None if HeaderKind::is_parameter(name) => HeaderKind::Parameter,
            None => HeaderKind::Secret,
        }
    }

    pub(super) fn is_parameter(name: &str) -> bool {
        name.get(..PARAM_PREFIX.len()).is_some_and(|it| it.eq_ignore_ascii_case(PARAM_PREFIX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_secret() {
        for name in [
            "password",
            "apiKey",
            "token",
            "GITHUB_TOKEN",
            "x-auth-token",
            "authorization",
            "Set-Cookie",
            "refresh_token",
            "credentials",
            "code_verifier",
            "client_assertion",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "",
            "progressToken",
            "progress_token",
            "nextPageToken",
            "maxTokens",
            "tokens",
            "name",
            "code",
            "uri",
            "token_endpoint",
            "tokenType",
            "cursor",
            "id",
            "key",
        ] {
            assert!(!names_secret(name), "{name}");
        }
        assert!(is_secret_parameter("code") && is_secret_parameter("sessionId"));
        assert!(!is_secret_parameter("code_challenge"));
    }

    #[test]
    fn headers_have_their_ways() {
        assert_eq!(HeaderKind::of("AUTHORIZATION"), Some(HeaderKind::Secret));
        assert_eq!(HeaderKind::of("Mcp-Session-Id"), Some(HeaderKind::Secret));
        assert_eq!(HeaderKind::of("Mcp-Param-Api-Key"), Some(HeaderKind::Parameter));
        assert_eq!(HeaderKind::of("Mcp-Param-Region"), None);
        assert_eq!(HeaderKind::of_named("Mcp-Param-Region"), HeaderKind::Parameter);
        assert_eq!(HeaderKind::of("cookie"), Some(HeaderKind::Cookies));
        assert_eq!(HeaderKind::of("Content-Type"), None);
        assert_eq!(HeaderKind::of("Mcp-Paramé"), None);
    }
}
