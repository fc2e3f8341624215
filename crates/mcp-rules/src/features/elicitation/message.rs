//! Elicitation: forms and URLs that a server presents to the user.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_schema::{UriFault, Violation};
use serde_json::json;

use crate::{Findings, Level, findings::Fault, format::secret};

const WITH_URLS: Revisions = Revisions::from(Revision::V2025_11_25);
const WITH_FORMS: Revisions = Revisions::from(Revision::V2025_06_18);

/// Maximum characters shown of an unknown mode.
const LONGEST_SHOWN: usize = 40;
/// The allowed values of `mode`.
const MODES: [&str; 2] = ["form", "url"];

rules! {
    SCHEMA_UNSUPPORTED: "elicitation-schema-unsupported", Schema, Level::Error, WITH_FORMS, "client/elicitation#requested-schema";
    URL_INVALID: "elicitation-url-invalid", Schema, Level::Error, WITH_URLS, "client/elicitation#url-mode-elicitation-requests";
    URL_NOT_HTTPS: "elicitation-url-not-https", Schema, Level::Warning, WITH_URLS, "client/elicitation#safe-url-handling";
    URL_USERINFO: "elicitation-url-userinfo", Schema, Level::Warning, WITH_URLS, "client/elicitation#safe-url-handling";
    SENSITIVE_FORM: "elicitation-sensitive-form", Schema, Level::Warning, WITH_FORMS, "client/elicitation#user-interaction-model";
}

/// Checks the params of `elicitation/create`, also inside an input request.
pub(crate) fn check_request(params: Node<'_>, findings: &mut Findings<'_>) {
    if WITH_URLS.contains(findings.revision()) && is_url_mode(params) {
        if let Some(url) = params.get("url") {
            check_url(url, findings);
        }
        return;
    }
    let fields = params.get("requestedSchema").and_then(|schema| schema.get("properties"));
    for (name, field) in fields.into_iter().flat_map(Node::members) {
        check_field(name, field, findings);
    }
}

/// Whether the params use URL mode; without `mode` they are a form.
pub(crate) fn is_url_mode(params: Node<'_>) -> bool {
    params.get("mode").is_some_and(|mode| mode.str_eq("url"))
}

/// Keeps only the violation about an unknown mode, as the rest cannot be judged.
pub(crate) fn explain_mode(params: Node<'_>, violations: &mut Vec<Violation>) {
    let Some(mode) = params.get("mode").and_then(Node::as_str) else { return };
    let of_mode = |violation: &Violation| violation.instance_path == "/mode";
    if !violations.iter().any(of_mode) {
        return;
    }
    violations.retain(of_mode);
    violations.truncate(1);
    for violation in violations {
        let shown: String = mode.chars().take(LONGEST_SHOWN).collect();
        violation.message = format!("the mode {shown:?} of the elicitation is unknown");
        violation.keyword = "enum".into();
        let near = mcp_schema::nearest(&mode, MODES);
        violation.params = json!({"allowedValues": MODES});
        if let (Some(near), Some(params)) = (near, violation.params.as_object_mut()) {
            params.insert("didYouMean".into(), near.into());
        }
    }
}

/// Checks the `data` of error −32042.
pub(crate) fn check_error_data(data: Node<'_>, findings: &mut Findings<'_>) {
    for entry in data.get("elicitations").into_iter().flat_map(Node::elements) {
        if let Some(url) = entry.get("url") {
            check_url(url, findings);
        }
    }
}

fn check_url(url: Node<'_>, findings: &mut Findings<'_>) {
    let Some(text) = url.as_str() else { return };
    match mcp_schema::absolute_uri(&text) {
        // Browsers accept non-ASCII characters in a URL, unlike RFC 3986.
        Err(UriFault::Character { character, .. }) if !character.is_ascii() => {}
        Err(fault) => return report_invalid(url, &fault.to_string(), findings),
        Ok(()) => {}
    }
    let address = Address::of(&text);
    let web =
        ["https", "http"].into_iter().any(|scheme| address.scheme.eq_ignore_ascii_case(scheme));
    if web && address.host.is_empty() {
        return report_invalid(url, "the URL has no host", findings);
    }
    if !address.scheme.eq_ignore_ascii_case("https") && !is_loopback(address.host) {
        findings.report(
            Fault::new(&URL_NOT_HTTPS, "the URL is not `https`")
                .at(url.span())
                .help("serve the page over TLS: users type secrets into it"),
        );
    }
    if address.has_user {
        findings.report(
            Fault::new(&URL_USERINFO, "the URL carries a user name or password")
                .at(url.span())
                .help("let the page identify the user; the URL alone must not be enough to act for them"),
        );
    }
}

#[cold]
fn report_invalid(url: Node<'_>, message: &str, findings: &mut Findings<'_>) {
    findings.report(
        Fault::new(&URL_INVALID, message)
            .at(url.span())
            .help("send the full address, such as `https://example.com/sign-in`"),
    );
}

/// The parts of an absolute URI that matter here.
#[derive(Debug, PartialEq, Eq)]
struct Address<'t> {
    scheme: &'t str,
    has_user: bool,
    /// Without port; empty if there is no authority.
    host: &'t str,
}

impl Address<'_> {
    fn of(uri: &str) -> Address<'_> {
        let (scheme, rest) = uri.split_once(':').unwrap_or((uri, ""));
        let authority = rest.strip_prefix("//").unwrap_or_default();
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let host = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        Address { scheme, has_user: user.is_some(), host }
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || host == "[::1]"
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Checks one field of a form. A boolean cannot carry a secret.
fn check_field(name: Node<'_>, field: Node<'_>, findings: &mut Findings<'_>) {
    if field.get("type").is_some_and(|kind| kind.str_eq("boolean")) {
        return;
    }
    let asks_for_secret =
        |node: &Node<'_>| node.as_str().is_some_and(|text| secret::names_secret(&text));
    let guilty =
        Some(name).filter(asks_for_secret).or_else(|| field.get("title").filter(asks_for_secret));
    if let Some(guilty) = guilty {
        let help = if WITH_URLS.contains(findings.revision()) {
            "ask for it on a page of your own: use the URL mode"
        } else {
            "a form must not ask for secrets"
        };
        findings.report(
            Fault::new(&SENSITIVE_FORM, "the form asks for what looks like a secret")
                .at(guilty.span())
                .help(help),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, scheme: &str, has_user: bool, host: &str) {
        assert_eq!(Address::of(uri), Address { scheme, has_user, host }, "{uri}");
    }

    #[test]
    fn addresses_fall_into_parts() {
        check("https://example.com/@demo?mail=me@example.com", "https", false, "example.com");
        check("https://demo:pw@example.com:8443/x", "https", true, "example.com");
        check("http://[::1]:3000/", "http", false, "[::1]");
        check("http://[::1]", "http", false, "[::1]");
        check("https:///path", "https", false, "");
        check("mailto:me@example.com", "mailto", false, "");
    }

    #[test]
    fn loopback_hosts_are_names_and_addresses() {
        for host in ["localhost", "LOCALHOST", "app.localhost", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "example.com", "localhost.example.com", "128.0.0.1", "[::2]"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
