//! Reads files with tokens, headers, certificates and keys.

use std::{fs::File, io::Read as _, path::Path, sync::Arc};

use http::{HeaderName, HeaderValue};

use crate::{failure::Failure, text::shown_path};

/// Maximum size of such a file.
const LONGEST: u64 = 1 << 20;

/// Reads a file; `what` names its content in errors.
pub(super) fn read(path: &Path, what: &str) -> anyhow::Result<Vec<u8>> {
    let failed = || Failure::new(format!("could not read the {what} in {}", shown_path(path)));
    let mut content = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut content))
        .map_err(|error| failed().because(error))?;
    if content.len() as u64 > LONGEST {
        return Err(failed().hint("it is longer than 1 MiB").into());
    }
    Ok(content)
}

/// Reads a token from a file.
pub(super) fn token(path: &Path) -> anyhow::Result<Arc<str>> {
    let content = read(path, "token")?;
    let token = content.trim_ascii();
    match std::str::from_utf8(token) {
        Ok(text) if !token.is_empty() && token.iter().all(u8::is_ascii_graphic) => Ok(text.into()),
        _ => Err(Failure::new(format!("{} does not contain a token", shown_path(path)))
            .hint("write one line of letters, digits and punctuation to it")
            .into()),
    }
}

/// Reads headers from a file, one `Name: value` per line. Blank lines and lines that begin with `#`
/// are ignored.
pub(super) fn headers(path: &Path) -> anyhow::Result<Vec<(HeaderName, HeaderValue)>> {
    let content = read(path, "headers")?;
    let mut headers = Vec::new();
    for (number, line) in (1..).zip(content.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        // The error does not repeat the line, which may be a secret.
        let header = header(line).ok_or_else(|| {
            Failure::new(format!("line {number} of {} is not a header", shown_path(path)))
                .hint("write `Name: value`")
        })?;
        headers.push(header);
    }
    Ok(headers)
}

fn header(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?.trim_ascii());
    let name = HeaderName::from_bytes(name.trim_ascii()).ok()?;
    Some((name, HeaderValue::from_bytes(value).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines() {
        let read = |text: &str| {
            header(text.as_bytes())
                .map(|(name, value)| format!("{name}={}", value.to_str().unwrap()))
        };
        assert_eq!(read("X-Key:  a: b "), Some("x-key=a: b".to_owned()));
        for text in ["", "x", ": a", "a b: c"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
