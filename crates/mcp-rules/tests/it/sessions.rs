//! Sessions as a whole: saved and restored, joined in the middle, small when idle.

use std::fs;

use mcp_rules::{Finding, RecordingInfo, Settings};

use crate::{
    observe::{observe, observe_restored},
    traces::{root, settings_for, traces},
};

fn lines_and_rules(findings: &[Finding]) -> Vec<(Option<u64>, &str)> {
    findings.iter().map(|finding| (finding.line, finding.rule.name)).collect()
}

#[test]
fn a_saved_and_restored_session_goes_on_as_if_nothing_had_happened() {
    for path in traces(&root()) {
        let text = fs::read(&path).unwrap();
        let settings = settings_for(&path);
        let restored = observe_restored(&text, settings.clone());
        let kept = observe(&text, settings, RecordingInfo::default());
        assert_eq!(restored, kept, "{}", path.display());
    }
}

#[test]
fn whoever_joins_late_accuses_nobody() {
    let mut wrong = Vec::new();
    let clean = traces(&root().join("conversations"));
    assert!(clean.len() > 10);
    for path in clean {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for first in 1..lines.len() {
            let rest = lines[first..].join("\n");
            let found = observe(rest.as_bytes(), Settings::default(), RecordingInfo::default());
            if !found.is_empty() {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                wrong.push(format!(
                    "{name} from line {}: {:?}",
                    first + 1,
                    lines_and_rules(&found)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
