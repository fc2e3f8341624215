//! The differences between two matched messages.

use std::collections::HashMap;

use mcp_json::{Node, push_token};
use mcp_rules::{HttpRecord, ReadLine};

use super::{
    headers,
    terms::{Scope, Terms},
};

/// Maximum differences listed per message.
pub(super) const MAX_CHANGES: usize = 50;
/// Maximum bytes kept of a value.
const MAX_VALUE: usize = 1024;

/// A difference inside a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(super) place: Place,
    /// JSON text, or the value of a header; `None` if it is not there.
    pub(super) left: Option<Vec<u8>>,
    pub(super) right: Option<Vec<u8>>,
}

/// Where two messages differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// At a JSON pointer.
    Pointer(String),
    Header(String),
    /// In the status of the response.
    Status,
    /// In the body of HTTP, or in text that is not JSON.
    Text,
}

/// The differences of a message, and whether there are more than listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(super) list: Vec<Change>,
    pub(super) has_more: bool,
}

impl Changes {
    pub(super) fn between(left: &ReadLine<'_>, right: &ReadLine<'_>, terms: &Terms) -> Changes {
        let mut changes = Changes::default();
        match (left.message(), right.message()) {
            (Some(left), Some(right)) => changes.compare_values(left, right, terms),
            (None, None) => changes.compare_texts(left, right),
            (one, other) => {
                let raw = |node: Option<Node<'_>>, line: &ReadLine<'_>| {
                    Some(kept(node.map_or(line.text(), Node::raw)))
                };
                changes.add(Place::Text, raw(one, left), raw(other, right));
            }
        }
        if let (Some(left), Some(right)) = (http_of(left), http_of(right))
            && terms.scope == Scope::Everything
        {
            changes.compare_http(left, right);
        }
        changes
    }

    /// Compares values level by level, without recursion, since a peer chooses the depth.
    fn compare_values(&mut self, left: Node<'_>, right: Node<'_>, terms: &Terms) {
        let mut waiting = vec![(String::new(), Some(left), Some(right))];
        while let Some((pointer, left, right)) = waiting.pop() {
            if self.has_more {
                return;
            }
            let children = match (left, right) {
                (Some(left), Some(right)) if is_same(left, right) => continue,
                _ if terms.ignores(&pointer, left, right) => continue,
                (Some(left), Some(right)) if left.is_object() && right.is_object() => {
                    members(&pointer, left, right)
                }
                (Some(left), Some(right)) if left.is_array() && right.is_array() => {
                    elements(&pointer, left, right, terms)
                }
                (left, right) => {
                    let raw = |node: Option<Node<'_>>| node.map(|node| kept(node.raw()));
                    self.add(Place::Pointer(pointer), raw(left), raw(right));
                    continue;
                }
            };
            waiting.extend(children.into_iter().rev());
        }
    }

    fn compare_texts(&mut self, left: &ReadLine<'_>, right: &ReadLine<'_>) {
        let text = |line: &ReadLine<'_>| {
            let record = line.record();
            let text = record.and_then(|record| record.text().map(kept));
            text.or_else(|| record.is_none().then(|| kept(line.text())))
        };
        let (left, right) = (text(left), text(right));
        if left != right {
            self.add(Place::Text, left, right);
        }
    }

    fn compare_http(&mut self, left: &HttpRecord<'_>, right: &HttpRecord<'_>) {
        if left.status != right.status {
            let text = |status: Option<u16>| status.map(|status| status.to_string().into_bytes());
            self.add(Place::Status, text(left.status), text(right.status));
        }
        if left.body != right.body {
            let body = |http: &HttpRecord<'_>| http.body.as_deref().map(kept);
            self.add(Place::Text, body(left), body(right));
        }
        let (Some(mut left), Some(right)) =
            (headers::compared(&left.headers), headers::compared(&right.headers))
        else {
            return;
        };
        for (name, value) in right {
            let old = left.remove(&name);
            if old.as_ref() != Some(&value) {
                let old = old.map(|old| kept(old.as_bytes()));
                self.add(Place::Header(name), old, Some(kept(value.as_bytes())));
            }
        }
        for (name, value) in left {
            self.add(Place::Header(name), Some(kept(value.as_bytes())), None);
        }
    }

    fn add(&mut self, place: Place, left: Option<Vec<u8>>, right: Option<Vec<u8>>) {
        if self.list.len() == MAX_CHANGES {
            self.has_more = true;
        } else {
            self.list.push(Change { place, left, right });
        }
    }
}

fn http_of<'a>(line: &ReadLine<'a>) -> Option<&'a HttpRecord<'a>> {
    line.record()?.http.as_deref()
}

type Pair<'a> = (String, Option<Node<'a>>, Option<Node<'a>>);

