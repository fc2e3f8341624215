//! Finds the JSON pointers for byte ranges.

use std::cmp::Reverse;
use std::iter::Peekable;

use crate::node::{Elements, Members, Node};
use crate::pointer::push_token;
use crate::span::Span;

/// Longer pointers are not written: a hostile member name could make every one of them as long as
/// the text.
const LONGEST: usize = 4096;

/// The JSON pointer of the innermost value that contains each of `spans`, in their order. A
/// member's name counts as part of its value.
///
/// `None` for a span outside `root` and for pointers of more than 4,096 bytes. All spans are found
/// in one walk, so the cost is proportional to the size of the document plus the number of spans,
/// not to their product.
///
/// ```
/// use mcp_json::{Limits, Span, Tape, locate};
///
/// let mut tape = Tape::new();
/// let document = tape.parse(br#"{"a":[1,{"b":true}]}"#, Limits::default())?;
/// let found = locate(document.root(), &[Span { start: 13, end: 17 }]);
/// assert_eq!(found, [Some("/a/1/b".to_owned())]);
/// # Ok::<(), mcp_json::SyntaxError>(())
/// ```
pub fn locate(root: Node<'_>, spans: &[Span]) -> Vec<Option<String>> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&index| (spans[index].start, Reverse(spans[index].end)));
    let mut found = vec![None; spans.len()];
    let mut path = Path::new(root);
    for index in order {
        found[index] = path.find(spans[index]);
    }
    found
}

/// The path from the root to a value; spans are searched from left to right.
struct Path<'a> {
    steps: Vec<Step<'a>>,
    pointer: String,
}

struct Step<'a> {
    span: Span,
    children: Children<'a>,
    /// Length of the pointer up to here; `None` if it is too long to be written.
    length: Option<usize>,
}

