use std::collections::BTreeMap;

use mcp_rules::{ExtraMethods, Profile, Setting};

use crate::{failure::Failure, levels::Levels, names::UnknownName};

/// The user's own profiles, by name. Each extends an existing one, and none extends itself.
#[derive(Debug, Default)]
pub(crate) struct Profiles(pub(super) BTreeMap<String, UserProfile>);

#[derive(Debug)]
pub(super) struct UserProfile {
    pub(super) extends: String,
    pub(super) levels: Levels,
    /// Methods it knows besides those of the revision.
    pub(super) methods: ExtraMethods,
}

impl Default for UserProfile {
    fn default() -> Self {
        UserProfile {
            extends: Profile::default().to_string(),
            levels: Levels::default(),
            methods: ExtraMethods::default(),
        }
    }
}

/// A built-in profile, and what the user's profile changes about it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ResolvedProfile {
    pub(crate) base: Profile,
    pub(crate) rules: BTreeMap<String, Setting>,
    pub(crate) methods: ExtraMethods,
    /// The levels set by the profiles along the way, the nearest first.
    pub(crate) levels: Vec<Levels>,
}

impl Profiles {
    /// The profile called `name`, with everything it extends.
    pub(crate) fn resolve(&self, name: &str) -> Result<ResolvedProfile, UnknownName> {
        let mut resolved = ResolvedProfile::default();
        let mut current = name;
        // Each step leads to another profile, so there are at most as many as profiles.
        for _ in 0..=self.0.len() {
            if let Ok(base) = current.parse() {
                return Ok(ResolvedProfile { base, ..resolved });
            }
            let Some(profile) = self.0.get(current) else {
                break;
            };
            for (rule, setting) in profile.levels.by_rule() {
                // The profile nearest to the chosen one wins.
                resolved.rules.entry(rule).or_insert(setting);
            }
            resolved.levels.push(profile.levels.clone());
            let ExtraMethods { requests, notifications } = profile.methods.clone();
            resolved.methods.requests.extend(requests);
            resolved.methods.notifications.extend(notifications);
            current = &profile.extends;
        }
        Err(UnknownName::new("profile", current, self.names()))
    }

    /// The same for a name that the user typed.
    pub(crate) fn named(&self, name: &str) -> Result<ResolvedProfile, Failure> {
        self.resolve(name).map_err(|error| {
            let names: Vec<&str> = self.names().collect();
            Failure::new(error.to_string()).hint(format!("profiles are {}", names.join(", ")))
        })
    }

    /// All profiles, built-in ones first.
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
    use crate::selector::Selector;

    /// Name, what it extends, rules.
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, Setting)]);

    fn profiles(list: &[Row<'_>]) -> Profiles {
        let build = |(name, extends, rules): &Row<'_>| {
            let levels = rules.iter().map(|(rule, setting)| {
                (Selector::parse(rule).expect("a rule that exists"), *setting)
            });
            let profile = UserProfile {
                extends: (*extends).to_owned(),
                levels: levels.collect(),
                ..UserProfile::default()
            };
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
            ("house", "erlmcp", &[("batch-empty", Setting::Off), ("batch-mixed", Setting::Off)]),
            ("strict", "house", &[("batch-mixed", Setting::On(Severity::Error))]),
        ]);
        let resolved = profiles.resolve("strict").unwrap();
        assert_eq!(resolved.base, Profile::Erlmcp);
        assert_eq!(resolved.rules["batch-empty"], Setting::Off);
        assert_eq!(resolved.rules["batch-mixed"], Setting::On(Severity::Error));
    }

    #[test]
    fn cycles_end() {
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
