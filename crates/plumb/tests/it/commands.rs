//! The other commands.

use super::{BAD, Place};

#[test]
fn rules_are_listed_in_every_format() {
    Place::new().run(&["rules"]).exits(0).prints("params-invalid");
    Place::new().run(&["rules", "--format", "markdown"]).exits(0).prints("| `params-invalid` |");
    let run = Place::new().run(&["rules", "--format", "json", "--layer", "schema"]).exits(0);
    let rules: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let rules = rules.as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["layer"] == "schema"));
    assert!(rules.iter().any(|rule| rule["name"] == "params-invalid"));
}

#[test]
fn a_rule_is_explained_by_name_or_finding() {
    let by_name = Place::new().run(&["explain", "params-invalid"]).exits(0);
    let finding = r#"{"file":"a.jsonl","rule":"params-invalid","line":1}"#;
    let by_finding = Place::new().run(&["explain", finding]).exits(0);
    assert_eq!(by_name.stdout, by_finding.stdout, "it says no more than its rule");
    by_name.prints("# params-invalid: ").prints("## Why it hurts");
}

#[test]
fn a_profile_says_which_rules_and_how() {
    let rules = |args: &[&str]| -> Vec<serde_json::Value> {
        let place = Place::new().file(
            "plumb.toml",
            "[profiles.house]\nextends = 'schema'\nrules = { 'batch-*' = 'off', method-unknown = 'error' }\n",
        );
        let run = place.run(&[&["rules", "--format", "json"], args].concat()).exits(0);
        serde_json::from_str(&run.stdout).unwrap()
    };
    let has =
        |rules: &[serde_json::Value], name: &str| rules.iter().any(|rule| rule["name"] == name);
    let all = rules(&[]);
    let schema = rules(&["--profile", "schema"]);
    assert!(schema.len() < all.len());
    assert!(has(&schema, "batch-empty") && !schema.iter().any(|rule| rule["layer"] == "http"));
    let house = rules(&["--profile", "house"]);
    assert!(!has(&house, "batch-empty"));
    let method = house.iter().find(|rule| rule["name"] == "method-unknown").unwrap();
    assert_eq!(method["levels"]["2025-11-25"], "error");
    for layer in ["json", "http"] {
        let run = Place::new().run(&["rules", "--profile", "jsonrpc", "--layer", layer]).exits(0);
        assert_eq!(run.stdout.contains("json-duplicate-key"), layer == "json");
    }
}

#[test]
fn an_unknown_profile_gets_suggestions() {
    let run = Place::new().run(&["rules", "--profile", "shcema"]).exits(2);
    run.complains("did you mean `schema`?").complains("help: profiles are spec");
    let place = Place::new().file("mine.toml", "[profiles.house]\n").file("plumb.toml", "[rules");
    place.run(&["rules", "--profile", "house", "--config", "mine.toml"]).exits(0);
    place.run(&["rules", "--profile", "spec"]).exits(0);
    place.run(&["rules", "--profile", "house"]).exits(2).complains("plumb.toml:1");
    place.run(&["rules", "--config", "mine.toml"]).exits(2).complains("--profile");
}

#[test]
fn lists_have_colours_only_when_they_are_wanted() {
    for args in [&["rules"][..], &["explain", "params-invalid"], &["schema", "Tool"]] {
        let plain = Place::new().run(args).exits(0);
        assert!(!plain.stdout.contains('\x1b'), "{args:?}");
        let coloured = Place::new().run(&[args, &["--color", "always"]].concat()).exits(0);
        assert!(coloured.stdout.contains('\x1b'), "{args:?}");
    }
}

#[test]
fn several_rules_and_findings_are_explained() {
    let run = Place::new().run(&["explain", "params-invalid", "method-unknown"]).exits(0);
    run.prints("# params-invalid: ").prints("\n\n# method-unknown: ");
    let place = Place::new().file("bad.jsonl", &BAD.repeat(7));
    let findings = place.run(&["check", "--format", "json", "bad.jsonl"]).exits(1).stdout;
    let first = findings.lines().next().unwrap();
    let run = place.run(&["explain", first]).exits(0);
    run.prints("An error by the client in bad.jsonl on line 1: 7 is not of type \"string\"\n")
        .prints("- at: /params/name\n")
        .prints("## Why it hurts");
    let run = place.run_with_input(&["explain", "-"], &findings).exits(0);
    assert_eq!(run.stdout.matches("## Why it hurts").count(), 1);
    assert_eq!(run.stdout.matches("on line ").count(), 5);
    run.prints("And 2 more like this.");
    let run = place.run_with_input(&["explain", "-"], "params-invalid\nmethod-unknown\n").exits(0);
    assert_eq!(run.stdout.matches("## Why it hurts").count(), 2);
}

#[test]
fn what_cannot_be_explained_is_reported() {
    let refused = |args: &[&str], input: &str| {
        let run = Place::new().run_with_input(args, input).exits(2);
        assert_eq!(run.stdout, "");
        run.complains("error: ").complains("help: ").stderr
    };
    assert!(refused(&["explain", "-"], "").contains("standard input is empty"));
    assert!(refused(&["explain", "-"], "{\"rule\":").contains("is not JSON"));
    assert!(refused(&["explain", "{}"], "").contains("no `rule`"));
    assert!(refused(&["explain", "params-invalid", "wheather"], "").contains("wheather"));
    assert!(refused(&["explain", "batch"], "").contains("similar names: batch-"));
    Place::new().run(&["explain"]).exits(2).complains("<RULE>");
}

#[test]
fn an_unknown_rule_gets_suggestions() {
    let run = Place::new().run(&["explain", "parms-invalid"]).exits(2);
    run.complains("did you mean `params-invalid`?").complains("`plumb rules` lists them");
}

#[test]
fn definitions_are_shown_and_exported() {
    Place::new().run(&["schema"]).exits(0).prints("tools/call").prints("CallToolResult");
    let run = Place::new().run(&["schema", "--revision", "2025-11-25", "Tool", "--format", "json"]);
    let run = run.exits(0);
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema["$ref"], "#/$defs/Tool");
    assert!(schema["$defs"]["ToolAnnotations"].is_object());
    let run = Place::new().run(&["schema", "tools/call"]).exits(0);
    run.prints("a request from client to server").prints("CallToolResult");
}

#[test]
fn an_unknown_definition_gets_suggestions() {
    let run = Place::new().run(&["schema", "CallToolResults"]).exits(2);
    run.complains("did you mean `CallToolResult`?");
    let run = Place::new().run(&["schema", "--revision", "2024-11-05", "elicitation/create"]);
    run.exits(2).complains("--revision");
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Place::new().run(&["completions", shell]).exits(0);
        run.prints("max-findings").prints("write-baseline").prints("from-start");
    }
    Place::new().run(&["completions", "tcsh"]).exits(2).complains("possible values");
}

#[test]
fn the_version_is_known() {
    let run = Place::new().run(&["--version"]).exits(0);
    assert_eq!(run.stdout, concat!("plumb ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn without_a_command_there_is_help() {
    Place::new().run(&[]).exits(2).complains("Usage: plumb");
    Place::new().run(&["chekc"]).exits(2).complains("check");
}
