//! Patterns of JSON pointers.

use std::str::FromStr;

/// A JSON pointer in which `*` stands for any one member or element: `/params/arguments/*/token`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointerPattern {
    /// `None` matches anything.
    tokens: Vec<Option<String>>,
}

/// The error for a text that is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a JSON pointer must be empty or begin with `/`")]
#[non_exhaustive]
pub struct NoPointer;

impl FromStr for PointerPattern {
    type Err = NoPointer;

    fn from_str(text: &str) -> Result<PointerPattern, NoPointer> {
        if text.is_empty() {
            return Ok(PointerPattern { tokens: Vec::new() });
        }
        let tokens = text.strip_prefix('/').ok_or(NoPointer)?.split('/');
        let tokens = tokens.map(|token| (token != "*").then(|| decoded(token))).collect();
        Ok(PointerPattern { tokens })
    }
}

fn decoded(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// How far a pattern has matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress<'p> {
    rest: &'p [Option<String>],
}

impl PointerPattern {
    pub(super) fn start(&self) -> Progress<'_> {
        Progress { rest: &self.tokens }
    }

    /// Whether it matches `pointer`, or an ancestor of it.
    pub fn covers(&self, pointer: &str) -> bool {
        let mut progress = self.start();
        for token in pointer.split('/').skip(1) {
            if progress.is_complete() {
                return true;
            }
            match progress.step(&decoded(token)) {
                Some(next) => progress = next,
                None => return false,
            }
        }
        progress.is_complete()
    }
}

impl<'p> Progress<'p> {
    /// Whether the whole pattern has matched.
    pub(super) fn is_complete(self) -> bool {
        self.rest.is_empty()
    }

    /// The progress after one more token, if that matches.
    pub(super) fn step(self, token: &str) -> Option<Progress<'p>> {
        let (first, rest) = self.rest.split_first()?;
        let matches = first.as_ref().is_none_or(|wanted| wanted == token);
        matches.then_some(Progress { rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_it_leads_to_and_all_below() {
        let covers = |pattern: &str, pointer: &str| {
            pattern.parse::<PointerPattern>().unwrap().covers(pointer)
        };
        assert!(covers("/result/*/a~1b", "/result/0/a~1b"));
        assert!(covers("/result", "/result/tools/0/name"));
        assert!(covers("", "/result") && covers("", ""));
        assert!(!covers("/result/x", "/result") && !covers("/result", ""));
        assert!(!covers("/result/x", "/result/y"));
    }
}
