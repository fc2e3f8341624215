use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    format::web_origin::WebOrigin,
    http::url::{self, Url},
};

/// The target of a request: path and query, and the origin if the recording has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Target {
    origin: Option<Box<str>>,
    path: Box<str>,
    /// Empty if there is none.
    query: Box<str>,
}

impl Target {
    /// Parses a URL, or just its path.
    pub(super) fn read(url: &str) -> Target {
        let url = Url::parse(url);
        let origin = url.origin();
        let path = if url.path.is_empty() && origin.is_some() { "/" } else { url.path };
        Target { origin: origin.map(Into::into), path: path.into(), query: url.query.into() }
    }

    /// Resolves `reference` against this URL (RFC 3986 §5.2).
    pub(super) fn resolve(&self, reference: &str) -> Target {
        let mut target = Target::read(reference);
        if target.origin.is_some() {
            return target;
        }
        target.origin.clone_from(&self.origin);
        if target.path.is_empty() {
            target.path.clone_from(&self.path);
            if target.query.is_empty() {
                target.query.clone_from(&self.query);
            }
        } else if !target.path.starts_with('/') {
            let folder = self.path.rfind('/').map_or("/", |slash| &self.path[..=slash]);
            target.path = without_dots(&format!("{folder}{}", target.path)).into();
        }
        target
    }

    /// Whether both are the same, as far as both are known.
    pub(super) fn matches(&self, other: &Target) -> bool {
        let same_origin = match (&self.origin, &other.origin) {
            (Some(one), Some(two)) => one == two || WebOrigin::parse(one) == WebOrigin::parse(two),
            _ => true,
        };
        // Libraries differ in what they escape.
        same_origin
            && url::decode(&self.path) == url::decode(&other.path)
            && url::decode(&self.query) == url::decode(&other.query)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin.as_deref().unwrap_or_default(), self.path)?;
        if self.query.is_empty() { Ok(()) } else { write!(f, "?{}", self.query) }
    }
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            ".." => {
                kept.pop();
            }
            "." => {}
            _ => kept.push(segment),
        }
        if is_last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, reference: &str, expected: &str) {
        assert_eq!(Target::read(base).resolve(reference).to_string(), expected);
    }

    #[test]
    fn references_are_resolved_like_links() {
        check("/sse", "/messages?s=1", "/messages?s=1");
        check("/mcp/sse?x=1", "messages?s=1", "/mcp/messages?s=1");
        check("/mcp/sse", "?s=1", "/mcp/sse?s=1");
        check("/a/b/c", "../m", "/a/m");
        check("/a/b/c", "./..", "/a/");
        check("/sse", "../../m", "/m");
        check("http://h:1/sse", "/m", "http://h:1/m");
        check("http://h:1", "m", "http://h:1/m");
        check("/sse", "https://h/m?next=http://x/", "https://h/m?next=http://x/");
        check("/sse", "/m?next=http://x/", "/m?next=http://x/");
    }

    #[test]
    fn only_what_both_say_is_compared() {
        let same = |one: &str, two: &str| Target::read(one).matches(&Target::read(two));
        assert!(same("http://H:80/m?s=1", "http://h/m?s=1"));
        assert!(same("http://h/m?s=1", "/m?s=1"));
        assert!(same("/m?s=a%2Fb", "/m?s=a/b"));
        assert!(!same("http://h/m", "http://g/m"));
        assert!(!same("/m?s=1", "/m"));
        assert!(!same("/m?s=1", "/m?s=2"));
        assert!(!same("/%zz", "/%zy"));
    }
}
