//! `plumb diff`: what a middlebox did.

use super::{BAD, GOOD, Place};

#[test]
fn the_exit_code_tells_whether_they_differ() {
    let place = Place::new().file("a.jsonl", GOOD).file("b.jsonl", BAD);
    let run = place.run(&["diff", "a.jsonl", "a.jsonl"]).exits(0);
    assert_eq!(run.stdout, "no difference in 2 and 2 messages\n");
    let run = place.run(&["diff", "a.jsonl", "b.jsonl"]).exits(1);
    insta::assert_snapshot!(run.stdout);
    assert_eq!(place.run(&["diff", "--format", "json", "a.jsonl", "a.jsonl"]).exits(0).stdout, "");
    place.run(&["diff", "a.jsonl", "b.jsonl", "--color", "always"]).exits(1).prints("\x1b[");
}

#[test]
fn programs_get_one_difference_per_line() {
    let changed = GOOD.replace("\"result\":{}", "\"result\":{\"_meta\":{\"x\":null}}");
    let place = Place::new()
        .file("a.jsonl", GOOD)
        .file("b.jsonl", &changed.replace("\"id\":1", "\"id\":\"p1\""));
    let run = place.run(&["diff", "--format", "json", "a.jsonl", "b.jsonl"]).exits(1);
    insta::assert_snapshot!(run.stdout);
    for line in run.stdout.lines() {
        let _: serde_json::Value = serde_json::from_str(line).unwrap();
    }
}

#[test]
fn nothing_a_peer_chose_reaches_the_terminal_as_it_is() {
    let hostile = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"\u001b[2J\n","params":{"\u202e":"\u0007"}}}"#;
    let place =
        Place::new().file("a.jsonl", hostile).file("b.jsonl", &hostile.replace("0007", "0008"));
    let run = place.run(&["diff", "a.jsonl", "b.jsonl"]).exits(1);
    assert!(
        !run.stdout.contains(|it| it != '\n' && mcp_core::is_invisible(it)),
        "{:?}",
        run.stdout
    );
}

#[test]
fn what_cannot_be_read_is_said() {
    let place = Place::new().file("a.jsonl", GOOD);
    place
        .run(&["diff", "a.jsonl", "none.jsonl"])
        .exits(2)
        .complains("none.jsonl cannot be compared");
    place.run(&["diff", ".", "a.jsonl"]).exits(2).complains("not a regular file");
    place.run(&["diff", "a.jsonl"]).exits(2);
}
