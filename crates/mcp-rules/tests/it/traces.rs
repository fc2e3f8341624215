//! Every recorded trace gives exactly the findings its lines expect.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use mcp_rules::{Layer, Level, Profile, RecordingInfo, Setting, Settings, Severity};

use crate::observe::observe;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces")
}

pub(crate) fn traces(below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(below)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(traces(&path));
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    found
}

/// Maps line numbers to the rules named in `expect`.
fn expectations(text: &str) -> BTreeMap<u64, Vec<String>> {
    let mut expected = BTreeMap::new();
    for (position, line) in text.lines().enumerate() {
        let Ok(line) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let Some(rules) = line.get("expect").and_then(|rules| rules.as_array()) else {
            continue;
        };
        let mut rules: Vec<String> = rules
            .iter()
            .map(|rule| rule.as_str().expect("the name of a rule").to_owned())
            .collect();
        rules.sort();
        expected.insert(position as u64 + 1, rules);
    }
    expected
}

/// The allowed origin, for the folder of the rule that needs one.
const ALLOWED_ORIGIN: &str = "https://app.example.com";

/// A rule that is off by default, or needs configuration, is enabled in its own folder.
pub(crate) fn settings_for(trace: &Path) -> Settings {
    let mut settings = Settings::default();
    let folder = trace.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    if let Some(rule) = folder.and_then(mcp_rules::rule)
        && rule.level == Level::OptIn
    {
        settings.rules.insert(rule.name.to_owned(), Setting::On(Severity::Warning));
    }
    if folder == Some("error-code-not-permitted") {
        settings.profile = Profile::Erlmcp;
    }
    if folder == Some("origin-not-rejected") {
        settings.allowed_origins.push(ALLOWED_ORIGIN.to_owned());
    }
    settings
}

#[test]
fn every_trace_gives_exactly_what_it_expects() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in traces(&root()) {
        count += 1;
        let text = fs::read_to_string(&path).unwrap();
        let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut details = String::new();
        for finding in observe(text.as_bytes(), settings_for(&path), RecordingInfo::default()) {
            let line = finding.line.unwrap();
            found.entry(line).or_default().push(finding.rule.name.to_owned());
            let _ =
                writeln!(details, "    line {line}: {}: {}", finding.rule.name, finding.message);
        }
        for rules in found.values_mut() {
            rules.sort();
        }
        let expected = expectations(&text);
        if found != expected {
            let name = path.strip_prefix(root()).unwrap().display();
            wrong.push(format!("{name}\n  expected {expected:?}\n  found\n{details}"));
        }
    }
    assert!(count > 0, "there are traces");
    assert!(wrong.is_empty(), "{} of {count} traces:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_finding_about_a_message_points_into_it() {
    for path in traces(&root()) {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for finding in observe(text.as_bytes(), settings_for(&path), RecordingInfo::default()) {
            let about_json = !matches!(
                finding.rule.layer,
                Layer::Trace | Layer::Framing | Layer::Json | Layer::Http
            );
            let line = lines[usize::try_from(finding.line.unwrap()).unwrap() - 1];
            let Some(pointer) = &finding.pointer else {
                assert!(!about_json, "{} {finding:?}", path.display());
                continue;
            };
            let record: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            if let Some(message) = record.get("msg") {
                let leads = message.pointer(pointer).is_some();
                assert!(leads, "{} {pointer} {finding:?}", path.display());
            }
        }
    }
}

/// The same fault may have different severities in different cases.
#[test]
fn severities_follow_the_case() {
    for (trace, severity) in [
        ("session/task-augmentation-undeclared/bad.jsonl", Severity::Error),
        ("session/task-augmentation-undeclared/bad-elicitation.jsonl", Severity::Warning),
        ("session/initialize-with-modern-version/bad.jsonl", Severity::Warning),
        ("session/initialize-with-modern-version/bad-result.jsonl", Severity::Error),
    ] {
        let text = fs::read(root().join(trace)).unwrap();
        let rule = trace.split('/').nth(1);
        let found = observe(&text, Settings::default(), RecordingInfo::default());
        let last = found.iter().rfind(|finding| Some(finding.rule.name) == rule).unwrap();
        assert_eq!(last.severity, severity, "{trace}");
    }
}
