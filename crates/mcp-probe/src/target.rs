//! The target of a test.

use std::{ffi::OsString, fmt, path::PathBuf};

use http::{HeaderMap, Uri};

use crate::wire::WireKind;

/// The server under test, and how to reach it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Target {
    /// A stdio server, started for each conversation.
    Command(Launch),
    /// A server at an `http` or `https` URL.
    Http {
        /// Its endpoint.
        url: Uri,
        /// Headers sent with every request, and not recorded, such as credentials.
        headers: HeaderMap,
    },
    /// A server at a `ws` or `wss` URL.
    WebSocket {
        /// Its endpoint.
        url: String,
        /// Headers sent when connecting, and not recorded.
        headers: HeaderMap,
    },
}

/// How to start a program; no shell is involved.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct Launch {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables added to the environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working directory, if not ours.
    pub directory: Option<PathBuf>,
}

/// The URL cannot be tested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an http, https, ws or wss URL")]
pub struct TargetError(String);

impl Target {
    /// The server at `url`.
    ///
    /// # Errors
    ///
    /// If the URL or its scheme is invalid.
    pub fn url(url: &str, headers: HeaderMap) -> Result<Target, TargetError> {
        let refused = || TargetError(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| refused())?;
        match uri.scheme_str() {
            _ if uri.authority().is_none() => Err(refused()),
            Some("http" | "https") => Ok(Target::Http { url: uri, headers }),
            Some("ws" | "wss") => Ok(Target::WebSocket { url: url.to_owned(), headers }),
            _ => Err(refused()),
        }
    }

    /// The transport.
    pub fn wire(&self) -> WireKind {
        match self {
            Target::Command(_) => WireKind::Stdio,
            Target::Http { .. } => WireKind::Http,
            Target::WebSocket { .. } => WireKind::WebSocket,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Command(launch) => {
                f.write_str(&launch.program.to_string_lossy())?;
                launch
                    .arguments
                    .iter()
                    .try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
            }
            Target::Http { url, .. } => url.fmt(f),
            Target::WebSocket { url, .. } => f.write_str(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_say_how_messages_travel() {
        let wire = |url| Target::url(url, HeaderMap::new()).map(|target| target.wire());
        assert_eq!(wire("http://127.0.0.1:1/mcp"), Ok(WireKind::Http));
        assert_eq!(wire("wss://example.com/"), Ok(WireKind::WebSocket));
        assert!(wire("ftp://example.com/").is_err());
        assert!(wire("/mcp").is_err());
    }
}
