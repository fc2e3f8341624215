//! A violation of a schema by a value.

use std::fmt;

pub(crate) use mcp_json::push_token;
use mcp_json::{Node, Span};
use serde_json::{Value, json};

/// How many violations of one value are reported before the rest is summarised in a marker.
pub const MAX_VIOLATIONS: usize = 50;

/// Values in messages are truncated after this many characters.
const SHOWN_CHARACTERS: usize = 60;

/// A violation of a schema by a value, in the terms that `ajv` users know.
///
/// Two keywords are not from JSON Schema: `maxViolations` marks a list truncated at
/// [`MAX_VIOLATIONS`], `maxSteps` a value that takes too long to judge.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// JSON pointer of the failing value, from the value that was checked; cut after 4,096 bytes,
    /// with a `…`.
    pub instance_path: String,
    /// Location of the keyword: `#` and a JSON pointer into the schema document.
    pub schema_path: String,
    /// The keyword that failed.
    pub keyword: String,
    /// What the keyword requires: `{"type":"integer"}`, `{"missingProperty":"name"}`, ….
    pub params: Value,
    /// The same in plain words. Short values are shown, long ones truncated.
    pub message: String,
    /// Bytes of the failing value in the input. For a missing property: the object that lacks it;
    /// for an unexpected one: its key.
    pub span: Span,
}

/// Truncates a path for a violation. A member's name can be as long as the message, and every
/// violation below it would repeat it.
pub(crate) fn kept_path(path: &str) -> String {
    const LONGEST: usize = 4096;
    if path.len() <= LONGEST {
        return path.to_owned();
    }
    let end = (0..=LONGEST).rev().find(|end| path.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &path[..end])
}

impl Violation {
    /// The marker for a truncated list.
    pub(crate) fn more(node: Node<'_>) -> Violation {
        Violation {
            instance_path: String::new(),
            schema_path: "#".into(),
            keyword: "maxViolations".into(),
            params: json!({ "limit": MAX_VIOLATIONS }),
            message: format!(
                "there are more than {MAX_VIOLATIONS} violations; the rest is not shown"
            ),
            span: node.span(),
        }
    }

    /// The violation of a value that would take too long to check.
    pub(crate) fn undecided(node: Node<'_>) -> Violation {
        Violation {
            instance_path: String::new(),
            schema_path: "#".into(),
            keyword: "maxSteps".into(),
            params: json!({}),
            message: "checking this value against its schema takes more steps than allowed".into(),
            span: node.span(),
        }
    }

    /// The violation for a part of a schema that matches the meta-schema but cannot be compiled.
    pub(crate) fn unusable(node: Node<'_>, pointer: &str) -> Violation {
        let keyword = pointer.rsplit('/').next().unwrap_or_default();
        Violation {
            instance_path: pointer.to_owned(),
            schema_path: "#".into(),
            keyword: keyword.into(),
            params: json!({}),
            message: format!("{} cannot be used here", shown(node)),
            span: node.span(),
        }
    }

    /// The violation of a rejected value if nothing more precise is known.
    pub(crate) fn unexplained(node: Node<'_>, schema_path: String) -> Violation {
        Violation {
            instance_path: String::new(),
            message: format!("{} does not fit {schema_path}", shown(node)),
            schema_path,
            keyword: "$ref".into(),
            params: json!({}),
            span: node.span(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.instance_path.is_empty() {
            write!(f, "{}: ", self.instance_path)?;
        }
        f.write_str(&self.message)
    }
}

/// `node` as written in the message: on one line, truncated if long.
pub(crate) fn shown(node: Node<'_>) -> String {
    // At most four bytes per character, plus some for whitespace.
    let raw = node.raw();
    let raw = &raw[..raw.len().min(SHOWN_CHARACTERS * 8)];
    let text = String::from_utf8_lossy(raw);
    let mut shown = String::new();
    let mut count = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let blank = character.is_ascii_whitespace();
        if blank && characters.peek().is_some_and(char::is_ascii_whitespace) {
            continue;
        }
        if count == SHOWN_CHARACTERS {
            shown.push('…');
            return shown;
        }
        shown.push(if blank { ' ' } else { character });
        count += 1;
    }
    if raw.len() < node.raw().len() {
        shown.push('…');
    }
    shown
}

/// A value of a schema, truncated if long.
pub(crate) fn shown_value(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// `a, b, c`, truncated after a dozen.
pub(crate) fn listed(values: &[Value]) -> String {
    const MANY: usize = 12;
    let mut list = values.iter().take(MANY).map(shown_value).collect::<Vec<_>>().join(", ");
    if values.len() > MANY {
        list.push_str(", …");
    }
    list
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let mut tape = Tape::new();
        let document = tape.parse(input.as_bytes(), Limits::default()).unwrap();
        assert_eq!(shown(document.root()), expected);
    }

    #[test]
    fn short_values_are_shown_as_they_stand() {
        check(r#""three""#, r#""three""#);
        check("1e400", "1e400");
        check("{\n  \"a\":   1\n}", r#"{ "a": 1 }"#);
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let long = format!("\"{}\"", "ü".repeat(1000));
        check(&long, &format!("\"{}…", "ü".repeat(59)));
        let wide = format!("[{}1]", " ".repeat(5000));
        check(&wide, "[ …");
    }
}
