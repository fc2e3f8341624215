//! The severity of findings about authorization, and whom they blame.

use mcp_core::Side;
use mcp_rules::{Finding, RecordingInfo, Settings, Severity};

use crate::observe::observe;

fn findings(lines: &[String]) -> Vec<Finding> {
    observe(lines.join("\n").as_bytes(), Settings::default(), RecordingInfo::default())
}

/// A rejected `initialize`, with these headers.
fn refused(revision: &str, headers: &str) -> Vec<String> {
    vec![
        format!(
            r#"{{"from":"client","http":{{"exchange":1,"method":"POST","url":"/mcp","headers":{{"accept":"application/json, text/event-stream","content-type":"application/json"}}}},"msg":{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}}}"#
        ),
        format!(
            r#"{{"from":"server","http":{{"exchange":1,"status":401,"headers":{{{headers}}}}}}}"#
        ),
    ]
}

/// A fetched document.
fn fetched(exchange: u64, url: &str, document: &serde_json::Value) -> Vec<String> {
    let body = serde_json::Value::String(document.to_string());
    vec![
        format!(
            r#"{{"from":"client","http":{{"exchange":{exchange},"method":"GET","url":"{url}","headers":{{}}}}}}"#
        ),
        format!(
            r#"{{"from":"server","http":{{"exchange":{exchange},"status":200,"headers":{{"content-type":"application/json"}},"body":{body}}}}}"#
        ),
    ]
}

#[test]
fn only_one_revision_demands_the_challenge() {
    for (revision, severity) in [
        ("2025-03-26", Severity::Warning),
        ("2025-06-18", Severity::Error),
        ("2025-11-25", Severity::Warning),
    ] {
        let found = findings(&refused(revision, ""));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].rule.name, "auth-www-authenticate-missing");
        assert_eq!(
            (found[0].severity, found[0].line, found[0].at_fault),
            (severity, Some(2), Some(Side::Server))
        );
    }
}

#[test]
fn a_refusal_that_says_nothing_of_a_revision_is_only_warned_of() {
    let lines = [
        r#"{"from":"client","http":{"exchange":1,"method":"GET","url":"/mcp","headers":{"accept":"text/event-stream"}}}"#.to_owned(),
        r#"{"from":"server","http":{"exchange":1,"status":401,"headers":{"x":"y"}}}"#.to_owned(),
    ];
    let found = findings(&lines);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].severity, Severity::Warning);
}

#[test]
fn an_authorization_server_on_this_machine_may_do_without_https() {
    for (host, severity) in
        [("localhost:9000", Severity::Warning), ("auth.example.com", Severity::Error)]
    {
        let mut lines = refused("2025-06-18", r#""www-authenticate":"Bearer resource_metadata=x""#);
        let url = format!("http://{host}/.well-known/oauth-authorization-server");
        let token = format!("http://{host}/token");
        let document = serde_json::json!({"issuer": "x", "token_endpoint": token, "issuer_uri": 7});
        lines.extend(fetched(2, &url, &document));
        let found = findings(&lines);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].rule.name, "auth-endpoint-not-https");
        assert_eq!((found[0].severity, found[0].line), (severity, Some(4)));
    }
}

#[test]
fn documents_of_any_shape_are_read() {
    for document in [
        serde_json::json!([]),
        serde_json::json!({"issuer": 7, "token_endpoint": [], "code_challenge_methods_supported": {}}),
        serde_json::json!({"authorization_servers": "x", "scopes_supported": 7}),
        serde_json::json!({"authorization_servers": [7, null]}),
    ] {
        for path in ["oauth-protected-resource", "openid-configuration"] {
            let mut lines = refused("2025-11-25", r#""www-authenticate":"Basic realm=x""#);
            lines.extend(fetched(2, &format!("https://example.com/.well-known/{path}"), &document));
            for finding in findings(&lines) {
                assert_eq!(finding.rule.name, "auth-prm-no-servers", "{finding:?}");
            }
        }
    }
}

#[test]
fn other_places_are_not_judged_as_endpoints() {
    let mut lines = refused("2025-11-25", r#""www-authenticate":"Basic realm=x""#);
    for (exchange, method) in [(2, "GET"), (3, "POST"), (4, "DELETE")] {
        lines.push(format!(r#"{{"from":"client","http":{{"exchange":{exchange},"method":"{method}","url":"https://api.example.com/v1?access_token=x","headers":{{"content-type":"application/json"}},"body":"{{\"a\":1}}"}}}}"#));
        lines.push(format!(r#"{{"from":"server","http":{{"exchange":{exchange},"status":401,"headers":{{"content-type":"application/json"}},"body":"{{\"b\":2}}"}}}}"#));
    }
    assert!(findings(&lines).is_empty(), "{:?}", findings(&lines));
}
