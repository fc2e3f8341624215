//! The sources of schemas that replace an embedded one, and reading their bytes.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use mcp_core::{Revision, UnknownRevision};

use crate::percent::decoded;

/// A file or a URL that holds a schema document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Source {
    File(PathBuf),
    /// `http:` or `https:`; needs the feature `http`.
    Url(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) => path.display().fmt(f),
            Source::Url(url) => f.write_str(url),
        }
    }
}

/// Where the schema of a revision comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Embedded in this crate.
    Embedded,
    /// Given by the user.
    Override(Source),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Embedded => f.write_str("embedded"),
            Origin::Override(source) => source.fmt(f),
        }
    }
}

/// The value of `--schema [REVISION=]PATH|URL`. A `file:` URL is just another way to write a path;
/// its host is empty or `localhost`.
///
/// ```
/// use mcp_core::Revision;
/// use mcp_schema::{Override, Source};
///
/// let given: Override = "2025-11-25=schemas/mine.json".parse()?;
/// assert_eq!(given.revision, Some(Revision::V2025_11_25));
/// assert_eq!(given.source, Source::File("schemas/mine.json".into()));
/// # Ok::<(), mcp_schema::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The revision it is for, if the user named one.
    pub revision: Option<Revision>,
    /// The location of the document.
    pub source: Source,
}

impl FromStr for Override {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let (revision, source) = match text.split_once('=') {
            Some((prefix, source)) if looks_like_a_date(prefix) => {
                let revision = prefix.parse().map_err(SourceError::UnknownRevision)?;
                (Some(revision), source)
            }
            _ => (None, text),
        };
        if source.is_empty() {
            return Err(SourceError::Empty);
        }
        let Some((scheme, rest)) = source.split_once("://") else {
            return Ok(Override { revision, source: Source::File(source.into()) });
        };
        let source = match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => Source::Url(source.to_owned()),
            "file" => Source::File(file_of_url(source, rest)?),
            scheme if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                return Err(SourceError::UnsupportedScheme { scheme: scheme.to_owned() });
            }
            _ => Source::File(source.into()),
        };
        Ok(Override { revision, source })
    }
}

/// The path in the `file:` URL `url`; `rest` is what follows its `//`.
fn file_of_url(url: &str, rest: &str) -> Result<PathBuf, SourceError> {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return Err(SourceError::FileHost { url: url.to_owned(), host: host.to_owned() });
    }
    let invalid = |reason| SourceError::FileUrl { url: url.to_owned(), reason };
    if path.len() < 2 {
        return Err(invalid("no path follows the host"));
    }
    if path.contains(['?', '#']) {
        return Err(invalid("in a path `?` is written %3F and `#` is written %23"));
    }
    let bytes = decoded(path).ok_or(invalid("a `%` has no two hexadecimal digits"))?;
    path_of_bytes(&bytes).ok_or(invalid("the path is not text"))
}

/// Unix paths may be arbitrary bytes.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path is text")]
fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

/// Turns `/C:/folder` into `C:/folder`.
#[cfg(not(unix))]
fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    let path = std::str::from_utf8(bytes).ok()?;
    let has_drive =
        matches!(path.as_bytes(), [b'/', drive, b':', ..] if drive.is_ascii_alphabetic());
    Some(if has_drive { &path[1..] } else { path }.into())
}

fn looks_like_a_date(text: &str) -> bool {
    text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Limits for loading a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// Maximum size of the document in bytes.
    pub max_bytes: usize,
    /// Timeout of the whole download.
    pub timeout: Duration,
    /// Maximum number of redirects.
    pub max_redirects: u32,
}

impl Default for SourceLimits {
    fn default() -> Self {
        SourceLimits { max_bytes: 8 << 20, timeout: Duration::from_secs(10), max_redirects: 3 }
    }
}

/// Why a schema could not be loaded from a source.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum SourceError {
    #[error("no file or URL is given after `=`")]
    Empty,
    #[error("`{scheme}:` URLs cannot be loaded; use http, https or a file")]
    UnsupportedScheme { scheme: String },
    #[error(
        "{url} names a file of the host `{host}`, and only files of this one can be read; a local path follows three slashes: file:///folder/schema.json"
    )]
    FileHost { url: String, host: String },
    #[error("{url} is not a valid file URL: {reason}")]
    FileUrl { url: String, reason: &'static str },
    #[error(transparent)]
    UnknownRevision(UnknownRevision),
    #[error("cannot read {source_name}")]
    Read {
        source_name: Source,
        #[source]
        cause: io::Error,
    },
    #[error("cannot download {source_name}: {reason}; save it to a file and name that instead")]
    Download { source_name: Source, reason: String },
    #[error("{source_name} answers with HTTP status {status}")]
    Status { source_name: Source, status: u16 },
    #[error("{source_name} redirects more than {limit} times; name the final address")]
    Redirects { source_name: Source, limit: u32 },
    #[error("{source_name} did not arrive within {limit:?}")]
    Timeout { source_name: Source, limit: Duration },
    #[error(
        "this build cannot load {source_name}: it has no HTTP support (feature `http`, in mcp-sdk `schema-http`); save it to a file"
    )]
    NoHttp { source_name: Source },
    #[error("{source_name} is larger than the limit of {limit} bytes")]
    TooLarge { source_name: Source, limit: usize },
    #[error("{source_name} is not JSON")]
    NotJson {
        source_name: Source,
        #[source]
        cause: serde_json::Error,
    },
    #[error(
        "{source_name} is not a schema document of MCP: it has neither `$defs` nor `definitions`"
    )]
    NotSchema { source_name: Source },
    #[error("{source_name} has an unknown `$schema`: {dialect}")]
    UnknownDialect { source_name: Source, dialect: String },
    #[error(
        "cannot tell which revision {source_name} is for; specify it as REVISION={source_name}, for example {latest}={source_name}",
        latest = Revision::LATEST
    )]
    RevisionUnclear { source_name: Source },
    #[error("{source_name} has none of the definitions of {revision}; is it for another revision?")]
    NoDefinitions { source_name: Source, revision: Revision },
    #[error("{source_name} does not compile: {reason} at {pointer}")]
    DoesNotCompile { source_name: Source, pointer: String, reason: String },
}

