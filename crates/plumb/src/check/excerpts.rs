//! What a finding shows of the messages it speaks of.

use mcp_json::{Limits, Node, Tape};
use mcp_jsonrpc::Envelope;
use mcp_rules::{Finding, message_of};

use super::lines::Lines;
use crate::report::{Excerpt, Located};

const BOM: &[u8] = b"\xEF\xBB\xBF";
const LIMITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 1024 };

/// The part of the message around the fault; `text` is the message.
pub(super) fn of_message(finding: &Finding, text: &[u8]) -> Excerpt {
    let mut tape = Tape::new();
    let title = match tape.parse(text, LIMITS) {
        Ok(document) => {
            let root = document.root();
            let message =
                finding.index.and_then(|index| root.elements().nth(index)).unwrap_or(root);
            title(message, finding.method)
        }
        Err(_) => String::new(),
    };
    Excerpt::new(text, finding.span, title)
}

/// Adds what stands on other lines than the one that was judged.
pub(super) fn complete(located: &mut Located, lines: &mut Lines) {
    let finding = &located.finding;
    if located.excerpt.is_none()
        && let Some(line) = finding.line
    {
        located.excerpt = lines.read(line).map(|text| of_line(&text, finding.method));
    }
    if let Some(related) = &finding.related {
        located.related = lines.read(related.line).map(|text| of_line(&text, None));
    }
}

/// The beginning of the message on a line.
fn of_line(line: &[u8], method: Option<&str>) -> Excerpt {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    let mut tape = Tape::new();
    if let Ok(document) = tape.parse(line, LIMITS)
        && let Some(message) = message_of(document.root())
    {
        return Excerpt::new(message.raw(), None, title(message, method));
    }
    Excerpt::new(line, None, String::new())
}

/// Which message it is: `tools/call, id 3` or `result of tools/call, id 3`.
fn title(message: Node<'_>, answered: Option<&str>) -> String {
    let envelope = Envelope::of(message);
    let answer = |word: &str| match answered {
        Some(method) => format!("{word} of {method}"),
        None => word.to_owned(),
    };
    let name = match envelope.method.and_then(Node::as_str) {
        Some(method) => method.into_owned(),
        None if envelope.result.is_some() => answer("result"),
        None if envelope.error.is_some() => answer("error"),
        None => String::new(),
    };
    match envelope.readable_id() {
        Some(id) if name.is_empty() => format!("id {id}"),
        Some(id) => format!("{name}, id {id}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use mcp_rules::{Related, Severity};

    use super::*;

    #[track_caller]
    fn check(line: &str, text: &str, title: &str) {
        let excerpt = of_line(line.as_bytes(), None);
        assert_eq!((excerpt.text.as_str(), excerpt.title.as_str()), (text, title));
    }

    #[test]
    fn the_message_of_a_line_is_shown() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        check(&format!(r#"{{"from":"client","msg":{ping}}}"#), ping, "ping, id 1");
        check(&format!("\u{feff}{ping}"), ping, "ping, id 1");
        check(r#"{"id":"a","result":{}}"#, r#"{"id":"a","result":{}}"#, "result, id \"a\"");
    }

    #[test]
    fn a_line_without_a_message_is_shown_as_it_is() {
        check("starting up", "starting up", "");
        check("", "", "");
        let raw = r#"{"from":"server","raw":"hello"}"#;
        check(raw, raw, "");
    }

    #[test]
    fn other_lines_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        fs::write(&path, format!("{request}\n\n{answer}\n")).unwrap();
        let mut lines = Lines::of(&path, &File::open(&path).unwrap()).unwrap();
        lines.mark(1, 0);
        let rule = mcp_rules::rule("params-invalid").unwrap();
        let mut finding = Finding::new(rule, Severity::Error, "wrong");
        finding.line = Some(3);
        finding.method = Some("ping");
        finding.related = Some(Related { line: 1, reason: "the request was here" });
        let mut located = Located { file: "t".into(), finding, excerpt: None, related: None };
        complete(&mut located, &mut lines);
        let shown = |excerpt: &Option<Excerpt>| {
            let Excerpt { text, title, span, .. } = excerpt.clone().unwrap();
            assert_eq!(span, None);
            (text, title)
        };
        let expected = (answer.to_owned(), "result of ping, id 1".to_owned());
        assert_eq!(shown(&located.excerpt), expected);
        assert_eq!(shown(&located.related), (request.to_owned(), "ping, id 1".to_owned()));
    }

    #[test]
    fn lines_that_cannot_be_had_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, "{}\n").unwrap();
        let mut lines = Lines::of(&path, &File::open(&path).unwrap()).unwrap();
        let rule = mcp_rules::rule("params-invalid").unwrap();
        let mut finding = Finding::new(rule, Severity::Error, "wrong");
        finding.related = Some(Related { line: 99, reason: "the request was here" });
        let mut located = Located { file: "t".into(), finding, excerpt: None, related: None };
        complete(&mut located, &mut lines);
        assert!(located.excerpt.is_none() && located.related.is_none());
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = "[".repeat(5000);
        assert_eq!(of_line(deep.as_bytes(), None).title, "");
    }
}
