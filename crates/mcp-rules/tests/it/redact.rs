//! A masked recording has the findings of the original, at the same places.

use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasherDefault, DefaultHasher},
};

use mcp_rules::{Finding, RecordingInfo, Settings, redact::Redactor};
use proptest::prelude::*;

use crate::{
    observe::observe,
    traces::{root, settings_for, traces},
};

type FixedKeys = BuildHasherDefault<DefaultHasher>;

fn fixed() -> Redactor<FixedKeys> {
    Redactor::new(FixedKeys::default())
}

fn masked<S: std::hash::BuildHasher>(redactor: &Redactor<S>, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    text.split_mut(|byte| *byte == b'\n').for_each(|line| redactor.line(line));
    text
}

fn places(findings: &[Finding]) -> Vec<String> {
    let place = |finding: &Finding| {
        let Finding { rule, severity, from, line, span, pointer, code, .. } = finding;
        format!("{} {severity:?} {from:?} {line:?} {span:?} {pointer:?} {code:?}", rule.name)
    };
    findings.iter().map(place).collect()
}

/// Every trace, masked by default settings under three random keys.
#[test]
fn every_masked_trace_has_the_same_findings() {
    let mut changed = 0;
    for path in traces(&root()) {
        let text = fs::read(&path).unwrap();
        let expected = places(&observe(&text, settings_for(&path), RecordingInfo::default()));
        for _ in 0..3 {
            let other = masked(&Redactor::new(RandomState::new()), &text);
            assert_eq!(other.len(), text.len());
            changed += usize::from(other != text);
            let found = places(&observe(&other, settings_for(&path), RecordingInfo::default()));
            assert_eq!(found, expected, "{}\n{}", path.display(), String::from_utf8_lossy(&other));
        }
    }
    assert!(changed > 20, "the traces have secrets in them: {changed}");
}

/// All arguments masked, as a user would with `--pointer`.
#[test]
fn masked_arguments_give_the_same_findings() {
    // About the very values that change.
    const ABOUT_VALUES: [&str; 5] = [
        // A header says the same number or text in other words, so it does not change with it.
        "http/header-mismatch-not-rejected/good.jsonl",
        "http/mcp-header-encoding/bad-param-sentinel.jsonl",
        "http/mcp-param-header-mismatch/good.jsonl",
        // A number of as many digits may be within or beyond 2^53.
        "http/mcp-param-unsafe-integer/",
        // A text of the same shape is no member of an `enum`.
        "tool-schema/tool-arguments-invalid/good.jsonl",
    ];
    let redactor = Redactor::new(RandomState::new()).pointer("/params/arguments".parse().unwrap());
    let mut different = Vec::new();
    for path in traces(&root()) {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let text = fs::read(&path).unwrap();
        let expected = places(&observe(&text, settings_for(&path), RecordingInfo::default()));
        let other = masked(&redactor, &text);
        let found = places(&observe(&other, settings_for(&path), RecordingInfo::default()));
        if found != expected && !ABOUT_VALUES.iter().any(|known| name.starts_with(known)) {
            different.push(name);
        }
    }
    assert!(different.is_empty(), "{different:?}");
}

#[track_caller]
fn check(line: &str, gone: &[&str], kept: &[&str]) {
    check_with(&fixed(), line, gone, kept);
}

#[track_caller]
fn check_with(redactor: &Redactor<FixedKeys>, line: &str, gone: &[&str], kept: &[&str]) {
    let other = String::from_utf8(masked(redactor, line.as_bytes())).expect("still UTF-8");
    assert_eq!(other.len(), line.len());
    for part in gone {
        assert!(line.contains(part) && !other.contains(part), "{part} in {other}");
    }
    for part in kept {
        assert!(other.contains(part), "{part} not in {other}");
    }
}

