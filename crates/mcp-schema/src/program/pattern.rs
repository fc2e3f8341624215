//! `pattern`: an ECMA-262 expression on an engine that runs in linear time.

use std::collections::HashMap;

use mcp_json::Node;
use regex::bytes::{Regex, RegexBuilder};

/// Size limits of compiled expressions, with the steps that one byte of input then costs. The
/// engine is linear in the input, but each byte may cost as much as the expression has states.
const CLASSES: [(usize, u64); 3] = [(8 << 10, 1), (64 << 10, 16), (1 << 20, 128)];
/// Maximum length of an expression's source.
const MAX_SOURCE: usize = 8 << 10;
/// Limit on the steps per byte of all expressions of a schema; compiling them costs accordingly.
const MAX_STEPS_PER_BYTE: u64 = 2_048;

/// The expressions of one schema, each compiled once.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    /// `None` for those that need the backtracking engine.
    compiled: HashMap<Box<str>, Option<Pattern>>,
    steps_per_byte: u64,
}

/// The expressions of a schema are too large or too numerous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooCostly;

impl Patterns {
    pub(crate) fn add(&mut self, source: &str) -> Result<(), TooCostly> {
        if self.compiled.contains_key(source) {
            return Ok(());
        }
        if source.len() > MAX_SOURCE || self.steps_per_byte >= MAX_STEPS_PER_BYTE {
            return Err(TooCostly);
        }
        let pattern = Pattern::compile(source);
        let (_, most) = CLASSES[CLASSES.len() - 1];
        self.steps_per_byte += pattern.as_ref().map_or(most, |pattern| pattern.steps_per_byte);
        self.compiled.insert(source.into(), pattern);
        Ok(())
    }

    /// Whether all of them run in linear time.
    pub(crate) fn are_linear(&self) -> bool {
        self.compiled.values().all(Option::is_some)
    }

    /// The expression, if it was added and runs in linear time.
    pub(crate) fn get(&self, source: &str) -> Option<&Pattern> {
        self.compiled.get(source)?.as_ref()
    }
}

/// A compiled expression and its cost.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    source: Box<str>,
    regex: Regex,
    steps_per_byte: u64,
}

impl Pattern {
    /// `None` if the linear engine cannot run it (look-around, back-references, too large) or it is
    /// not a valid expression.
    fn compile(source: &str) -> Option<Pattern> {
        let translated = jsonschema_regex::to_rust_regex(source).ok()?;
        let build = |limit: usize| {
            RegexBuilder::new(&translated).size_limit(limit).dfa_size_limit(1 << 20).build().ok()
        };
        CLASSES.into_iter().find_map(|(limit, steps_per_byte)| {
            let regex = build(limit)?;
            Some(Pattern { source: source.into(), regex, steps_per_byte })
        })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// What matching `node` costs, in steps.
    pub(crate) fn steps(&self, node: Node<'_>) -> u64 {
        let span = node.span();
        self.steps_per_byte * (span.end - span.start) as u64
    }

    /// `text` is UTF-8.
    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_ecma_262() {
        let digits = Pattern::compile(r"^\d+$").unwrap();
        assert!(digits.is_match(b"123"));
        assert!(!digits.is_match("١٢٣".as_bytes()), "\\d is ASCII in ECMA-262");
    }

    #[test]
    fn what_cannot_run_in_linear_time_is_declined() {
        assert!(Pattern::compile("(?=a)b").is_none());
        assert!(Pattern::compile(r"(a)\1").is_none());
        assert!(Pattern::compile("(").is_none());
        assert!(Pattern::compile("(((a{1000}){1000}){1000})").is_none());
    }

    #[test]
    fn a_schema_has_only_so_many_large_expressions() {
        let mut patterns = Patterns::default();
        let mut add = |range: std::ops::Range<u32>| {
            range.map(|count| format!("^(?=x){count}")).try_for_each(|source| patterns.add(&source))
        };
        assert_eq!(add(0..10), Ok(()));
        assert_eq!(add(10..1000), Err(TooCostly));
        assert_eq!(Patterns::default().add(&"a".repeat(10_000)), Err(TooCostly));
    }

    #[test]
    fn large_expressions_cost_more() {
        let small = Pattern::compile("^[a-z]+$").unwrap();
        let large = Pattern::compile(r"^\p{L}{1,20}$").unwrap();
        assert!(small.steps_per_byte < large.steps_per_byte);
    }
}
