//! Detects stack traces and paths in error messages of a server.

use serde_json::Value;

/// Internal details that should not be in an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leak {
    /// A stack trace, with the line that reveals it.
    Trace(String),
    /// A path on the server's machine.
    Path(String),
    /// A URL with a password; the URL without it.
    Password(String),
}

/// Maximum bytes of a text to search.
const LOOKED_AT: usize = 64 << 10;
/// Maximum depth of values to search.
const DEPTH: usize = 16;
/// Directories that hold programs and their data.
const FOLDERS: [&str; 12] = [
    "/home/",
    "/Users/",
    "/root/",
    "/var/",
    "/usr/",
    "/opt/",
    "/srv/",
    "/app/",
    "/tmp/",
    "/private/",
    "/mnt/",
    "/workspace/",
];

/// Finds a leak in a message. Only errors, and results with `isError`, are searched.
pub(crate) fn leak(message: &Value) -> Option<Leak> {
    let said = if message.get("error").is_some() {
        &message["error"]
    } else if message.pointer("/result/isError") == Some(&Value::Bool(true)) {
        &message["result"]
    } else {
        return None;
    };
    let mut texts = Vec::new();
    collect(said, DEPTH, &mut texts);
    texts.iter().find_map(|text| {
        let end = (0..=LOOKED_AT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        in_text(&text[..end.unwrap_or_default()])
    })
}

/// Whether a path is one that was sent, however escaped, spelled or made absolute.
pub(crate) fn is_about(path: &str, sent: &str) -> bool {
    /// Minimum length to compare: shorter texts are part of any path.
    const SHORTEST: usize = 3;
    let bare = |text: &str| text.replace('\\', "").to_lowercase();
    let (path, sent) = (bare(path), bare(sent));
    let name = path.rsplit('/').find(|name| !name.is_empty()).unwrap_or_default();
    sent.contains(&path)
        || (sent.len() >= SHORTEST && path.ends_with(&sent))
        || (name.len() >= SHORTEST && sent.starts_with(name))
}

fn collect<'v>(value: &'v Value, depth: usize, texts: &mut Vec<&'v str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(elements) => elements.iter().for_each(|one| collect(one, depth, texts)),
        Value::Object(members) => members.values().for_each(|one| collect(one, depth, texts)),
        _ => {}
    }
}

fn in_text(text: &str) -> Option<Leak> {
    let frame = text.lines().find(|line| is_frame(line.trim()));
    if let Some(frame) = frame {
        return Some(Leak::Trace(frame.trim().to_owned()));
    }
    if let Some(url) = password(text) {
        return Some(Leak::Password(url));
    }
    path(text).map(|path| Leak::Path(path.to_owned()))
}

/// The first URL in a text that has a password, without it.
fn password(text: &str) -> Option<String> {
    /// What stands for a password in examples.
    const PLACEHOLDERS: [&str; 5] = ["password", "passwd", "pass", "pwd", "secret"];
    text.match_indices("://").find_map(|(index, separator)| {
        let start = text[..index]
            .rfind(|letter: char| !(letter.is_ascii_alphanumeric() || "+-.".contains(letter)));
        let scheme = &text[start.map_or(0, |start| start + 1)..index];
        let rest = &text[index + separator.len()..];
        let ends = |letter: char| letter.is_whitespace() || "/\"'`<>{}()".contains(letter);
        let authority = rest.split(ends).next().unwrap_or_default();
        let (user_info, host) = authority.rsplit_once('@')?;
        let (user, password) = user_info.split_once(':')?;
        let is_real = !password.is_empty()
            && !PLACEHOLDERS.contains(&password.to_lowercase().as_str())
            && password.chars().any(|letter| letter.is_ascii_alphanumeric())
            && !password.starts_with(['$', '%', '*', '[']);
        (is_real && !scheme.is_empty() && !host.is_empty())
            .then(|| format!("{scheme}://{user}:…@{host}"))
    })
}

/// Whether a line is part of a stack trace.
fn is_frame(line: &str) -> bool {
    let has_position = |extensions: &[&str]| {
        extensions.iter().any(|extension| {
            line.match_indices(extension).any(|(index, _)| {
                line[index + extension.len()..].starts_with(|after: char| after.is_ascii_digit())
            })
        })
    };
    let at = line.strip_prefix("at ");
    at.is_some_and(|_| has_position(&[".js:", ".ts:", ".mjs:", ".cjs:", ".java:", ".kt:", ".rs:"]))
        || at.is_some_and(|rest| {
            ["(node:", "<anonymous>:", ":line "].iter().any(|mark| rest.contains(mark))
        })
        || line.starts_with("Traceback (most recent call last)")
        || (line.starts_with("File \"") && line.contains("\", line "))
        || (line.starts_with("thread '") && line.contains("panicked at "))
        || line == "stack backtrace:"
        || (line.starts_with("goroutine ") && line.ends_with("]:"))
        || (has_position(&[".rb:"]) && line.contains(":in "))
}