impl Source {
    /// Reads the bytes, within `limits`.
    pub(crate) fn read(&self, limits: &SourceLimits) -> Result<Vec<u8>, SourceError> {
        match self {
            Source::File(path) => {
                let failed = |cause| SourceError::Read { source_name: self.clone(), cause };
                let file = File::open(path).map_err(failed)?;
                let mut bytes = Vec::new();
                file.take(limits.max_bytes as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
                if bytes.len() > limits.max_bytes {
                    return Err(self.too_large(limits));
                }
                Ok(bytes)
            }
            Source::Url(url) => self.download(url, limits),
        }
    }

    fn too_large(&self, limits: &SourceLimits) -> SourceError {
        SourceError::TooLarge { source_name: self.clone(), limit: limits.max_bytes }
    }

    #[cfg(not(feature = "http"))]
    fn download(&self, _url: &str, _limits: &SourceLimits) -> Result<Vec<u8>, SourceError> {
        Err(SourceError::NoHttp { source_name: self.clone() })
    }

    #[cfg(feature = "http")]
    fn download(&self, url: &str, limits: &SourceLimits) -> Result<Vec<u8>, SourceError> {
        let source_name = || self.clone();
        let explain = |error: ureq::Error| match error {
            ureq::Error::StatusCode(status) => {
                SourceError::Status { source_name: source_name(), status }
            }
            ureq::Error::Timeout(_) => {
                SourceError::Timeout { source_name: source_name(), limit: limits.timeout }
            }
            ureq::Error::TooManyRedirects => {
                SourceError::Redirects { source_name: source_name(), limit: limits.max_redirects }
            }
            ureq::Error::BodyExceedsLimit(_) => self.too_large(limits),
            other => {
                SourceError::Download { source_name: source_name(), reason: other.to_string() }
            }
        };
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(limits.timeout))
            .max_redirects(limits.max_redirects)
            .max_redirects_will_error(true)
            .build()
            .into();
        let mut response = agent
            .get(url)
            .header("accept", "application/schema+json, application/json")
            .call()
            .map_err(explain)?;
        // One byte more than allowed distinguishes "at the limit" from "over the limit".
        let limit = limits.max_bytes as u64 + 1;
        let body = response.body_mut().with_config().limit(limit).read_to_vec().map_err(explain)?;
        if body.len() > limits.max_bytes {
            return Err(self.too_large(limits));
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Override, SourceError> {
        text.parse()
    }

    #[test]
    fn paths_and_urls_are_told_apart() {
        let given = parse("https://example.com/schema/2025-11-25/schema.json?a=b").unwrap();
        assert_eq!(given.revision, None);
        assert!(matches!(given.source, Source::Url(_)));
        assert_eq!(parse("a=b.json").unwrap().source, Source::File("a=b.json".into()));
        let given = parse("2026-07-28=http://localhost/x").unwrap();
        assert_eq!(given.revision, Some(Revision::V2026_07_28));
        assert_eq!(given.source, Source::Url("http://localhost/x".into()));
    }

    #[test]
    fn file_urls_are_paths() {
        let path = |text: &str| match parse(text).unwrap().source {
            Source::File(path) => path,
            Source::Url(url) => panic!("{url}"),
        };
        assert_eq!(path("file:///etc/mcp.json"), PathBuf::from("/etc/mcp.json"));
        assert_eq!(path("file://localhost/etc/mcp.json"), PathBuf::from("/etc/mcp.json"));
        assert_eq!(
            path("FILE://LocalHost/a%20b%3F/%C3%BC%23.json"),
            PathBuf::from("/a b?/ü#.json")
        );
        let given = parse("2025-06-18=file:///x/a=b.json").unwrap();
        assert_eq!(given.revision, Some(Revision::V2025_06_18));
        assert_eq!(given.source, Source::File("/x/a=b.json".into()));
    }

    #[test]
    fn file_urls_of_other_hosts_and_without_a_path_are_refused() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert!(message("file://server/share/x.json").contains("of the host `server`"));
        assert!(message("file://schema.json").contains("three slashes"));
        assert!(message("file://").contains("no path"));
        assert!(message("file:///").contains("no path"));
        assert!(message("file:///a%2").contains("hexadecimal"));
        assert!(message("file:///a#b").contains("%23"));
    }

    #[test]
    fn nonsense_is_refused_with_advice() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert!(message("2025-11-24=x.json").contains("known revisions: 2024-11-05"));
        assert!(message("ftp://example.com/x").contains("use http, https or a file"));
        assert!(message("2025-11-25=").contains("no file or URL"));
    }
}
