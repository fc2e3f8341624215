//! What the README shows is what the program prints.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

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
    assert_eq!(shown, String::from_utf8(output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(1));
}
