//! Arbitrary values, written in odd but legal ways.

use std::fmt::Write as _;

use mcp_json::{Limits, Tape};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use serde_json::{Map, Number, Value};

pub(crate) fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![".{0,12}", "[ -~]{0,100}", "[\"\\\\\n\t/a😀]{0,80}"];
    let float = any::<f64>().prop_filter_map("finite", Number::from_f64).prop_map(Value::Number);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        float,
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(6, 80, 8, move |inner| {
        let members = proptest::collection::vec((text.clone(), inner.clone()), 0..8);
        prop_oneof![
            proptest::collection::vec(inner, 0..8).prop_map(Value::Array),
            members.prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

/// Writes a value with whitespace and escapes according to the choices, which are used cyclically.
struct Writer<'c> {
    choices: std::iter::Cycle<std::slice::Iter<'c, u8>>,
    text: String,
}

impl Writer<'_> {
    fn choice(&mut self) -> u8 {
        self.choices.next().copied().unwrap_or(0)
    }

    fn space(&mut self) {
        let spaces = ["", " ", "", "\n", "\t", "", "\r\n", "      "];
        let choice = self.choice() % 8;
        self.text += spaces[usize::from(choice)];
    }

    fn token(&mut self, token: &str) {
        self.space();
        self.text += token;
        self.space();
    }

    fn string(&mut self, string: &str) {
        let mut quoted = "\"".to_owned();
        for char in string.chars() {
            match self.choice() % 4 {
                0 => quoted += &utf16_escapes(char),
                1 => quoted += &utf16_escapes(char).to_uppercase().replace('U', "u"),
                2 if char == '/' => quoted += "\\/",
                _ if char < ' ' || matches!(char, '"' | '\\') => {
                    let escaped = serde_json::to_string(&char).unwrap();
                    quoted += &escaped[1..escaped.len() - 1];
                }
                _ => quoted.push(char),
            }
        }
        quoted.push('"');
        self.token(&quoted);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(string) => self.string(string),
            Value::Array(elements) => {
                self.token("[");
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.token(",");
                    }
                    self.value(element);
                }
                self.token("]");
            }
            Value::Object(members) => {
                self.token("{");
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        self.token(",");
                    }
                    self.string(name);
                    self.token(":");
                    self.value(value);
                }
                self.token("}");
            }
            scalar => self.token(&scalar.to_string()),
        }
    }
}

fn utf16_escapes(char: char) -> String {
    let mut escapes = String::new();
    for unit in char.encode_utf16(&mut [0; 2]) {
        write!(escapes, "\\u{unit:04x}").unwrap();
    }
    escapes
}

proptest! {
    #[test]
    fn values_survive_any_spelling(
        value in values(),
        choices in proptest::collection::vec(any::<u8>(), 1..100),
    ) {
        let mut writer = Writer { choices: choices.iter().cycle(), text: String::new() };
        writer.value(&value);
        let input = writer.text.as_bytes();
        let mut tape = Tape::new();
        let document = tape.parse(input, Limits::default()).unwrap();
        assert_eq!(document.root().to_value(), value);
        assert!(!document.has_duplicate_keys());
        assert!(!document.has_lone_surrogates());
    }
}