enum Children<'a> {
    Members(Peekable<Members<'a>>),
    Elements(usize, Peekable<Elements<'a>>),
}

/// A child's name or index: its pointer token.
enum Token<'a> {
    Name(Node<'a>),
    Index(usize),
}

impl<'a> Path<'a> {
    fn new(root: Node<'a>) -> Path<'a> {
        let step = Step { span: root.span(), children: Children::of(root), length: Some(0) };
        Path { steps: vec![step], pointer: String::new() }
    }

    /// The pointer of the innermost value that contains `wanted`.
    fn find(&mut self, wanted: Span) -> Option<String> {
        // A value that ends before `wanted` contains none of the later spans either.
        while self.steps.len() > 1
            && self.steps.last().is_some_and(|top| top.span.end <= wanted.start)
        {
            self.steps.pop();
        }
        while self.steps.last().is_some_and(|top| top.holds(wanted))
            && let Some((token, child)) = self.steps.last_mut().and_then(|top| {
                top.children.skip_before(wanted.start);
                top.children.child_with(wanted)
            })
        {
            self.push(&token, child);
        }
        let step = self.steps.iter().rev().find(|step| step.holds(wanted))?;
        step.length.and_then(|length| self.pointer.get(..length)).map(str::to_owned)
    }

    fn push(&mut self, token: &Token<'a>, child: Node<'a>) {
        let length = self.steps.last().and_then(|top| top.length);
        let length = length.and_then(|length| {
            self.pointer.truncate(length);
            let room = LONGEST.saturating_sub(length);
            match token {
                Token::Name(name) if name.raw().len() < room => {
                    push_token(&mut self.pointer, &name.as_str().unwrap_or_default());
                }
                Token::Index(index) if room > 20 => {
                    push_token(&mut self.pointer, &index.to_string());
                }
                Token::Name(_) | Token::Index(_) => return None,
            }
            Some(self.pointer.len())
        });
        // A member's name is part of the member.
        let start = match token {
            Token::Name(name) => name.span().start,
            Token::Index(_) => child.span().start,
        };
        let span = Span { start, end: child.span().end };
        self.steps.push(Step { span, children: Children::of(child), length });
    }
}

impl Step<'_> {
    fn holds(&self, wanted: Span) -> bool {
        self.span.start <= wanted.start && wanted.end <= self.span.end
    }
}

impl<'a> Children<'a> {
    fn of(node: Node<'a>) -> Children<'a> {
        if node.is_object() {
            Children::Members(node.members().peekable())
        } else {
            Children::Elements(0, node.elements().peekable())
        }
    }

    /// Skips children that end before `start`. No later span can be in them.
    fn skip_before(&mut self, start: usize) {
        match self {
            Children::Members(members) => {
                while members.next_if(|(_, value)| value.span().end <= start).is_some() {}
            }
            Children::Elements(index, elements) => {
                while elements.next_if(|element| element.span().end <= start).is_some() {
                    *index += 1;
                }
            }
        }
    }

    /// The next child, if it contains `wanted`.
    fn child_with(&mut self, wanted: Span) -> Option<(Token<'a>, Node<'a>)> {
        let (token, child, start) = match self {
            Children::Members(members) => {
                let (name, value) = members.peek()?;
                (Token::Name(*name), *value, name.span().start)
            }
            Children::Elements(index, elements) => {
                let element = elements.peek()?;
                (Token::Index(*index), *element, element.span().start)
            }
        };
        let holds = start <= wanted.start && wanted.end <= child.span().end;
        holds.then_some((token, child))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Tape};

    const TEXT: &str = r#"{"a":[1,{"b":true}],"~/":{"c d":null},"e":[]}"#;

    #[track_caller]
    fn check(wanted: &[(&str, Option<&str>)]) {
        let mut tape = Tape::new();
        let document = tape.parse(TEXT.as_bytes(), Limits::default()).unwrap();
        let span = |part: &str| {
            let start = TEXT.find(part).unwrap();
            Span { start, end: start + part.len() }
        };
        let spans: Vec<Span> = wanted.iter().map(|(part, _)| span(part)).collect();
        let found = locate(document.root(), &spans);
        for ((part, expected), found) in wanted.iter().zip(found) {
            assert_eq!(found.as_deref(), *expected, "{part}");
        }
    }

    #[test]
    fn spans_lead_to_the_innermost_value() {
        check(&[
            ("null", Some("/~0~1/c d")),
            ("true", Some("/a/1/b")),
            ("1", Some("/a/0")),
            ("[1,{\"b\":true}]", Some("/a")),
            ("\"b\"", Some("/a/1/b")),
            ("1,{\"b\"", Some("/a")),
            (TEXT, Some("")),
            ("[]", Some("/e")),
            ("ru", Some("/a/1/b")),
            ("true", Some("/a/1/b")),
        ]);
    }

    #[test]
    fn spans_that_overlap_take_what_holds_both_ends() {
        let across = "true}],\"~/\"";
        check(&[("{\"b\":true}", Some("/a/1")), (across, Some("")), ("true", Some("/a/1/b"))]);
        check(&[("1,{\"b\"", Some("/a")), ("b\":tr", Some("/a/1/b")), ("ru", Some("/a/1/b"))]);
    }

    #[test]
    fn nothing_outside_the_root_is_found() {
        let mut tape = Tape::new();
        let document = tape.parse(b"  [1] ", Limits::default()).unwrap();
        let outside = [Span { start: 0, end: 1 }, Span { start: 3, end: 9 }];
        assert_eq!(locate(document.root(), &outside), [None, None]);
        assert_eq!(locate(document.root(), &[]), []);
    }

    #[test]
    fn long_pointers_are_not_written() {
        let text = format!(r#"{{"{}":[1,2],"b":[3]}}"#, "x".repeat(LONGEST));
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        let spans: Vec<Span> = ["1", "2", "3"]
            .iter()
            .map(|digit| text.find(digit).unwrap())
            .map(|start| Span { start, end: start + 1 })
            .collect();
        assert_eq!(locate(document.root(), &spans), [None, None, Some("/b/0".to_owned())]);
    }

    #[test]
    fn pointers_lead_back() {
        let mut tape = Tape::new();
        let document = tape.parse(TEXT.as_bytes(), Limits::default()).unwrap();
        let mut nodes = vec![document.root()];
        let mut next = 0;
        while let Some(node) = nodes.get(next).copied() {
            nodes.extend(node.elements().chain(node.members().map(|(_, value)| value)));
            next += 1;
        }
        let spans: Vec<Span> = nodes.iter().map(|node| node.span()).collect();
        for (node, pointer) in nodes.iter().zip(locate(document.root(), &spans)) {
            let back = document.root().pointer(&pointer.unwrap()).unwrap();
            assert_eq!(back.index(), node.index());
        }
    }
}
