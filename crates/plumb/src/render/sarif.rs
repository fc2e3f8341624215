//! SARIF 2.1.0, for code scanning services.
//!
//! Regions have lines but no bytes: SARIF counts bytes from the beginning of the file, a finding
//! from the beginning of its message. The latter are in the properties of a result.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use mcp_core::Revision;
use mcp_rules::{Finding, Level, RuleMeta, Severity};
use serde_json::{Map, Value, json};

use super::specification_url;
use crate::{
    report::{Excerpt, Fingerprint, Located, Renderer, Summary},
    text::{Layout, write_json},
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The key of our fingerprints; a new way to compute them needs a new key.
const FINGERPRINT: &str = "plumbFinding/v1";

/// Keeps results until the end, since the rules come before them.
pub(super) struct Sarif<W> {
    out: W,
    rules: Vec<&'static RuleMeta>,
    results: Vec<Value>,
    /// How often each fingerprint occurred: similar findings in one file must stay distinct.
    seen: BTreeMap<Fingerprint, u64>,
}

impl<W: Write> Sarif<W> {
    pub(super) fn new(out: W) -> Sarif<W> {
        Sarif { out, rules: Vec::new(), results: Vec::new(), seen: BTreeMap::new() }
    }

    fn rule_index(&mut self, rule: &'static RuleMeta) -> usize {
        let known = self.rules.iter().position(|known| *known == rule);
        known.unwrap_or_else(|| {
            self.rules.push(rule);
            self.rules.len() - 1
        })
    }
}

impl<W: Write> Renderer for Sarif<W> {
    fn wants_excerpts(&self) -> bool {
        true
    }

    fn wants_exact_text(&self) -> bool {
        true
    }

    fn finding(&mut self, located: &Located) -> io::Result<()> {
        let finding = &located.finding;
        let index = self.rule_index(finding.rule);
        let print = Fingerprint::of(finding).and(&located.file);
        let occurrence = self.seen.entry(print).or_default();
        *occurrence += 1;
        let text = match &finding.help {
            Some(help) => format!("{}\n{help}", finding.message),
            None => finding.message.clone(),
        };
        let mut result = json!({
            "ruleId": finding.rule.name,
            "ruleIndex": index,
            "level": finding.severity.as_str(),
            "message": { "text": text },
            "locations": [place(located)],
            "partialFingerprints": { FINGERPRINT: format!("{print}:{occurrence}") },
            "properties": properties(finding),
        });
        if let Some(related) = &finding.related {
            let mut explaining = location(&located.file, related.line, located.related.as_ref());
            explaining["message"] = json!({ "text": related.reason });
            result["relatedLocations"] = json!([explaining]);
        }
        self.results.push(result);
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let rules: Vec<Value> = self.rules.iter().map(|rule| describe(rule)).collect();
        let log = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "plumb",
                    "version": env!("CARGO_PKG_VERSION"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "invocations": [{ "executionSuccessful": summary.unreadable == 0 }],
                "results": std::mem::take(&mut self.results),
                "columnKind": "unicodeCodePoints",
                "properties": {
                    "messages": summary.messages,
                    "files": summary.files,
                    "known": summary.known,
                    "notShown": summary.dropped,
                },
            }],
        });
        write_json(&mut self.out, &log, Layout::Pretty)?;
        writeln!(self.out)?;
        self.out.flush()
    }
}

fn describe(rule: &RuleMeta) -> Value {
    let level = match rule.level {
        Level::Error | Level::ErrorIn(_) => Severity::Error,
        Level::Warning | Level::OptIn => Severity::Warning,
    };
    let mut described = json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary() },
        "help": { "text": rule.docs, "markdown": rule.docs },
        "defaultConfiguration": { "level": level.as_str() },
        "properties": { "tags": ["mcp", rule.layer.as_str()] },
    });
    if let Some(url) = specification_url(rule, Some(Revision::LATEST)) {
        described["helpUri"] = url.into();
    }
    described
}

fn place(located: &Located) -> Value {
    let finding = &located.finding;
    let line = finding.line.unwrap_or(1);
    let mut place = location(&located.file, line, located.excerpt.as_ref());
    if let Some(pointer) = finding.pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
        place["logicalLocations"] = json!([{ "fullyQualifiedName": pointer, "kind": "value" }]);
    }
    place
}

fn location(file: &str, line: u64, excerpt: Option<&Excerpt>) -> Value {
    let mut region = Map::new();
    // Lines count from 1; a region must not be empty.
    region.insert("startLine".into(), line.max(1).into());
    if let Some(excerpt) = excerpt {
        region.insert("snippet".into(), json!({ "text": excerpt.text }));
    }
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": region,
        },
    })
}

