//! Entries of a list that repeat an earlier one.

use std::{
    borrow::Cow,
    hash::{BuildHasher, RandomState},
};

use mcp_json::Node;

/// Up to this many entries, comparing all pairs is fastest and needs no allocation.
const FEW: usize = 16;

/// Returns the values of `member` that an earlier entry of `list` already has, in list order.
pub(crate) fn repeated<'a>(list: Node<'a>, member: &str) -> Vec<Node<'a>> {
    let values = || list.elements().filter_map(|entry| entry.get(member));
    let mut texts: [&[u8]; FEW] = [b""; FEW];
    let mut count = 0;
    for node in values() {
        // With escapes, equal strings may be spelled differently.
        if count == FEW || node.raw().contains(&b'\\') {
            return among_many(values());
        }
        texts[count] = node.raw();
        count += 1;
    }
    let texts = &texts[..count];
    let none = texts.iter().enumerate().all(|(position, text)| !texts[..position].contains(text));
    if none {
        return Vec::new();
    }
    among_many(values())
}

/// Sorts by hash first: listed names and URIs tend to share long prefixes.
fn among_many<'a>(values: impl Iterator<Item = Node<'a>>) -> Vec<Node<'a>> {
    let hasher = RandomState::new();
    let mut sorted: Vec<(u64, Cow<'a, [u8]>, Node<'a>)> = values
        .filter_map(|node| {
            let text = node.str_bytes()?;
            Some((hasher.hash_one(&*text), text, node))
        })
        .collect();
    // Stable, so that the first of equal entries stays first.
    sorted.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
    let mut again: Vec<Node<'a>> = sorted
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1)
        .map(|pair| pair[1].2)
        .collect();
    again.sort_by_key(|node| node.span().start);
    again
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[usize]) {
        let list: Vec<_> = names.iter().map(|name| serde_json::json!({"name": name})).collect();
        let text = serde_json::to_vec(&list).unwrap();
        let mut tape = Tape::new();
        let document = tape.parse(&text, Limits::default()).unwrap();
        let found: Vec<_> = repeated(document.root(), "name").into_iter().map(Node::span).collect();
        let all: Vec<_> = document.root().elements().collect();
        let expected: Vec<_> =
            expected.iter().map(|position| all[*position].get("name").unwrap().span()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_repetition_counts_once_in_short_and_long_lists() {
        check(&[], &[]);
        check(&["a", "b"], &[]);
        check(&["a", "b", "a", "A", "a"], &[2, 4]);
        let mut names: Vec<String> = (0..40).map(|number| format!("tool{number}")).collect();
        names[7] = "tool30".into();
        names[39] = "tool0".into();
        names[38] = "tool0".into();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        check(&names, &[30, 38, 39]);
    }
}