/// The first path on the server's machine in a text.
fn path(text: &str) -> Option<&str> {
    let starts = FOLDERS.iter().flat_map(|folder| text.match_indices(folder));
    let windows = text.match_indices(":\\").filter_map(|(index, _)| {
        let start = index.checked_sub(1)?;
        text.as_bytes()[start].is_ascii_alphabetic().then_some((start, ""))
    });
    let begins = |start: usize| {
        let before = text[..start].chars().next_back();
        // As part of a longer path or a URL, it is not a path on the machine.
        before.is_none_or(|before| before.is_whitespace() || "\"'`([{<=,:;|".contains(before))
    };
    let start =
        starts.chain(windows).map(|(start, _)| start).filter(|start| begins(*start)).min()?;
    let rest = &text[start..];
    let ends = |letter: char| letter.is_whitespace() || "\"'`)]}<>,;|".contains(letter);
    let path = rest.split(ends).next().unwrap_or_default().trim_end_matches(['.', ':']);
    let names = path.split(['/', '\\']).filter(|name| !name.is_empty()).count();
    (names >= 2).then_some(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_error(text: &str) -> Option<Leak> {
        leak(&json!({ "error": { "code": -32603, "message": text } }))
    }

    #[test]
    fn traces_are_recognised() {
        for trace in [
            "Error: boom\n    at run (/srv/app/index.js:10:5)",
            "SyntaxError: no selector\n    at query (<anonymous>:5811:41)",
            "Error\n    at node:internal/process/task_queues (node:internal:1:1)",
            "Traceback (most recent call last):\n  File \"x.py\", line 3, in f",
            "java.lang.Error\n\tat com.example.Main.main(Main.java:7)",
            "thread 'main' panicked at src/main.rs:3:5:\nboom",
            "goroutine 1 [running]:\nmain.main()",
            "app.rb:12:in `call'",
        ] {
            assert!(matches!(of_error(trace), Some(Leak::Trace(_))), "{trace}");
        }
    }

    #[test]
    fn paths_are_recognised() {
        let path = |text: &str| match of_error(text) {
            Some(Leak::Path(path)) => Some(path),
            _ => None,
        };
        let found = path("ENOENT: no such file or directory, open '/home/deploy/data/notes.json'");
        assert_eq!(found.as_deref(), Some("/home/deploy/data/notes.json"));
        assert_eq!(path("see C:\\Users\\me\\x.txt.").as_deref(), Some("C:\\Users\\me\\x.txt"));
        let message = json!({ "result": { "isError": true, "content": [
            { "type": "text", "text": "cannot open /var/lib/db" }] } });
        assert_eq!(leak(&message), Some(Leak::Path("/var/lib/db".to_owned())));
    }

    #[test]
    fn passwords_in_urls_are_recognised_and_not_repeated() {
        let found = of_error("cannot connect: postgres://admin:hunter2@db.internal:5432/prod");
        let shown = "postgres://admin:…@db.internal:5432";
        assert_eq!(found, Some(Leak::Password(shown.to_owned())));
        for text in [
            "write it as postgres://user:password@host/name",
            "write it as postgres://<user>:<secret>@host/name",
            "redis://app:***@cache:6379 is down",
            "redis://app@cache:6379 is down",
            "https://example.com:8080/@someone is gone",
            "set it to mysql://root:$PASSWORD@db",
        ] {
            assert_eq!(of_error(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_sent_is_no_secret() {
        assert!(is_about("/home/me/x.txt", "/home/me/x.txt"));
        assert!(is_about("C:\\\\Users\\\\me", "C:\\Users\\me"), "escaped once more");
        assert!(is_about("C:\\..Windows\\c", "C:\\..\\Windows\\CON"), "as a CSS selector, cut");
        assert!(is_about("/srv/files/plumb", "plumb"), "made absolute");
        assert!(is_about("/srv/files/../../etc/passwd", "../../etc/passwd"));
        assert!(is_about("/srv/files/echo", "echo plumb | cat"), "cut at a space");
        assert!(!is_about("/home/deploy/app/notes.json", "plumb"));
        assert!(!is_about("/home/deploy/app", "p"));
        assert!(!is_about("/home/deploy/app", ""));
    }

    #[test]
    fn what_only_looks_like_it_is_left_alone() {
        for text in [
            "the path must begin with /",
            "https://example.com/home/user/x is not allowed",
            "file:///home/user/x does not exist",
            "meet me at noon: 12:30",
            "use /tmp/ or /var/",
            "a/home/b",
            "note: see rule 3",
        ] {
            assert_eq!(of_error(text), None, "{text}");
        }
        let success = json!({ "result": { "content": [{ "type": "text", "text": "/home/a/b" }] } });
        assert_eq!(leak(&success), None);
    }
}