fn properties(finding: &Finding) -> Value {
    let mut properties = Map::new();
    properties.insert("layer".into(), finding.rule.layer.as_str().into());
    if let Some(revision) = finding.revision {
        properties.insert("revision".into(), revision.as_str().into());
    }
    if let Some(from) = finding.from {
        properties.insert("from".into(), from.as_str().into());
    }
    if let Some(side) = finding.at_fault {
        properties.insert("atFault".into(), side.as_str().into());
    }
    if let Some(span) = finding.span {
        properties.insert("messageSpan".into(), json!([span.start, span.end]));
    }
    properties.into()
}

/// A path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    if path == "-" {
        return "stdin".to_owned();
    }
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ if cfg!(windows) && byte == b'\\' => uri.push('/'),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing;

    fn log() -> Value {
        serde_json::from_str(&testing::rendered(Sarif::new)).unwrap()
    }

    #[test]
    fn findings_are_results() {
        let mut log = log();
        for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap() {
            rule["help"] = "(the docs)".into();
        }
        log["runs"][0]["tool"]["driver"]["version"] = "(version)".into();
        log["runs"][0]["tool"]["driver"]["semanticVersion"] = "(version)".into();
        insta::assert_snapshot!(serde_json::to_string_pretty(&log).unwrap());
    }

    /// What the SARIF 2.1.0 specification requires of the members we write, by section.
    #[test]
    fn the_log_follows_the_standard() {
        let log = log();
        assert_eq!(log["version"], "2.1.0", "3.13.2");
        let runs = log["runs"].as_array().expect("3.13.4");
        for run in runs {
            let driver = &run["tool"]["driver"];
            assert!(driver["name"].as_str().is_some_and(|name| !name.is_empty()), "3.19.8");
            let rules = driver["rules"].as_array().expect("3.19.23");
            for rule in rules {
                assert!(rule["id"].is_string(), "3.49.3");
                assert!(rule["shortDescription"]["text"].is_string(), "3.49.9, 3.12.3");
                assert!(rule["help"]["text"].is_string(), "3.49.13: text besides markdown");
                let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
                assert!(["none", "note", "warning", "error"].contains(&level), "3.50.3");
            }
            for invocation in run["invocations"].as_array().unwrap() {
                assert!(invocation["executionSuccessful"].is_boolean(), "3.20.14");
            }
            for result in run["results"].as_array().expect("3.14.23") {
                let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
                assert_eq!(rules[index]["id"], result["ruleId"], "3.27.5, 3.27.6");
                let level = result["level"].as_str().unwrap();
                assert!(["none", "note", "warning", "error"].contains(&level), "3.27.10");
                assert!(result["message"]["text"].is_string(), "3.27.11, 3.11.8");
                for print in result["partialFingerprints"].as_object().unwrap().values() {
                    assert!(print.is_string(), "3.27.17");
                }
                let related = result["relatedLocations"].as_array().into_iter().flatten();
                for location in related.chain([&result["locations"][0]]) {
                    check_place(&location["physicalLocation"]);
                }
                for location in result["relatedLocations"].as_array().into_iter().flatten() {
                    assert!(location["message"]["text"].is_string(), "3.28.5");
                }
            }
        }
    }

    #[track_caller]
    fn check_place(place: &Value) {
        let uri = place["artifactLocation"]["uri"].as_str().expect("3.4.3");
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte);
        assert!(uri.bytes().all(legal), "3.10.1: {uri}");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1, "3.30.5");
    }

    #[test]
    fn similar_findings_have_different_fingerprints() {
        let mut located = testing::findings();
        located.truncate(1);
        located.push(located[0].clone());
        let out = testing::Shared::default();
        let mut sarif = Sarif::new(out);
        for located in &located {
            sarif.finding(located).unwrap();
        }
        let prints: Vec<_> = (sarif.results.iter())
            .map(|result| result["partialFingerprints"][FINGERPRINT].clone())
            .collect();
        assert_ne!(prints[0], prints[1]);
        assert_eq!(sarif.rules.len(), 1);
    }

    #[test]
    fn a_clean_run_has_no_results() {
        let log: Value = serde_json::from_str(&testing::rendered_empty(Sarif::new)).unwrap();
        assert_eq!(log["runs"][0]["results"], json!([]));
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/100%.jsonl"), "a%20b/100%25.jsonl");
        assert_eq!(uri("-"), "stdin");
    }
}
