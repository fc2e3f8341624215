//! The members of an object in JavaScript's order.

use std::borrow::Cow;
use std::collections::HashMap;

use mcp_json::Node;

/// One member of an object.
#[derive(Debug, Clone)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) key: Node<'a>,
    pub(super) value: Node<'a>,
}

/// The members of an object, each name once: integer names first, in numeric order, then the others
/// in insertion order. The last value of a name wins, in the position of the first.
#[derive(Debug)]
pub(super) struct Members<'a> {
    all: Vec<Member<'a>>,
    /// Positions by name.
    places: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Members<'a> {
    pub(super) fn of(object: Node<'a>) -> Members<'a> {
        let mut all: Vec<Member<'a>> = Vec::with_capacity(object.len());
        let mut places: HashMap<Cow<'a, str>, usize> = HashMap::with_capacity(object.len());
        for (key, value) in object.members() {
            let name = key.as_str().unwrap_or_default();
            if let Some(place) = places.get(&name) {
                all[*place].value = value;
            } else {
                places.insert(name.clone(), all.len());
                all.push(Member { name, key, value });
            }
        }
        if all.iter().any(|member| array_index(&member.name).is_some()) {
            // The sort is stable.
            all.sort_by_key(|member| array_index(&member.name).unwrap_or(u32::MAX));
            for (place, member) in all.iter().enumerate() {
                places.insert(member.name.clone(), place);
            }
        }
        Members { all, places }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Member<'a>> {
        self.places.get(name).map(|place| &self.all[*place])
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Member<'a>> {
        self.all.iter()
    }
}

/// An array index as defined by ECMA-262: below 2³² − 1, in canonical notation.
fn array_index(name: &str) -> Option<u32> {
    let is_number = name == "0" || !name.starts_with(['0', '+']);
    name.parse().ok().filter(|index| is_number && *index != u32::MAX)
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[test]
    fn numbers_come_first_and_names_once() {
        let text = br#"{"b":1,"10":2,"9":3,"a":4,"b":5,"01":6,"+1":7}"#;
        let mut tape = Tape::new();
        let document = tape.parse(text, Limits::default()).unwrap();
        let members = Members::of(document.root());
        let found: Vec<String> = members
            .iter()
            .map(|member| format!("{}={}", member.name, member.value.as_i64().unwrap()))
            .collect();
        assert_eq!(found, ["9=3", "10=2", "b=5", "a=4", "01=6", "+1=7"]);
        assert_eq!(members.get("b").and_then(|member| member.value.as_i64()), Some(5));
        assert!(members.get("c").is_none());
    }
}
