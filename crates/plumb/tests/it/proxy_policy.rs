//! What a proxy does about what it finds, as plumb.toml says.

use std::fs;

use crate::{
    Place,
    proxy::{answering, through},
};

/// Breaks `params-invalid`.
const BAD: &str = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":null}}"#;

/// What reaches the server, and what is reported.
fn sent(settings: &str, args: &[&str], input: &str) -> (String, String) {
    let place = Place::new().file("plumb.toml", settings);
    let options = [&["proxy", "--format", "json"], args].concat();
    let args = [&options[..], &["--", "sh", "-c", "cat > received"]].concat();
    let (code, _, errors) = through(&place, &args, format!("{input}\n").as_bytes());
    assert_eq!(code, Some(0), "{errors}");
    (fs::read_to_string(place.0.path().join("received")).unwrap(), errors)
}

#[test]
fn a_level_decides_whether_a_message_passes_and_whether_it_is_reported() {
    let bad = format!("{BAD}\n");
    for (settings, args, received, reported) in [
        ("", &[][..], &*bad, true),
        ("", &["--enforce"], "", true),
        ("", &["--enforce=client"], "", true),
        ("", &["--enforce=server"], &bad, true),
        ("proxy.enforce = true", &[], "", true),
        ("proxy.enforce = true", &["--enforce=none"], &bad, true),
        ("proxy.rules.params-invalid = 'warn'", &["--enforce"], &bad, true),
        ("proxy.rules.params-invalid = 'off'", &["--enforce"], &bad, false),
        ("proxy.rules.params-invalid = 'off'", &[], &bad, false),
        ("proxy.server.rules.params-invalid = 'off'", &["--enforce"], "", true),
        ("proxy.rules.'layer:schema' = 'warn'", &["--enforce"], &bad, true),
    ] {
        let (passed, errors) = sent(settings, args, BAD);
        assert_eq!(passed, received, "{settings} {args:?}");
        assert_eq!(errors.contains("params-invalid"), reported, "{settings} {args:?}: {errors}");
    }
}

#[test]
fn a_warning_can_hold_a_message_back() {
    let doubtful = r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#;
    let (passed, errors) = sent("", &["--enforce"], doubtful);
    assert!(passed.contains("ping") && errors.contains("id-unsafe-integer"), "{passed}{errors}");
    let (passed, _) = sent("proxy.rules.id-unsafe-integer = 'reject'", &["--enforce"], doubtful);
    assert_eq!(passed, "");
}

#[test]
fn only_a_level_for_the_very_rule_lets_pass_what_could_not_be_judged() {
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}{}}}",
        "{\"a\":".repeat(20),
        "1".to_owned() + &"}".repeat(20)
    );
    let limits = "[limits]\ndepth = 8\n[proxy.rules]\n";
    for level in ["'*' = 'off'", "'layer:json' = 'warn'", "'json-*' = 'warn'"] {
        assert_eq!(sent(&format!("{limits}{level}"), &["--enforce"], &deep).0, "", "{level}");
    }
    let level = "json-depth-limit = 'warn'";
    assert_eq!(sent(&format!("{limits}{level}"), &["--enforce"], &deep).0, format!("{deep}\n"));
}

#[test]
fn log_lines_of_a_server_may_pass_if_that_is_wanted() {
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    let server = format!("echo listening; {}", answering(&[answer]));
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
    for (settings, expected) in [
        ("", format!("{answer}\n")),
        ("proxy.server.rules.stdout-non-json = 'warn'", format!("listening\n{answer}\n")),
    ] {
        let place = Place::new().file("plumb.toml", settings);
        let args = ["proxy", "-q", "--enforce", "--", "sh", "-c", &server];
        let (_, output, _) = through(&place, &args, ping.as_bytes());
        assert_eq!(String::from_utf8(output).unwrap(), expected, "{settings}");
    }
}

#[test]
fn settings_that_do_nothing_are_named() {
    let (_, errors) = sent("proxy.rules.params-invalid = 'reject'", &[], BAD);
    assert!(errors.contains("messages are not held back without `enforce`"), "{errors}");
    let place = Place::new().file("plumb.toml", "proxy.rules.parms-invalid = 'warn'");
    let run = place.run(&["proxy", "--", "cat"]).exits(2);
    run.complains("there is no rule `parms-invalid`").complains("did you mean `params-invalid`?");
}

#[test]
fn bad_tools_are_cut_out_of_their_list() {
    let good = r#"{"name":"b", "inputSchema":{"type":"object"}}"#;
    let list =
        |tools: &str| format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{ "tools" : [{tools}]}}}}"#);
    let sent = list(&format!(r#"{{"name":"a"}}, {good}"#));
    let ask = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n";
    for (settings, expected) in [
        ("", list(good)),
        ("proxy.bad_tools = 'pass'", sent.clone()),
        ("proxy.bad_tools = 'reject'", String::new()),
    ] {
        let place = Place::new().file("plumb.toml", settings);
        let server = answering(&[&sent]);
        let options = ["proxy", "--enforce", "--record", "r.jsonl"];
        let args = [&options[..], &["--", "sh", "-c", &server]].concat();
        let (_, output, errors) = through(&place, &args, ask.as_bytes());
        let output = String::from_utf8(output).unwrap();
        if expected.is_empty() {
            assert!(output.contains("-32603"), "{output}");
        } else {
            assert_eq!(output, format!("{expected}\n"), "{settings}");
        }
        assert!(errors.contains("error[tool-input-schema-not-object] by the server"), "{errors}");
        let record = fs::read_to_string(place.0.path().join("r.jsonl")).unwrap();
        assert_eq!(record.contains(r#""by":"proxy","replaces":2"#), expected != sent, "{record}");
    }
}
