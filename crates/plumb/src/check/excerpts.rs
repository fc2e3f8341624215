//! The excerpts of messages that are shown with findings.

use mcp_json::{Limits, Tape};
use mcp_rules::{Finding, message_of};

use super::lines::Lines;
use crate::{
    message_name::MessageName,
    report::{Excerpt, Located},
};

const BOM: &[u8] = b"\xEF\xBB\xBF";
const LIMITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 1024 };

/// Makes the excerpts around faults. A message is parsed once, however many faults it has.
#[derive(Debug, Default)]
pub(super) struct Excerpts {
    /// Address and length of the message that was parsed last.
    read: Option<(usize, usize)>,
    whole: MessageName,
    /// Names of the entries of a batch.
    entries: Vec<MessageName>,
}

impl Excerpts {
    /// The excerpt around the fault; `text` is the message, which does not move until all its
    /// findings are done.
    pub(super) fn of_message(&mut self, finding: &Finding, text: &[u8]) -> Excerpt {
        let place = (text.as_ptr().addr(), text.len());
        if self.read != Some(place) {
            self.read(text);
            self.read = Some(place);
        }
        let entry = finding.index.and_then(|index| self.entries.get(index));
        let title = entry.unwrap_or(&self.whole).title(finding.method);
        Excerpt::new(text, finding.span, title)
    }

    fn read(&mut self, text: &[u8]) {
        let mut tape = Tape::new();
        (self.whole, self.entries) = match tape.parse(text, LIMITS) {
            Ok(document) => {
                let root = document.root();
                (MessageName::of(root), root.elements().map(MessageName::of).collect())
            }
            Err(_) => (MessageName::default(), Vec::new()),
        };
    }
}

/// Adds excerpts of lines other than the one that was judged.
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
        return Excerpt::new(message.raw(), None, MessageName::of(message).title(method));
    }
    Excerpt::new(line, None, String::new())
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
    fn a_message_is_read_once_for_all_its_findings() {
        let batch = br#"[{"id":1,"method":"ping"},{"id":2,"result":{}}]"#;
        let other = br#"{"id":3,"method":"tools/list"}"#;
        let mut excerpts = Excerpts::default();
        let mut title = |text: &[u8], index| {
            let rule = mcp_rules::rule("params-invalid").unwrap();
            let mut finding = Finding::new(rule, Severity::Error, "wrong");
            (finding.index, finding.method) = (index, Some("ping"));
            excerpts.of_message(&finding, text).title
        };
        assert_eq!(title(batch, Some(0)), "ping, id 1");
        assert_eq!(title(batch, Some(1)), "result of ping, id 2");
        assert_eq!(title(batch, None), "");
        assert_eq!(title(other, None), "tools/list, id 3");
        assert_eq!(title(b"no message", None), "");
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
