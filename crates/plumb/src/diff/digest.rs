//! Digests of JSON values, for finding equal messages.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher as _, Hash},
};

use mcp_json::{Elements, Members, Node};

/// Members that middleboxes may rewrite together with ids, or add to.
const VOLATILE: [&str; 3] = ["_meta", "progressToken", "requestId"];

/// Computes digests. The keys are random, so that nobody can construct collisions.
#[derive(Debug, Clone, Default)]
pub(super) struct Digester {
    keys: RandomState,
}

impl Digester {
    pub(super) fn of(&self, value: impl Hash) -> u64 {
        self.keys.hash_one(value)
    }

    /// The digest of a value. The order of members does not matter.
    pub(super) fn value(&self, node: Node<'_>) -> u64 {
        let mut open: Vec<Container<'_>> = Vec::new();
        let mut finished = self.scalar_or_open(node, &mut open);
        while let Some(top) = open.last_mut() {
            if let Some(digest) = finished.take() {
                top.add(self, digest);
            }
            if let Some(child) = top.next(self) {
                finished = self.scalar_or_open(child, &mut open);
            } else {
                finished = Some(self.of((top.name.is_some(), top.count, top.sum)));
                open.pop();
            }
        }
        finished.unwrap_or_default()
    }

    /// The digest of a message's content, without its id and the members rewritten along with ids.
    pub(super) fn content(&self, message: Node<'_>) -> u64 {
        let mut sum = 0_u64;
        for (name, value) in message.members() {
            let name = name.str_bytes().unwrap_or_default();
            if &*name == b"id" {
                continue;
            }
            if !matches!(&*name, b"params" | b"result") || !value.is_object() {
                sum = sum.wrapping_add(self.of((&*name, self.value(value))));
                continue;
            }
            for (inner, value) in value.members() {
                if !VOLATILE.into_iter().any(|volatile| inner.str_eq(volatile)) {
                    let inner = inner.str_bytes().unwrap_or_default();
                    sum = sum.wrapping_add(self.of((&*name, &*inner, self.value(value))));
                }
            }
        }
        sum
    }

    /// The digest of a scalar; a container is opened instead.
    fn scalar_or_open<'a>(&self, node: Node<'a>, open: &mut Vec<Container<'a>>) -> Option<u64> {
        let children = if node.is_object() {
            Children::Members(node.members())
        } else if node.is_array() {
            Children::Elements(node.elements())
        } else {
            return Some(match node.str_bytes() {
                Some(text) => self.of((true, &*text)),
                None => self.of((false, node.raw())),
            });
        };
        let name = node.is_object().then_some(0);
        open.push(Container { children, name, sum: 0, count: 0 });
        None
    }
}

/// A container with the running sum of its children's digests.
struct Container<'a> {
    children: Children<'a>,
    /// The digest of the current member's name; `None` in an array.
    name: Option<u64>,
    sum: u64,
    count: u64,
}

enum Children<'a> {
    Members(Members<'a>),
    Elements(Elements<'a>),
}

impl<'a> Container<'a> {
    fn next(&mut self, digester: &Digester) -> Option<Node<'a>> {
        match &mut self.children {
            Children::Elements(elements) => elements.next(),
            Children::Members(members) => {
                let (name, value) = members.next()?;
                self.name = Some(digester.of(&*name.str_bytes().unwrap_or_default()));
                Some(value)
            }
        }
    }

    fn add(&mut self, digester: &Digester, digest: u64) {
        self.count += 1;
        self.sum = match self.name {
            Some(name) => self.sum.wrapping_add(digester.of((name, digest))),
            None => digester.of((self.sum, digest)),
        };
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, same_value: bool, same_content: bool) {
        let digester = Digester::default();
        let digests = [one, other].map(|text| {
            let mut tape = Tape::new();
            let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
            (digester.value(document.root()), digester.content(document.root()))
        });
        assert_eq!(digests[0].0 == digests[1].0, same_value, "{one} {other}");
        assert_eq!(digests[0].1 == digests[1].1, same_content, "{one} {other}");
    }

    #[test]
    fn equal_values_have_equal_digests() {
        check(r#"{"a":1,"b":[2,{"c":"d"}]}"#, r#"{ "b":[2, {"c":"\u0064"}], "a":1 }"#, true, true);
        check(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false, false);
        check(r#"{"a":[]}"#, r#"{"a":{}}"#, false, false);
        check(r#"{"a":[[],[]]}"#, r#"{"a":[[[]]]}"#, false, false);
        check(r#"{"a":"1"}"#, r#"{"a":1}"#, false, false);
    }

    #[test]
    fn ids_are_not_part_of_the_content() {
        check(
            r#"{"id":1,"method":"a","params":{"x":1,"_meta":{"progressToken":1}}}"#,
            r#"{"id":"p-1","method":"a","params":{"_meta":{"progressToken":7,"y":1},"x":1}}"#,
            false,
            true,
        );
        check(r#"{"id":1,"params":{"x":1}}"#, r#"{"id":1,"result":{"x":1}}"#, false, false);
    }
}
