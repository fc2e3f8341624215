//! The catalogue itself follows its rules.

use std::{collections::BTreeSet, path::Path};

use mcp_rules::{Layer, catalogue};

/// Guards and findings that no trace of reasonable size can show; they have their own tests.
const WITHOUT_TRACES: [&str; 2] = ["batch-size-limit", "message-size-limit"];

#[test]
fn names_are_unique_and_kebab_case() {
    let mut seen = BTreeSet::new();
    for rule in catalogue() {
        assert!(seen.insert(rule.name), "{} stands twice", rule.name);
        assert_eq!(mcp_rules::rule(rule.name), Some(rule), "{}", rule.name);
        let kebab = rule
            .name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        assert!(kebab && !rule.name.starts_with('-'), "{}", rule.name);
    }
}

#[test]
fn every_rule_is_documented_in_the_same_form() {
    for rule in catalogue() {
        let title = format!("# {}\n", rule.summary());
        assert!(rule.docs.starts_with(&title), "{}: no title", rule.name);
        assert!(rule.summary().len() <= 90, "{}: the summary is long", rule.name);
        for heading in
            ["## Why it hurts", "## How to fix it", "## Bad", "## Good", "## Clause", "## Limits"]
        {
            assert!(rule.docs.contains(heading), "{}: no {heading}", rule.name);
        }
    }
}

#[test]
fn every_documentation_file_belongs_to_a_rule() {
    let names: BTreeSet<_> = catalogue().map(|rule| rule.name.to_owned()).collect();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for entry in std::fs::read_dir(docs).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(names.contains(&name), "{name} is no rule");
    }
}

#[test]
fn every_rule_has_a_trace_that_fires_and_one_that_does_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    // What active tests show has its own tests.
    let shown = catalogue().filter(|rule| rule.layer != Layer::Behaviour);
    for rule in shown.filter(|rule| !WITHOUT_TRACES.contains(&rule.name)) {
        let folder = root.join(rule.layer.as_str()).join(rule.name);
        let has = |prefix: &str| {
            std::fs::read_dir(&folder).is_ok_and(|mut entries| {
                entries.any(|entry| {
                    entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
                })
            })
        };
        assert!(has("bad"), "{}: no trace in which it fires", rule.name);
        assert!(has("good"), "{}: no trace in which it stays silent", rule.name);
    }
}

#[test]
fn rules_stand_in_the_order_of_the_layers() {
    let layers: Vec<Layer> = catalogue().map(|rule| rule.layer).collect();
    assert!(layers.is_sorted(), "{layers:?}");
}
