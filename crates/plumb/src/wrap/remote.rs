//! Servers that the client reaches at a URL.

use mcp_json::Node;
use mcp_rules::redact::names_secret;

use super::{
    Proxy,
    edits::Edits,
    shape::{Entry, Wrapped, gap_before, is_next},
};

/// Members that have the same meaning for a server that is started as a process.
const NEUTRAL: [&str; 16] = [
    "url",
    "type",
    "alwaysAllow",
    "autoApprove",
    "description",
    "disabled",
    "disabledTools",
    "enabled",
    "excludeTools",
    "gallery",
    "headers",
    "includeTools",
    "name",
    "timeout",
    "trust",
    "version",
];

/// Makes the client start a proxy that connects to the URL, if no setting is lost by that.
pub(super) fn wrap(text: &[u8], entry: &Entry<'_>, proxy: &Proxy) -> Result<Edits, String> {
    let url = entry.url.ok_or("it has no `url`")?;
    if let Some(name) = entry.server.member_names().find(|name| !NEUTRAL.contains(&name.as_ref())) {
        return Err(format!("its `{name}` cannot be passed to the proxy"));
    }
    if let Some(headers) = entry.server.member("headers").ok().flatten()
        && !headers.value.is_empty()
    {
        return Err("it sends headers, and they must not stand in an argument list, \
                    where other users of the machine can read them"
            .to_owned());
    }
    check_url(&url.value.as_str().ok_or("its `url` is not a string")?)?;
    let mut edits = Edits::default();
    if let Some(kind) = entry.kind {
        if kind.value.raw() != b"\"http\"" {
            return Err("only `\"type\": \"http\"` is supported".to_owned());
        }
        let span = kind.value.span();
        edits.replace(span.start, span.end, "\"stdio\"");
    }
    if &text[url.key.start..url.key.end] != b"\"url\"" {
        return Err("the name of its `url` has escapes".to_owned());
    }
    let mut arguments = proxy.arguments();
    arguments.push(b"\"--upstream\"".to_vec());
    arguments.push(url.value.raw().to_vec());
    let arguments = arguments.join(&b", "[..]);
    let gap = gap_before(text, url.key.start);
    let (key, value) = (url.key, url.value.span());
    edits.replace(key.start, key.end, "\"command\"");
    let member =
        [proxy.command().as_slice(), b",", gap, b"\"args\": [ ", &arguments, b" ]"].concat();
    edits.replace(value.start, value.end, member);
    Ok(edits)
}

/// Makes the client connect to the URL itself again.
pub(super) fn undo(
    text: &[u8],
    entry: &Entry<'_>,
    wrapped: &Wrapped<'_>,
    url: Node<'_>,
) -> Result<Edits, String> {
    let (command, args) = (wrapped.command, wrapped.args);
    if !is_next(text, command.value.span(), args.key) {
        return Err("its `args` no longer follow its `command`; remove the proxy by hand".into());
    }
    let mut edits = Edits::default();
    edits.replace(command.key.start, command.key.end, "\"url\"");
    edits.replace(command.value.span().start, args.value.span().end, url.raw());
    if let Some(kind) = entry.kind.filter(|kind| kind.value.str_eq("stdio")) {
        let span = kind.value.span();
        edits.replace(span.start, span.end, "\"http\"");
    }
    Ok(edits)
}

/// Checks that the URL may appear on a command line, and that the proxy supports it.
fn check_url(url: &str) -> Result<(), String> {
    if url.contains("${") {
        return Err("its `url` contains a variable, which may hold a secret".to_owned());
    }
    let Some((_, rest)) = url.split_once("://").filter(|(scheme, _)| {
        ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
    }) else {
        return Err("its `url` is not an http or https URL".to_owned());
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    if authority.contains('@') {
        return Err("its `url` holds credentials, which must not appear on a command line".into());
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut names = query.split(['&', '#']).map(|pair| pair.split('=').next().unwrap_or_default());
    if let Some(name) = names.find(|name| names_secret(name)) {
        return Err(format!(
            "`{name}` in its `url` looks like a secret, which must not appear on a command line"
        ));
    }
    if path.trim_end_matches('/').ends_with("/sse") {
        return Err("its `url` looks like the HTTP+SSE transport of 2024-11-05".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_without_secrets_may_be_arguments() {
        for url in ["https://a.example/mcp", "HTTP://localhost:3000/mcp?x=1", "https://a.example"] {
            assert_eq!(check_url(url), Ok(()), "{url}");
        }
        for (url, word) in [
            ("https://user:pass@a.example/mcp", "credentials"),
            ("https://a.example/mcp?api_key=1", "`api_key`"),
            ("https://a.example/?x=1&token=2", "`token`"),
            ("https://a.example/${input:key}", "variable"),
            ("https://a.example/sse", "HTTP+SSE"),
            ("ws://a.example/mcp", "http or https"),
            ("/mcp", "http or https"),
        ] {
            assert!(check_url(url).unwrap_err().contains(word), "{url}");
        }
    }
}
