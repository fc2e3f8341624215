//! Lookup of names that users type, with a suggestion for unknown ones.

use std::fmt;

use mcp_rules::RuleMeta;

/// A name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) struct UnknownName {
    /// The kind of thing, such as `rule`.
    kind: &'static str,
    name: String,
    /// The most likely intended name.
    pub(crate) near: Option<String>,
}

impl UnknownName {
    pub(crate) fn new<'c>(
        kind: &'static str,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> UnknownName {
        UnknownName {
            kind,
            name: name.to_owned(),
            near: nearest(name, candidates).map(str::to_owned),
        }
    }
}

impl UnknownName {
    /// The error text without the suggestion.
    pub(crate) fn what(&self) -> String {
        format!("there is no {} `{}`", self.kind, self.name)
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what())?;
        match &self.near {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

/// The rule called `name`.
pub(crate) fn rule(name: &str) -> Result<&'static RuleMeta, UnknownName> {
    mcp_rules::rule(name)
        .ok_or_else(|| UnknownName::new("rule", name, mcp_rules::catalogue().map(|rule| rule.name)))
}

/// The rules whose name has `part` in it.
pub(crate) fn containing(part: &str) -> Vec<&'static str> {
    let part = part.to_lowercase();
    let names = mcp_rules::catalogue().map(|rule| rule.name);
    names.filter(|name| !part.is_empty() && name.contains(&part)).collect()
}

/// The candidate that the user most likely meant: the closest in spelling, or else the only one
/// that contains `unknown`.
pub(crate) fn nearest<'c>(
    unknown: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(near) = mcp_schema::nearest(unknown, candidates.iter().copied()) {
        return Some(near);
    }
    let unknown = unknown.to_lowercase();
    let mut containing = (candidates.into_iter())
        .filter(|candidate| unknown.len() >= 4 && candidate.to_lowercase().contains(&unknown));
    let only = containing.next()?;
    containing.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_rule_is_found() {
        assert_eq!(rule("params-invalid").unwrap().name, "params-invalid");
    }

    #[test]
    fn an_unknown_rule_suggests_a_near_one() {
        let error = rule("parms-invalid").unwrap_err().to_string();
        assert_eq!(error, "there is no rule `parms-invalid`; did you mean `params-invalid`?");
        let error = rule("weather").unwrap_err().to_string();
        assert_eq!(error, "there is no rule `weather`");
    }

    #[test]
    fn a_part_of_a_single_name_is_enough() {
        let names = ["batch-empty", "batch-mixed", "byte-order-mark"];
        assert_eq!(nearest("order", names), Some("byte-order-mark"));
        assert_eq!(nearest("batch", names), None);
    }
}
