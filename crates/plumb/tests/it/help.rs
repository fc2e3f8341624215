//! The output of `--help`.

use super::Place;

#[track_caller]
fn help(args: &[&str]) -> String {
    Place::new().run(args).exits(0).stdout
}

#[test]
fn plumb() {
    insta::assert_snapshot!(help(&["--help"]));
}

#[test]
fn check() {
    insta::assert_snapshot!(help(&["check", "--help"]));
}

#[test]
fn schema() {
    insta::assert_snapshot!(help(&["schema", "--help"]));
}

#[test]
fn rules() {
    insta::assert_snapshot!(help(&["rules", "--help"]));
}

#[test]
fn explain() {
    insta::assert_snapshot!(help(&["explain", "--help"]));
}

#[test]
fn completions() {
    insta::assert_snapshot!(help(&["completions", "--help"]));
}

#[test]
fn wrap() {
    insta::assert_snapshot!(help(&["wrap", "--help"]));
}

#[test]
fn redact() {
    insta::assert_snapshot!(help(&["redact", "--help"]));
}

#[test]
fn inspect() {
    insta::assert_snapshot!(help(&["inspect", "--help"]));
}

#[test]
fn test() {
    insta::assert_snapshot!(help(&["test", "--help"]));
}

#[test]
fn lock() {
    insta::assert_snapshot!(help(&["lock", "--help"]));
}

#[test]
fn tail() {
    insta::assert_snapshot!(help(&["tail", "--help"]));
}

#[test]
fn diff() {
    insta::assert_snapshot!(help(&["diff", "--help"]));
}

#[test]
fn proxy() {
    insta::assert_snapshot!(help(&["proxy", "--help"]));
}

#[test]
fn replay() {
    insta::assert_snapshot!(help(&["replay", "--help"]));
}

#[test]
fn mock() {
    insta::assert_snapshot!(help(&["mock", "--help"]));
}
