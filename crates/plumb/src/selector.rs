//! Which rules a level is for: one by name, those that fit a pattern, or those of a layer.

use std::collections::BTreeMap;

use mcp_rules::{Layer, Meta, Setting};

use crate::names::{self, UnknownName};

/// What comes before the name of a layer.
const LAYER: &str = "layer:";

/// Some rules, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selector {
    rules: Vec<&'static Meta>,
    /// Where several name the same rule, the highest counts.
    rank: Rank,
}

/// A name says more than a pattern, a long pattern more than a short one, and any of them more
/// than a layer; `*` says least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Everything,
    Layer,
    /// How much of it stands for itself.
    Pattern(usize),
    Name,
}

/// Why a text selects nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectorError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("no rule fits `{0}`")]
    NoMatch(String),
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
            return Ok(Selector { rules: vec![names::rule(text)?], rank: Rank::Name });
        }
        let pattern = glob::Pattern::new(text)
            .map_err(|error| SelectorError::Pattern(text.to_owned(), error))?;
        let literal = text.chars().filter(|character| !matches!(character, '*' | '?')).count();
        let rank = if literal == 0 { Rank::Everything } else { Rank::Pattern(literal) };
        Selector::of(text, rank, |rule| pattern.matches(rule.name))
    }

    fn of_layer(name: &str, text: &str) -> Result<Selector, SelectorError> {
        let layer: Layer = name
            .parse()
            .map_err(|_| UnknownName::new("layer", name, Layer::ALL.map(Layer::as_str)))?;
        Selector::of(text, Rank::Layer, |rule| rule.layer == layer)
    }

    fn of(text: &str, rank: Rank, fits: impl Fn(&Meta) -> bool) -> Result<Selector, SelectorError> {
        let rules: Vec<_> = mcp_rules::catalogue().filter(|rule| fits(rule)).collect();
        if rules.is_empty() {
            return Err(SelectorError::NoMatch(text.to_owned()));
        }
        Ok(Selector { rules, rank })
    }
}

impl SelectorError {
    /// What was probably meant.
    pub(crate) fn near(&self) -> Option<&str> {
        match self {
            SelectorError::Unknown(unknown) => unknown.near.as_deref(),
            SelectorError::NoMatch(_) | SelectorError::Pattern(..) => None,
        }
    }
}

/// Levels by rule name. Of several for one rule, the one that names it most closely counts, and of
/// equals the last.
pub(crate) fn by_rule(
    settings: impl IntoIterator<Item = (Selector, Setting)>,
) -> BTreeMap<String, Setting> {
    let mut settings: Vec<(Selector, Setting)> = settings.into_iter().collect();
    settings.sort_by_key(|(selector, _)| selector.rank);
    let each = settings.iter().flat_map(|(selector, setting)| {
        selector.rules.iter().map(|rule| (rule.name.to_owned(), *setting))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use mcp_rules::Severity;

    use super::*;

    const ERROR: Setting = Setting::On(Severity::Error);
    const WARNING: Setting = Setting::On(Severity::Warning);

    fn levels(settings: &[(&str, Setting)]) -> BTreeMap<String, Setting> {
        let parse = |(text, setting): &(&str, Setting)| (Selector::parse(text).unwrap(), *setting);
        by_rule(settings.iter().map(parse))
    }

    #[test]
    fn patterns_and_layers_stand_for_their_rules() {
        let levels = levels(&[("batch-*", Setting::Off), ("layer:json", WARNING)]);
        assert_eq!(levels["batch-empty"], Setting::Off);
        assert_eq!(levels["json-duplicate-key"], WARNING);
        assert!(!levels.contains_key("params-invalid"));
    }

    #[test]
    fn everything_is_every_rule() {
        assert_eq!(levels(&[("*", Setting::Off)]).len(), mcp_rules::catalogue().count());
    }

    #[test]
    fn what_names_a_rule_most_closely_counts_in_any_order() {
        let mut settings = [
            ("batch-empty", ERROR),
            ("*", Setting::Off),
            ("batch-*", WARNING),
            ("layer:jsonrpc", Setting::Off),
            ("batch-e*", Setting::Off),
        ];
        for _ in 0..settings.len() {
            settings.rotate_left(1);
            let levels = levels(&settings);
            assert_eq!(levels["batch-empty"], ERROR);
            assert_eq!(levels["batch-mixed"], WARNING);
            assert_eq!(levels["method-empty"], Setting::Off);
        }
    }

    #[test]
    fn of_equals_the_last_counts() {
        assert_eq!(
            levels(&[("batch-not-supported", ERROR), ("batch-not-supported", WARNING)])["batch-not-supported"],
            WARNING
        );
    }

    #[test]
    fn what_selects_nothing_is_refused() {
        let error = |text| Selector::parse(text).unwrap_err().to_string();
        assert_eq!(error("wheather-*"), "no rule fits `wheather-*`");
        assert_eq!(error("layer:htp"), "there is no layer `htp`; did you mean `http`?");
        assert_eq!(
            error("parms-invalid"),
            "there is no rule `parms-invalid`; did you mean `params-invalid`?"
        );
        assert_eq!(error("[a"), "`[a` is not a pattern");
        assert_eq!(error("a***"), "`a***` is not a pattern");
        assert_eq!(error(""), "there is no rule ``");
    }
}
