//! The documentation shows what the program prints.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::Place;

/// The README leaves out most of the output, but changes nothing in it.
#[test]
fn the_demonstration_is_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let command = "$ plumb check traces/demo.jsonl\n";
    let (_, shown) = readme.split_once(command).unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_plumb"))
        .args(["check", "--no-config", "traces/demo.jsonl"])
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    for paragraph in shown.trim().split("\n\n") {
        assert!(printed.contains(paragraph), "not in the output:\n{paragraph}");
    }
    assert_eq!(output.status.code(), Some(1));
}

#[cfg(unix)]
#[test]
fn the_first_proxy_prints_what_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let command = "$ plumb proxy -- sh -c 'echo Listening on stdio'\n";
    let (_, shown) = readme.split_once(command).unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let run = Place::new().run(&["proxy", "--", "sh", "-c", "echo Listening on stdio"]).exits(0);
    assert_eq!(shown, run.stdout + &run.stderr);
}

/// The page adds links. `cargo xtask generate --check` compares every byte.
#[test]
fn the_rule_index_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut index = fs::read_to_string(root.join("docs/rules.md")).unwrap();
    let listed = Place::new().run(&["rules", "--format", "markdown"]).exits(0).stdout;
    for rule in mcp_rules::catalogue().map(|rule| rule.name) {
        let page = format!("../crates/mcp-rules/docs/{rule}.md");
        assert!(root.join("docs").join(&page).exists(), "{page}");
        index = index.replace(&format!("[`{rule}`]({page})"), &format!("`{rule}`"));
    }
    assert!(index.ends_with(&listed), "run `cargo xtask generate`");
}
