//! Shortens text from peers.

/// The first `longest` characters of a text. White space is folded, as it is shown on one line.
pub(crate) fn excerpt(text: &[u8], longest: usize) -> String {
    // A character has at most four bytes, and folding only shortens.
    let head = &text[..text.len().min(longest * 4 + 4)];
    let head = String::from_utf8_lossy(head);
    let mut words = String::new();
    let mut count = 0;
    for character in head.chars() {
        if count == longest {
            words.push('…');
            return words;
        }
        let is_space = character.is_whitespace();
        if is_space && words.ends_with(' ') {
            continue;
        }
        words.push(if is_space { ' ' } else { character });
        count += 1;
    }
    if text.len() > head.len() {
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_cut_at_characters() {
        assert_eq!(excerpt(b"a  \n b", 10), "a b");
        assert_eq!(excerpt("äöü".as_bytes(), 2), "äö…");
        assert_eq!(excerpt(b"\xff\xfe", 5), "\u{fffd}\u{fffd}");
        assert_eq!(excerpt(&b" ".repeat(1000), 5), " …");
    }
}
