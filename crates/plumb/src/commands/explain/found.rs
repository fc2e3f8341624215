use std::fmt::Write as _;

use mcp_rules::Severity;
use serde_json::Value;

use crate::text::visible;

/// Describes a finding as Markdown; `None` if it adds nothing to its rule. Missing and malformed
/// members are left out: the text may have been truncated when it was pasted.
pub(super) fn describe(finding: &Value) -> Option<String> {
    let member = |name: &str| finding[name].as_str().map(visible);
    let message = member("message")?;
    let severity = match finding["severity"].as_str() {
        Some(severity) if severity == Severity::Warning.as_str() => "A warning",
        Some(severity) if severity == Severity::Error.as_str() => "An error",
        _ => "Something",
    };
    let mut out = severity.to_owned();
    if let Some(side) = side(&finding["atFault"]) {
        let _ = write!(out, " by the {side}");
    }
    if let Some(file) = member("file") {
        let _ = write!(out, " in {file}");
    }
    if let Some(line) = finding["line"].as_u64() {
        let _ = write!(out, " on line {line}");
    }
    let _ = write!(out, ": {message}");
    let mut list = Vec::new();
    if let Some(from) = side(&finding["from"]) {
        list.push(format!("sent by: {from}"));
    }
    if let Some(revision) = member("revision") {
        list.push(format!("revision: {revision}"));
    }
    if let Some(place) =
        member("pointer").or(member("instancePath")).filter(|place| !place.is_empty())
    {
        list.push(format!("at: {place}"));
    }
    let related = &finding["related"];
    if let (Some(line), Some(reason)) = (related["line"].as_u64(), related["reason"].as_str()) {
        list.push(format!("line {line}: {}", visible(reason)));
    }
    if let Some(help) = member("help") {
        list.push(format!("help: {help}"));
    }
    for (position, entry) in list.iter().enumerate() {
        let _ = write!(out, "{}- {entry}", if position == 0 { "\n\n" } else { "\n" });
    }
    Some(out)
}

fn side(value: &Value) -> Option<&str> {
    value.as_str().filter(|side| matches!(*side, "client" | "server"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_member_of_a_finding_is_described() {
        let finding = json!({
            "file": "t.jsonl", "rule": "params-invalid", "severity": "error", "from": "client",
            "atFault": "client", "line": 5, "revision": "2025-11-25", "span": [1, 2],
            "pointer": "/params/cursor", "instancePath": "/cursor", "message": "null is not of type \"string\"",
            "help": "leave `cursor` out", "related": { "line": 2, "reason": "it was here" },
        });
        insta::assert_snapshot!(describe(&finding).unwrap());
    }

    #[test]
    fn missing_and_malformed_members_are_left_out() {
        assert_eq!(describe(&json!({ "rule": "params-invalid" })), None);
        let strange = json!({
            "file": 1, "severity": [], "from": "nobody", "atFault": {}, "line": -1, "revision": null,
            "instancePath": "", "message": "bad\n# not a heading\u{1b}[31m", "help": 3,
            "related": { "line": "2", "reason": "x" },
        });
        assert_eq!(describe(&strange).unwrap(), "Something: bad␊# not a heading␛[31m");
    }
}
