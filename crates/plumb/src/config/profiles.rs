use std::collections::BTreeMap;

use mcp_rules::{Profile, Setting};

use crate::{failure::Failure, names::UnknownName};

/// The user's own profiles, by name. Each extends one that exists, and none extends itself.
#[derive(Debug, Default)]
pub(crate) struct Profiles(pub(super) BTreeMap<String, UserProfile>);

#[derive(Debug)]
pub(super) struct UserProfile {
    pub(super) extends: String,
    pub(super) rules: BTreeMap<String, Setting>,
}

/// One of ours, and what the user's profile changes about it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ResolvedProfile {
    pub(crate) base: Profile,
    pub(crate) rules: BTreeMap<String, Setting>,
}

impl Profiles {
    /// The profile called `name`, with everything it extends.
    pub(crate) fn resolve(&self, name: &str) -> Result<ResolvedProfile, UnknownName> {
        let mut rules = BTreeMap::new();
        let mut current = name;
        // Each step leads to another profile, so there are at most as many as profiles.
        for _ in 0..=self.0.len() {
            if let Ok(base) = current.parse() {
                return Ok(ResolvedProfile { base, rules });
            }
            let Some(profile) = self.0.get(current) else {
                break;
            };
            for (rule, setting) in &profile.rules {
                // What is nearer to the chosen profile wins.
                rules.entry(rule.clone()).or_insert(*setting);
            }
            current = &profile.extends;
        }
        Err(UnknownName::new("profile", current, self.names()))
    }

    /// The same for a name that somebody typed.
    pub(crate) fn named(&self, name: &str) -> Result<ResolvedProfile, Failure> {
        self.resolve(name).map_err(|error| {
            let names: Vec<&str> = self.names().collect();
            Failure::new(error.to_string()).hint(format!("profiles are {}", names.join(", ")))
        })
    }

    /// Every profile there is, ours first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let ours = (Profile::ALL.into_iter()).map(|profile| -> &str { profile.as_str() });
        ours.chain(self.0.keys().map(String::as_str))
    }

    /// Whether following `extends` from `name` comes back to it.
    pub(super) fn extends_itself(&self, name: &str) -> bool {
        let mut current = name;
        for _ in 0..=self.0.len() {
            let Some(profile) = self.0.get(current) else {
                return false;
            };
            current = &profile.extends;
            if current == name {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use mcp_rules::Severity;

    use super::*;

    /// Name, what it extends, rules.
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, Setting)]);

    fn profiles(list: &[Row<'_>]) -> Profiles {
        let build = |(name, extends, rules): &Row<'_>| {
            let rules = rules.iter().map(|(rule, setting)| ((*rule).to_owned(), *setting));
            let profile = UserProfile { extends: (*extends).to_owned(), rules: rules.collect() };
            ((*name).to_owned(), profile)
        };
        Profiles(list.iter().map(build).collect())
    }

    #[test]
    fn ours_need_no_file() {
        let resolved = Profiles::default().resolve("jsonrpc").unwrap();
        assert_eq!((resolved.base, resolved.rules.len()), (Profile::JsonRpc, 0));
    }

    #[test]
    fn the_nearer_profile_wins() {
        let profiles = profiles(&[
            ("house", "erlmcp", &[("a", Setting::Off), ("b", Setting::Off)]),
            ("strict", "house", &[("b", Setting::On(Severity::Error))]),
        ]);
        let resolved = profiles.resolve("strict").unwrap();
        assert_eq!(resolved.base, Profile::Erlmcp);
        assert_eq!(resolved.rules["a"], Setting::Off);
        assert_eq!(resolved.rules["b"], Setting::On(Severity::Error));
    }

    #[test]
    fn circles_end() {
        let profiles = profiles(&[("one", "two", &[]), ("two", "one", &[])]);
        assert!(profiles.extends_itself("one"));
        assert!(profiles.resolve("one").is_err());
    }

    #[test]
    fn an_unknown_name_suggests_a_near_one() {
        let profiles = profiles(&[("house", "spec", &[])]);
        let error = profiles.resolve("hause").unwrap_err();
        assert_eq!(error.near.as_deref(), Some("house"));
    }
}
