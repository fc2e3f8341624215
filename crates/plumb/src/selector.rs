//! Selects rules by name, by pattern or by layer.

use mcp_rules::{Layer, RuleMeta};

use crate::names::{self, UnknownName};

/// Prefix of a selector that names a layer.
const LAYER: &str = "layer:";

/// A set of rules, as named by the user; empty if a pattern matches none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    /// As it was written.
    pub(crate) text: String,
    pub(crate) rules: Vec<&'static RuleMeta>,
    /// If several select the same rule, the highest counts.
    pub(crate) rank: Rank,
}

/// A name is more specific than a pattern, a long pattern more than a short one, and any of them
/// more than a layer; `*` is the least specific.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Everything,
    Layer,
    /// The number of literal characters.
    Pattern(usize),
    Name,
}

/// Why a text is not a selector.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectorError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("`{0}` is not a pattern")]
    Pattern(String, #[source] glob::PatternError),
}

impl Selector {
    /// Reads `params-invalid`, `capability-*` or `layer:http`.
    pub(crate) fn parse(text: &str) -> Result<Selector, SelectorError> {
        if let Some(name) = text.strip_prefix(LAYER) {
            return Selector::of_layer(name, text);
        }
        if !text.contains(['*', '?', '[']) {
            let rules = vec![names::rule(text)?];
            return Ok(Selector { text: text.to_owned(), rules, rank: Rank::Name });
        }
        let pattern = glob::Pattern::new(text)
            .map_err(|error| SelectorError::Pattern(text.to_owned(), error))?;
        let literal = text.chars().filter(|character| !matches!(character, '*' | '?')).count();
        let rank = if literal == 0 { Rank::Everything } else { Rank::Pattern(literal) };
        Ok(Selector::of(text, rank, |rule| pattern.matches(rule.name)))
    }

    fn of_layer(name: &str, text: &str) -> Result<Selector, SelectorError> {
        let layer: Layer = name
            .parse()
            .map_err(|_| UnknownName::new("layer", name, Layer::ALL.map(Layer::as_str)))?;
        Ok(Selector::of(text, Rank::Layer, |rule| rule.layer == layer))
    }

    fn of(text: &str, rank: Rank, fits: impl Fn(&RuleMeta) -> bool) -> Selector {
        let rules = mcp_rules::catalogue().filter(|rule| fits(rule)).collect();
        Selector { text: text.to_owned(), rules, rank }
    }
}

impl SelectorError {
    /// The most likely intended name.
    pub(crate) fn near(&self) -> Option<&str> {
        match self {
            SelectorError::Unknown(unknown) => unknown.near.as_deref(),
            SelectorError::Pattern(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_rejected() {
        let error = |text| Selector::parse(text).unwrap_err().to_string();
        assert_eq!(error("layer:htp"), "there is no layer `htp`; did you mean `http`?");
        assert_eq!(
            error("parms-invalid"),
            "there is no rule `parms-invalid`; did you mean `params-invalid`?"
        );
        assert_eq!(error("[a"), "`[a` is not a pattern");
        assert_eq!(error("a***"), "`a***` is not a pattern");
        assert_eq!(error(""), "there is no rule ``");
    }

    #[test]
    fn a_pattern_may_match_nothing() {
        assert!(Selector::parse("wheather-*").unwrap().rules.is_empty());
    }
}
