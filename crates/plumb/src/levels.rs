//! Levels as users set them, and whether they have any effect.

use std::collections::BTreeMap;

use mcp_core::Revision;
use mcp_rules::{Setting, Settings};

use crate::selector::Selector;

/// The levels set in one place: a table of a file, or the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Levels<L = Setting>(Vec<(Selector, L)>);

impl<L> Levels<L> {
    /// Levels from the least to the most specific, and equals in the order they were set, so
    /// applying them in turn leaves those that count.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = &(Selector, L)> {
        let mut ranked: Vec<&(Selector, L)> = self.0.iter().collect();
        ranked.sort_by_key(|(selector, _)| selector.rank);
        ranked.into_iter()
    }
}

impl Levels {
    /// Levels by rule name. If several match a rule, the most specific one counts, and of equals
    /// the last.
    pub(crate) fn by_rule(&self) -> BTreeMap<String, Setting> {
        let each = self.ranked().flat_map(|(selector, setting)| {
            selector.rules.iter().map(|rule| (rule.name.to_owned(), *setting))
        });
        each.collect()
    }

    /// Explains each level that has no effect, in one sentence.
    pub(crate) fn without_effect(
        &self,
        settings: &Settings,
        forced: Option<Revision>,
    ) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(move |(selector, _)| {
            let Selector { text, rules, .. } = selector;
            if rules.is_empty() {
                return Some(format!("no rule matches `{text}`"));
            }
            if !rules.iter().any(|rule| settings.looks_at(rule)) {
                let profile = settings.profile;
                return Some(format!(
                    "`{text}` has no effect: the profile `{profile}` excludes that layer"
                ));
            }
            let revision = forced?;
            let holds = rules.iter().any(|rule| rule.applies.contains(revision));
            (!holds).then(|| format!("`{text}` has no effect: it does not apply to {revision}"))
        })
    }
}

impl<L> Default for Levels<L> {
    fn default() -> Self {
        Levels(Vec::new())
    }
}

impl<L> FromIterator<(Selector, L)> for Levels<L> {
    fn from_iter<T: IntoIterator<Item = (Selector, L)>>(settings: T) -> Self {
        Levels(settings.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use mcp_rules::{Profile, Severity};

    use super::*;

    const ERROR: Setting = Setting::On(Severity::Error);
    const WARNING: Setting = Setting::On(Severity::Warning);

    fn said(settings: &[(&str, Setting)]) -> Levels {
        let parse = |(text, setting): &(&str, Setting)| (Selector::parse(text).unwrap(), *setting);
        settings.iter().map(parse).collect()
    }

    fn levels(settings: &[(&str, Setting)]) -> BTreeMap<String, Setting> {
        said(settings).by_rule()
    }

    #[test]
    fn patterns_and_layers_select_their_rules() {
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
    fn the_most_specific_selector_wins_in_any_order() {
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
    fn of_equals_the_last_wins() {
        let name = "batch-not-supported";
        assert_eq!(levels(&[(name, ERROR), (name, WARNING)])[name], WARNING);
    }

    #[test]
    fn settings_without_effect_are_reported() {
        let mut settings = Settings::default();
        let said = said(&[
            ("wheather-*", Setting::Off),
            ("layer:http", WARNING),
            ("batch-mixed", ERROR),
            ("batch-*", ERROR),
        ]);
        let why = |settings: &Settings, forced| {
            said.without_effect(settings, forced).collect::<Vec<String>>()
        };
        assert_eq!(why(&settings, None), ["no rule matches `wheather-*`"]);
        settings.profile = Profile::Schema;
        assert_eq!(
            why(&settings, Some(Revision::V2025_11_25)),
            [
                "no rule matches `wheather-*`",
                "`layer:http` has no effect: the profile `schema` excludes that layer",
                "`batch-mixed` has no effect: it does not apply to 2025-11-25",
            ]
        );
    }
}
