//! What wrapping does to configurations, and that undoing it leaves no trace.

use proptest::prelude::*;

use super::*;

fn proxy() -> Proxy {
    Proxy { plumb: "/bin/plumb".to_owned(), options: vec!["--record".into(), "/tmp/t".into()] }
}

fn run(text: &str, names: &[&str], direction: Direction) -> Result<(String, Plan), WrapError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let plan = plan(text.as_bytes(), &names, direction, &proxy())?;
    Ok((String::from_utf8(plan.edits.apply(text.as_bytes())).unwrap(), plan))
}

/// Wraps, and checks that the way back leads to the same bytes, and that wrapping again does nothing.
#[track_caller]
fn wrapped(text: &str, names: &[&str]) -> String {
    let (other, _) = run(text, names, Direction::Wrap).unwrap();
    let (again, plan) = run(&other, names, Direction::Wrap).unwrap();
    assert_eq!(again, other);
    assert!(plan.servers.iter().all(|(_, done)| *done != Done::Changed));
    assert_eq!(run(&other, names, Direction::Undo).unwrap().0, text);
    other
}

#[track_caller]
fn left_alone(text: &str) -> String {
    let (other, plan) = run(text, &[], Direction::Wrap).unwrap();
    assert_eq!(other, text);
    match &plan.servers[0].1 {
        Done::LeftAlone(reason) => reason.clone(),
        done => panic!("{done:?}"),
    }
}

#[test]
fn the_command_becomes_an_argument_of_the_proxy() {
    let text =
        r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "v"}}}}"#;
    let expected = r#"{"mcpServers": {"a": {"command": "/bin/plumb", "args": ["proxy", "--record", "/tmp/t", "--", "npx", "-y", "x"], "env": {"K": "v"}}}}"#;
    assert_eq!(wrapped(text, &[]), expected);
    assert_eq!(
        wrapped(&text.replace("mcpServers", "servers"), &["a"]),
        expected.replace("mcpServers", "servers")
    );
}

#[test]
fn layout_and_comments_stay() {
    let text = "// mine\n{\n  \"servers\": {\n    /* one */ \"a\": {\n      \"command\": \"np\\u0078\", // npx\n      \"args\": [\n        \"-y\",\n        \"x\",\n      ],\n    },\n    \"b\": {\n      \"command\": \"b\"\n    },\n    \"c\": {\"args\": [ ], \"command\": \"c\"},\n  },\n}\n";
    insta::assert_snapshot!(wrapped(text, &[]));
}

#[test]
fn only_named_servers_change() {
    let text = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#;
    let other = wrapped(text, &["b"]);
    assert!(
        other.starts_with(
            r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"/bin/plumb", "args""#
        ),
        "{other}"
    );
    assert!(matches!(run(text, &["c"], Direction::Wrap), Err(WrapError::Unknown(_))));
}

#[test]
fn a_remote_server_is_wrapped_if_it_is_named() {
    let text = r#"{"servers":{"r":{"type":"http","url":"https://h/mcp"}}}"#;
    assert!(left_alone(text).contains("name it"));
    let expected = r#"{"servers":{"r":{"type":"stdio","command":"/bin/plumb", "args": [ "proxy", "--record", "/tmp/t", "--upstream", "https://h/mcp" ]}}}"#;
    assert_eq!(wrapped(text, &["r"]), expected);
    wrapped(
        "{\"mcpServers\":{\"r\":{\n  \"url\" : \"http:\\/\\/h\" , \"disabled\":false}}}",
        &["r"],
    );
}