#[test]
fn secret_members_are_masked_wherever_they_are() {
    check(
        r#"{"from":"client","msg":{"id":1,"params":{"password":"hunter22","_meta":{"progressToken":"keepme"},"apiKeys":1,"x":{"token":987654321}}}}"#,
        &["hunter22", "987654321"],
        &[r#""progressToken":"keepme""#, r#""id":1"#],
    );
    check(
        r#"{"jsonrpc":"2.0","params":{"secrets":["abcdef","ghijkl"]}}"#,
        &["abcdef", "ghijkl"],
        &[],
    );
    check(
        r#"{"from":"server","msg":{"properties":{"password":{"type":"string","minLength":8}}}}"#,
        &[],
        &[r#"{"password":{"type":"string","minLength":8}}"#],
    );
}

#[test]
fn secret_headers_and_parameters_are_masked() {
    check(
        r#"{"from":"client","http":{"exchange":1,"method":"POST","url":"http://h/mcp?access_token=abcdef1","headers":{"Authorization":"Bearer abcdef2","Cookie":["sid=abcdef3"],"Mcp-Session-Id":"abcdef4","Accept":"application/json"}}}"#,
        &["abcdef1", "abcdef2", "abcdef3", "abcdef4"],
        &["http://h/mcp?access_token=", "Bearer ", "sid=", "application/json"],
    );
    let mut value = b"Bearer abcdef".to_vec();
    fixed().header_value("authorization", &mut value);
    assert!(value.starts_with(b"Bearer ") && !value.ends_with(b"abcdef"));
}

#[test]
fn text_in_records_is_looked_into() {
    check(
        r#"{"from":"server","raw":"{\"password\":\"hunter22\"}"}"#,
        &["hunter22"],
        &[r#"{\"password\":\""#],
    );
    check(r#"{"from":"server","raw":"API_KEY=abcdef starting"}"#, &["abcdef"], &["starting"]);
    check(
        r#"{"from":"server","http":{"exchange":1,"sse":{"data":"{\"token\":\"hunter22\"}"}}}"#,
        &["hunter22"],
        &[],
    );
    check(
        r#"{"from":"client","http":{"exchange":1,"body":"grant_type=x&code=abcdef"}}"#,
        &["abcdef"],
        &["grant_type=x&code="],
    );
    check(
        r#"{"from":"server","msg":{"result":{"content":[{"type":"text","text":"{\"token\":\"hunter22\",\"a\":1}"}]}}}"#,
        &["hunter22"],
        &[r#"\"a\":1"#],
    );
    // {"password":"hunter2"}
    check(
        r#"{"from":"server","rawBase64":"eyJwYXNzd29yZCI6Imh1bnRlcjIifQ=="}"#,
        &["Imh1bnRlcjIifQ"],
        &["eyJwYXNzd29yZCI6I"],
    );
    check(r#"{"from":"server","msg":{"password":"hunter22""#, &["hunter22"], &["{\"from\":"]);
    check("\u{feff}{\"password\":\"hunter22\"}", &["hunter22"], &["\u{feff}{"]);
}

#[test]
fn pointers_lead_to_what_is_to_be_masked() {
    let redactor = fixed().pointer("/params/arguments/*/note".parse().unwrap());
    check_with(
        &redactor,
        r#"{"from":"client","msg":{"params":{"arguments":{"a":{"note":["abcdef",{"x":"ghijkl"}]},"note":"keepme"}}}}"#,
        &["abcdef", "ghijkl"],
        &["keepme"],
    );
    check_with(&redactor, r#"[{"params":{"arguments":[{"note":"abcdef"}]}}]"#, &["abcdef"], &[]);
    assert!("params/x".parse::<mcp_rules::redact::PointerPattern>().is_err());
}

#[test]
fn only_what_is_asked_for_is_masked_without_guesses() {
    let redactor = fixed().without_guesses().name("note").header("X-Trace");
    check_with(
        &redactor,
        r#"{"from":"client","http":{"url":"/?token=keepme","headers":{"Authorization":"Bearer keepme22","X-TRACE":"abcdef"}},"msg":{"password":"keepme","Note":"ghijkl"}}"#,
        &["abcdef", "ghijkl"],
        &["/?token=keepme", "Bearer keepme22", r#""password":"keepme""#],
    );
}

#[test]
fn an_argument_in_a_header_still_equals_the_argument() {
    let line = r#"{"from":"client","http":{"headers":{"Mcp-Param-Api-Key":"abcDEF123"}},"msg":{"params":{"arguments":{"apiKey":"abcDEF123"}}}}"#;
    let other = masked(&fixed(), line.as_bytes());
    let value: serde_json::Value = serde_json::from_slice(&other).unwrap();
    let header = &value["http"]["headers"]["Mcp-Param-Api-Key"];
    assert_eq!(header, &value["msg"]["params"]["arguments"]["apiKey"]);
    assert_ne!(header, "abcDEF123");
}

/// The header's own name says nothing.
#[test]
fn a_header_that_repeats_what_a_pointer_leads_to_is_masked() {
    let redactor = fixed().pointer("/params/arguments/region".parse().unwrap());
    let headers =
        r#""http":{"headers":{"Mcp-Param-Region":"abcDEF123","Mcp-Param-Size":"keepme1"}}"#;
    let message = r#"{"params":{"arguments":{"region":"abcDEF123","size":"keepme1"}}}"#;
    let raw = serde_json::Value::from(message);
    for content in [format!(r#""msg":{message}"#), format!(r#""raw":{raw}"#)] {
        let line = format!(r#"{{"from":"client",{headers},{content}}}"#);
        check_with(&redactor, &line, &["abcDEF123"], &[r#""Mcp-Param-Size":"keepme1""#]);
    }
}

proptest! {
    /// Masking preserves the length and the structural characters of any line.
    #[test]
    fn any_line_keeps_its_length(line in any::<Vec<u8>>()) {
        let mut other = line.clone();
        fixed().line(&mut other);
        prop_assert_eq!(other.len(), line.len());
    }

    #[test]
    fn any_record_stays_what_it_was(value in "[ -~\u{e9}\n\"\\\\]{0,40}", name in "(token|raw|text|body|password)") {
        let line = serde_json::json!({
            "from": "client",
            "msg": { name.as_str(): value },
            "raw": value,
            "http": { "url": value, "headers": { "Cookie": value }, "body": value },
        });
        let line = line.to_string();
        let mut other = line.clone().into_bytes();
        fixed().line(&mut other);
        prop_assert_eq!(other.len(), line.len());
        let read: serde_json::Value = serde_json::from_slice(&other).expect("still JSON");
        prop_assert!(read["raw"].is_string());
        let _ = observe(&other, Settings::default(), RecordingInfo::default());
    }
}
