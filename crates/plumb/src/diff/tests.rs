//! What two recordings say about the middlebox between them.

use std::fs;

use super::*;

fn request(id: &str, method: &str, params: &str) -> String {
    format!(
        r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}}}"#
    )
}

fn result(id: &str, result: &str) -> String {
    format!(r#"{{"from":"server","msg":{{"jsonrpc":"2.0","id":{id},"result":{result}}}}}"#)
}

fn notification(method: &str, params: &str) -> String {
    format!(
        r#"{{"from":"server","msg":{{"jsonrpc":"2.0","method":"{method}","params":{params}}}}}"#
    )
}

#[track_caller]
fn diff(left: &[String], right: &[String]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&one, left.join("\n")).unwrap();
    fs::write(&other, right.join("\n")).unwrap();
    let names = ("a".to_owned(), "b".to_owned());
    let mut report = HumanDiff { out: Vec::new(), palette: crate::style::Palette::plain(), names };
    let totals = run(&one, &other, &mut report).unwrap();
    report.finish(&totals).unwrap();
    String::from_utf8(report.out).unwrap()
}

#[test]
fn a_middlebox_that_does_nothing_makes_no_difference() {
    let all = [request("1", "ping", "{}"), result("1", "{}"), "not JSON".to_owned()];
    assert_eq!(diff(&all, &all), "no difference in 3 and 3 messages\n");
    assert_eq!(diff(&[], &[]), "no difference in 0 and 0 messages\n");
}

#[test]
fn lost_added_and_changed_messages_are_shown() {
    let left = [
        request("1", "tools/list", "{}"),
        result("1", r#"{"tools":[],"nextCursor":"a"}"#),
        request("2", "tools/call", r#"{"name":"x","arguments":{"a":1}}"#),
        notification("notifications/progress", r#"{"progressToken":1,"progress":1}"#),
        result("2", "{}"),
    ];
    let right = [
        request("1", "tools/list", "{}"),
        result("1", r#"{"tools":[],"nextCursor":"b","_meta":{"via":"x"}}"#),
        request("2", "tools/call", r#"{"name":"x","arguments":{"a":2}}"#),
        notification("notifications/message", r#"{"level":"info","data":1}"#),
        result("2", "{}"),
    ];
    insta::assert_snapshot!(diff(&left, &right));
}

#[test]
fn ids_may_be_rewritten_consistently() {
    let left: Vec<String> = (1..=5)
        .flat_map(|id| {
            let id = id.to_string();
            let params = format!(r#"{{"_meta":{{"progressToken":{id}}}}}"#);
            [request(&id, "ping", &params), result(&id, &format!("{{\"n\":{id}}}"))]
        })
        .collect();
    // The same numbers, for other requests.
    let right: Vec<String> = (1..=5)
        .flat_map(|id| {
            let new = (id + 1).to_string();
            let params = format!(r#"{{"_meta":{{"progressToken":"t{id}"}}}}"#);
            [request(&new, "ping", &params), result(&new, &format!("{{\"n\":{id}}}"))]
        })
        .collect();
    insta::assert_snapshot!(diff(&left, &right));
}

#[test]
fn an_answer_to_the_wrong_request_shows() {
    let left = [
        request("1", "a", "{}"),
        request("2", "b", "{}"),
        result("1", r#"{"of":"a"}"#),
        result("2", r#"{"of":"b"}"#),
    ];
    let right = [
        request("1", "a", "{}"),
        request("2", "b", "{}"),
        result("2", r#"{"of":"a"}"#),
        result("1", r#"{"of":"b"}"#),
    ];
    let text = diff(&left, &right);
    assert!(text.contains(r#"/result/of: "a" → "b""#), "{text}");
    assert!(text.contains("2 changed, 1 moved"), "{text}");
}

#[test]
fn a_lost_message_among_equals_is_one_difference() {
    let pings = |ids: &[u32]| -> Vec<String> {
        ids.iter().map(|id| request(&id.to_string(), "ping", "{}")).collect()
    };
    let text = diff(&pings(&[1, 2, 3, 4]), &pings(&[2, 3, 4]));
    assert_eq!(text, "lost     → ping, id 1 (a:1)\n\n1 lost in 4 and 3 messages\n");
}

/// Answers tell requests apart that look the same.
#[test]
fn a_lost_message_is_found_although_ids_are_rewritten() {
    let call = |id: String, n: usize| {
        [request(&id, "tools/call", r#"{"name":"x"}"#), result(&id, &format!("{{\"n\":{n}}}"))]
    };
    let left: Vec<String> = (0..20).flat_map(|n| call(n.to_string(), n)).collect();
    let mut right: Vec<String> = (0..20).flat_map(|n| call(format!("\"p{n}\""), n)).collect();
    right.drain(14..16);
    let text = diff(&left, &right);
    assert!(text.contains("lost     → tools/call, id 7 (a:15)"), "{text}");
    assert!(text.ends_with("\n2 lost, ids rewritten in 40 and 38 messages\n"), "{text}");
}

/// Where nothing tells messages apart, their neighbours do.
#[test]
fn equal_messages_are_matched_next_to_what_is_certain() {
    let note = |n: &str| notification("notifications/message", &format!("{{\"data\":\"{n}\"}}"));
    let left = ["x", "1", "x", "2", "x", "3", "x"].map(note);
    let right = ["x", "1", "2", "x", "3", "x"].map(note);
    let text = diff(&left, &right);
    assert!(text.starts_with("lost     ← notifications/message (a:3)\n\n1 lost in"), "{text}");
}

#[test]
fn a_message_that_overtakes_others_is_moved() {
    let notes: Vec<String> = (0..4)
        .map(|n| notification("notifications/message", &format!("{{\"data\":{n}}}")))
        .collect();
    let mut other = notes.clone();
    let first = other.remove(0);
    other.push(first);
    let text = diff(&notes, &other);
    assert!(text.starts_with("moved    ← notifications/message (a:1, b:4)\n\n1 moved"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    fs::write(&file, "").unwrap();
    let mut report = JsonDiff { out: Vec::new() };
    let missing = folder.path().join("none");
    assert!(matches!(run(&file, &missing, &mut report), Err(DiffError::Recording(1, _))));
    let error = run(folder.path(), &file, &mut report);
    assert!(matches!(error, Err(DiffError::Recording(0, RecordingError::NotRegular))));
}