#[test]
fn what_cannot_be_said_faithfully_is_refused() {
    for (entry, word) in [
        (r#"{"url":"https://h/mcp","headers":{"Authorization":"Bearer x"}}"#, "headers"),
        (r#"{"url":"https://h/mcp","oauth":{}}"#, "`oauth`"),
        (r#"{"url":"https://h/mcp","type":"sse"}"#, "type"),
        (r#"{"url":"https://h/mcp?token=x"}"#, "`token`"),
        (r#"{"url":"https://h/mcp","command":"a"}"#, "both"),
        (r#"{"command":["a"]}"#, "not a string"),
        (r#"{"command":"a","args":"b"}"#, "not an array"),
        (r#"{"command":"a","command":"b"}"#, "twice"),
        ("{}", "neither"),
        ("7", "not an object"),
    ] {
        let text = format!(r#"{{"mcpServers":{{"s":{entry}}}}}"#);
        match run(&text, &["s"], Direction::Wrap) {
            Err(WrapError::Refused(name, reason)) => {
                assert_eq!(name, "s");
                assert!(reason.contains(word), "{reason}");
            }
            other => panic!("{entry}: {other:?}"),
        }
    }
}

#[test]
fn undo_also_works_after_the_file_was_formatted() {
    let text = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b","args":["c"]}}}"#;
    let (other, _) = run(text, &[], Direction::Wrap).unwrap();
    let value: serde_json::Value = serde_json::from_str(&other).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    let (back, _) = run(&pretty, &[], Direction::Undo).unwrap();
    let back: serde_json::Value = serde_json::from_str(&back).unwrap();
    assert_eq!(back["mcpServers"]["b"], serde_json::json!({"command": "b", "args": ["c"]}));
    assert_eq!(back["mcpServers"]["a"]["command"], "a");
}

#[test]
fn other_programs_that_proxy_are_not_taken_out() {
    let text = r#"{"mcpServers":{"a":{"command":"cargo","args":["proxy","--","b"]}}}"#;
    assert_eq!(run(text, &[], Direction::Undo).unwrap().0, text);
    let text = r#"{"mcpServers":{"a":{"command":"C:\\bin\\plumb.exe","args":["proxy","--","b"]}}}"#;
    assert!(run(text, &[], Direction::Undo).unwrap().0.contains(r#""command":"b""#));
}

#[test]
fn what_is_no_configuration_is_an_error() {
    for text in ["", "[]", "{}", r#"{"mcpServers":[]}"#] {
        assert!(run(text, &[], Direction::Wrap).is_err(), "{text}");
    }
    let error = run("{\n \"mcpServers\": oops}", &[], Direction::Wrap).unwrap_err().to_string();
    assert!(error.contains("line 2, column 16"), "{error}");
}

/// White space and comments, as people put them between anything.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        2 => Just(" ".to_owned()),
        2 => Just("\n    ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" /* \"args\": [, */ ".to_owned()),
        1 => Just(" // it's {\n".to_owned()),
    ]
}

fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/@-]{0,8}".prop_map(|text| format!("\"{text}\"")),
        Just(r#""--""#.to_owned()),
        Just(r#""proxy""#.to_owned()),
        Just(r#""a\\\"b // \u00e9é""#.to_owned()),
    ]
}

fn container(
    open: char,
    close: char,
    items: Vec<(String, String, String)>,
    end: &str,
    trailing: bool,
) -> String {
    let mut text = open.to_string();
    let count = items.len();
    for (position, (before, item, after)) in items.into_iter().enumerate() {
        text += &before;
        text += &item;
        text += &after;
        if position + 1 < count || trailing {
            text.push(',');
        }
    }
    text + end + &close.to_string()
}

fn array() -> impl Strategy<Value = String> {
    let items = prop::collection::vec((gap(), literal(), gap()), 0..4);
    (items, gap(), any::<bool>())
        .prop_map(|(items, end, trailing)| container('[', ']', items, &end, trailing))
}

fn member(
    key: &'static str,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    (gap(), gap(), value)
        .prop_map(move |(before, after, value)| format!("\"{key}\"{before}:{after}{value}"))
}

fn entry() -> impl Strategy<Value = String> {
    let command = member("command", literal());
    let args = prop::option::of(member("args", array()));
    let other = prop::option::of(member("env", Just(r#"{"A":"b"}"#.to_owned())));
    let url = member("url", Just("\"https://h.example/mcp\"".to_owned()));
    let kind = prop::option::of(member("type", Just("\"http\"".to_owned())));
    let stdio = (command, args, other).prop_map(|(command, args, other)| {
        [Some(command), args, other].into_iter().flatten().collect::<Vec<_>>()
    });
    let remote = (url, kind)
        .prop_map(|(url, kind)| [Some(url), kind].into_iter().flatten().collect::<Vec<_>>());
    let members = prop_oneof![3 => stdio, 1 => remote].prop_shuffle();
    let gaps = prop::collection::vec((gap(), gap()), 3);
    (members, gaps, gap(), any::<bool>()).prop_map(|(members, gaps, end, trailing)| {
        let items = members.into_iter().zip(gaps).map(|(it, (a, b))| (a, it, b)).collect();
        container('{', '}', items, &end, trailing)
    })
}

fn config() -> impl Strategy<Value = String> {
    let entries = prop::collection::vec((gap(), gap(), entry()), 0..4);
    (entries, gap(), gap(), "(\u{feff})?", any::<bool>()).prop_map(
        |(entries, start, end, mark, trailing)| {
            let items = entries.into_iter().enumerate();
            let items = items
                .map(|(at, (before, after, entry))| (before, format!("\"s{at}\":{entry}"), after))
                .collect();
            let servers = container('{', '}', items, &end, trailing);
            format!("{mark}{start}{{\"other\": [1, 2], \"mcpServers\":{servers}}}{start}")
        },
    )
}

proptest! {
    #[test]
    fn undoing_gives_back_every_byte(text in config()) {
        let wrapped = plan(text.as_bytes(), &[], Direction::Wrap, &proxy()).unwrap();
        let names: Vec<String> = wrapped.servers.iter().map(|(name, _)| name.clone()).collect();
        for names in [vec![], names] {
            let wrapped = plan(text.as_bytes(), &names, Direction::Wrap, &proxy()).unwrap();
            let other = wrapped.edits.apply(text.as_bytes());
            let undone = plan(&other, &names, Direction::Undo, &proxy()).unwrap();
            let back = String::from_utf8(undone.edits.apply(&other)).unwrap();
            prop_assert_eq!(&back, &text);
        }
    }

    #[test]
    fn nothing_panics(text in any::<Vec<u8>>()) {
        let _ = plan(&text, &[], Direction::Wrap, &proxy());
    }
}
