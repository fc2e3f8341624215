//! Property names that are compared without a call for each candidate.

/// A property name and what tells it from others at a glance.
#[derive(Debug)]
pub(super) struct Name {
    text: Box<str>,
    print: Print,
}

/// The length of a text and its first and last eight bytes: all of it up to sixteen bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Print {
    length: usize,
    head: u64,
    tail: u64,
}

impl Name {
    pub(super) fn new(text: &str) -> Name {
        Name { text: text.into(), print: Print::of(text.as_bytes()) }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the name is `text`, which has this `print`.
    #[inline]
    pub(super) fn is(&self, text: &[u8], print: Print) -> bool {
        self.print == print && (print.length <= 16 || *self.text.as_bytes() == *text)
    }
}

impl Print {
    #[inline]
    pub(super) fn of(text: &[u8]) -> Print {
        let length = text.len();
        let (head, tail) = match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (text.first_chunk(), text.last_chunk()) {
                (Some(first), Some(last)) => {
                    (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
                }
                // At most three bytes: the first, the middle and the last are all of them.
                _ => match text {
                    [] => (0, 0),
                    [first, .., last] => {
                        (u64::from(*first) << 8 | u64::from(text[length / 2]), (*last).into())
                    }
                    [only] => ((*only).into(), 0),
                },
            },
        };
        Print { length, head, tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn equal_names_are_equal_texts(one in "[ab]{0,20}", other in "[ab]{0,20}") {
            let name = Name::new(&one);
            proptest::prop_assert!(name.is(one.as_bytes(), Print::of(one.as_bytes())));
            let equal = name.is(other.as_bytes(), Print::of(other.as_bytes()));
            proptest::prop_assert_eq!(equal, one == other);
        }
    }

    #[test]
    fn short_names_differ_in_every_byte() {
        let names = ["", "a", "b", "ab", "ba", "aab", "aba", "baa", "aaaa", "aaab", "abaaa"];
        for one in names {
            for other in names {
                let equal = Name::new(one).is(other.as_bytes(), Print::of(other.as_bytes()));
                assert_eq!(equal, one == other, "{one} {other}");
            }
        }
    }
}
