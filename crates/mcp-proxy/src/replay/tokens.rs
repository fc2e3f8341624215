//! Replaces values that servers generate and clients repeat, such as cursors: a new server
//! generates others.

use std::collections::HashMap;

use bytes::Bytes;
use mcp_json::{Node, Span};

/// Where results contain such values.
const NAMED: [&[&str]; 4] = [
    &["result", "nextCursor"],
    &["result", "requestState"],
    &["result", "taskId"],
    &["result", "task", "taskId"],
];
/// Where requests repeat them.
const REPEATED: [&[&str]; 4] = [
    &["params", "cursor"],
    &["params", "requestState"],
    &["params", "taskId"],
    &["params", "_meta", "io.modelcontextprotocol/related-task", "taskId"],
];
/// Longer values are not replaced.
const MAX_LENGTH: usize = 64 << 10;
/// Maximum bytes of remembered values; later ones are not replaced.
const MAX_BYTES: usize = 32 << 20;
/// Approximate memory of an entry besides its text.
const OVERHEAD: usize = 128;

/// The generated values in one answer, as JSON text, by place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Named([Option<Bytes>; NAMED.len()]);

impl Named {
    pub(super) fn in_answer(message: Node<'_>) -> Named {
        Named(NAMED.map(|path| {
            let text = at(message, path)?.raw();
            (text.len() <= MAX_LENGTH).then(|| Bytes::copy_from_slice(text))
        }))
    }
}

/// Maps recorded values to new ones.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    new: HashMap<Bytes, Bytes>,
    bytes: usize,
}

impl Tokens {
    /// Learns new values from an answer.
    pub(super) fn learn(&mut self, then: &Named, now: &Named) {
        for (then, now) in then.0.iter().zip(&now.0) {
            let (Some(then), Some(now)) = (then, now) else { continue };
            let size = then.len() + now.len() + OVERHEAD;
            if then != now && self.bytes + size <= MAX_BYTES {
                self.bytes += size;
                self.new.insert(then.clone(), now.clone());
            }
        }
    }

    /// The replacements in a message of the client.
    pub(super) fn replacements(&self, message: Node<'_>) -> Vec<(Span, Bytes)> {
        if self.new.is_empty() {
            return Vec::new();
        }
        let repeated = REPEATED.into_iter().filter_map(|path| at(message, path));
        repeated
            .filter_map(|value| Some((value.span(), self.new.get(value.raw())?.clone())))
            .collect()
    }
}

/// The string at a path.
fn at<'a>(message: Node<'a>, path: &[&str]) -> Option<Node<'a>> {
    let found = path.iter().try_fold(message, |node, name| node.get(name));
    found.filter(|value| value.is_string())
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    fn with<T>(text: &str, look: impl FnOnce(Node<'_>) -> T) -> T {
        let mut tape = Tape::new();
        look(tape.parse(text.as_bytes(), Limits::default()).unwrap().root())
    }

    #[test]
    fn what_the_client_repeats_is_what_the_new_server_has_made_up() {
        let mut tokens = Tokens::default();
        let then = with(r#"{"result":{"nextCursor":"a"}}"#, Named::in_answer);
        let now = with(r#"{"result":{"nextCursor":"b"}}"#, Named::in_answer);
        tokens.learn(&then, &now);
        let parts = |text: &str| with(text, |root| tokens.replacements(root));
        let text = r#"{"params":{"cursor":"a"}}"#;
        let [(span, new)] = &parts(text)[..] else { panic!("nothing to replace") };
        assert_eq!((&text[span.start..span.end], &new[..]), ("\"a\"", &b"\"b\""[..]));
        assert!(parts(r#"{"params":{"cursor":"c","name":"a"}}"#).is_empty());
    }

    #[test]
    fn only_so_much_is_remembered() {
        let mut tokens = Tokens::default();
        let named = |text: String| {
            with(&format!(r#"{{"result":{{"nextCursor":"{text}"}}}}"#), Named::in_answer)
        };
        let long = "x".repeat(MAX_LENGTH);
        assert_eq!(named(long.clone()), Named::default());
        let now = named("new".into());
        for number in 0..2 * MAX_BYTES / MAX_LENGTH {
            tokens.learn(&named(format!("{number}{}", &long[100..])), &now);
        }
        assert!(tokens.bytes <= MAX_BYTES && tokens.bytes > MAX_BYTES - 2 * MAX_LENGTH);
        assert!(tokens.new.len() < 2 * MAX_BYTES / MAX_LENGTH);
    }
}
