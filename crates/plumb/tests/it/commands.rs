//! The commands that tell rather than check.

use super::Place;

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
    assert_eq!(by_name.stdout, by_finding.stdout);
    by_name.prints("# params-invalid: ").prints("## Why it hurts");
}

#[test]
fn an_unknown_rule_leads_on() {
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
fn an_unknown_definition_leads_on() {
    let run = Place::new().run(&["schema", "CallToolResults"]).exits(2);
    run.complains("did you mean `CallToolResult`?");
    let run = Place::new().run(&["schema", "--revision", "2024-11-05", "elicitation/create"]);
    run.exits(2).complains("--revision");
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        Place::new().run(&["completions", shell]).exits(0).prints("max-findings");
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
