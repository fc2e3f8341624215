//! Profiles named after other validators, run by `plumb check --profile`. Every case is a test of
//! `mcp-rules`; these show that the command agrees.

use super::Place;

#[track_caller]
fn check(profile: &str, message: &str, refused_by: &[&str]) {
    let args = ["check", "--profile", profile, "--format", "json"];
    let run = Place::new().run_with_input(&args, message);
    let findings: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert_eq!(errors, refused_by, "{message}");
    run.exits(i32::from(!refused_by.is_empty()));
}

#[test]
fn erlmcp() {
    let request = |name: &str| format!(r#"{{"jsonrpc":"2.0","id":null,"method":"{name}"}}"#);
    let error = |code: i64| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#)
    };
    for name in ["logging/set_level", "sampling/create_message", "tasks/create", "ping"] {
        check("erlmcp", &request(name), &[]);
    }
    for name in ["tools/execute", "tasks/update", "unknown/method"] {
        check("erlmcp", &request(name), &["method-unknown"]);
    }
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/resourcesupdated"}"#;
    check("erlmcp", notification, &[]);
    check("erlmcp", r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, &[]);
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    check("erlmcp", batch, &["batch-not-supported"]);
    check("erlmcp", &error(1089), &[]);
    for code in [0, 9999, -32599] {
        check("erlmcp", &error(code), &["error-code-not-permitted"]);
    }
}

#[test]
fn base_stack() {
    for message in [
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/execute","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/execute"}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/execute"}]"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"resource://github"}}"#,
    ] {
        check("base-stack", message, &[]);
    }
    check(
        "base-stack",
        r#"{"jsonrpc":"1.0","method":"","id":2,"params":7}"#,
        &["jsonrpc-version-invalid", "method-empty", "params-not-object"],
    );
    let nobodys = r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}"#;
    check("base-stack", nobodys, &["error-missing-id"]);
    let elsewhere =
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"https://x"}}"#;
    check("base-stack", elsewhere, &["resource-uri-provider"]);
}