fn members<'a>(pointer: &str, left: Node<'a>, right: Node<'a>) -> Vec<Pair<'a>> {
    let mut others: HashMap<_, Node<'a>> =
        right.members().map(|(name, value)| (name.as_str().unwrap_or_default(), value)).collect();
    let mut pairs = Vec::new();
    for (name, value) in left.members() {
        let name = name.as_str().unwrap_or_default();
        let other = others.remove(&name);
        if other.is_none_or(|other| !is_same(value, other)) {
            pairs.push((below(pointer, &name), Some(value), other));
        }
    }
    for (name, value) in right.members() {
        let name = name.as_str().unwrap_or_default();
        if others.remove(&name).is_some() {
            pairs.push((below(pointer, &name), None, Some(value)));
        }
    }
    pairs
}

fn elements<'a>(pointer: &str, left: Node<'a>, right: Node<'a>, terms: &Terms) -> Vec<Pair<'a>> {
    let (mut left, mut right) = (left.elements(), right.elements());
    let mut pairs = Vec::new();
    for index in 0_usize.. {
        let (one, other) = (left.next(), right.next());
        if one.is_none() && other.is_none() {
            break;
        }
        // Keep one more than is listed, to notice that there are more; but all if some may be
        // ignored.
        if pairs.len() > MAX_CHANGES && terms.ignores_nothing() {
            break;
        }
        let is_equal = matches!((one, other), (Some(one), Some(other)) if is_same(one, other));
        if !is_equal {
            pairs.push((below(pointer, &index.to_string()), one, other));
        }
    }
    pairs
}

/// Whether two values are certainly the same.
fn is_same(left: Node<'_>, right: Node<'_>) -> bool {
    left.raw() == right.raw()
        || left.is_string() && right.is_string() && left.str_bytes() == right.str_bytes()
}

fn below(pointer: &str, token: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_token(&mut pointer, token);
    pointer
}

fn kept(value: &[u8]) -> Vec<u8> {
    value[..value.len().min(MAX_VALUE)].to_vec()
}

#[cfg(test)]
mod tests {
    use mcp_rules::{Limits, LineReader};

    use super::*;

    fn changes(left: &str, right: &str) -> Changes {
        let (mut one, mut other) =
            (LineReader::new(&Limits::default()), LineReader::new(&Limits::default()));
        one.read(left.as_bytes(), |left| {
            other.read(right.as_bytes(), |right| Changes::between(left, right, &Terms::default()))
        })
    }

    #[track_caller]
    fn check(left: &str, right: &str, expected: &[(&str, Option<&str>, Option<&str>)]) {
        let found = changes(left, right);
        let text = |value: &Option<Vec<u8>>| {
            value.as_ref().map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let found: Vec<_> = found
            .list
            .iter()
            .map(|change| {
                let place = match &change.place {
                    Place::Pointer(pointer) => pointer.clone(),
                    Place::Header(name) => format!("header {name}"),
                    Place::Status => "status".to_owned(),
                    Place::Text => "text".to_owned(),
                };
                (place, text(&change.left), text(&change.right))
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(place, left, right)| {
                ((*place).to_owned(), left.map(str::to_owned), right.map(str::to_owned))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn differences_have_pointers() {
        check(
            r#"{"jsonrpc":"2.0","result":{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"x"}}"#,
            r#"{"result":{"tools":[{"name":"a","title":"A"}]},"jsonrpc":"2.0"}"#,
            &[
                ("/result/tools/0/title", None, Some("\"A\"")),
                ("/result/tools/1", Some(r#"{"name":"b"}"#), None),
                ("/result/nextCursor", Some("\"x\""), None),
            ],
        );
        check(r#"{"a/b":1}"#, r#"{"a/b":[1]}"#, &[("/a~1b", Some("1"), Some("[1]"))]);
        check(r#"{"a":"\u0061"}"#, r#"{ "a":"a" }"#, &[]);
    }

    #[test]
    fn headers_are_compared_without_those_of_one_hop() {
        check(
            r#"{"from":"server","http":{"exchange":1,"status":200,"headers":{"Mcp-Session-Id":"a","Date":"x","X-A":"1"}},"msg":{}}"#,
            r#"{"from":"server","http":{"exchange":9,"status":201,"headers":{"mcp-session-id":"b","date":"y","x-b":"2"}},"msg":{}}"#,
            &[
                ("status", Some("200"), Some("201")),
                ("header mcp-session-id", Some("a"), Some("b")),
                ("header x-b", None, Some("2")),
                ("header x-a", Some("1"), None),
            ],
        );
    }

    #[test]
    fn only_so_many_are_listed() {
        let list = |value: u32, count: usize| format!("{{\"a\":{:?}}}", vec![value; count]);
        let full = changes(&list(1, MAX_CHANGES), &list(2, MAX_CHANGES));
        assert_eq!((full.list.len(), full.has_more), (MAX_CHANGES, false));
        let more = changes(&list(1, MAX_CHANGES + 1), &list(2, MAX_CHANGES + 1));
        assert_eq!((more.list.len(), more.has_more), (MAX_CHANGES, true));
    }
}
