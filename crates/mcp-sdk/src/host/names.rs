//! The host's names for the tools and prompts of its servers.
//!
//! A tool keeps its own name if no other server has a tool of that name. Otherwise each of them is
//! called `<server>__<tool>`, and so is a tool whose own name does not match
//! `[A-Za-z0-9_.-]{1,128}` or is the long name of another. A name that still does not match is
//! sanitized and truncated, with a digest of the own name at its end. Names depend only on the
//! existing names, so they are stable; they are looked up, never parsed.

use std::collections::HashMap;

use ring::digest;

/// The maximum length of a name.
const LONGEST: usize = 128;
/// The maximum length of a server name, so that there is room for the rest.
const LONGEST_SERVER: usize = 64;
const SEPARATOR: &str = "__";

/// An invalid name for a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum BadServerName {
    #[error(
        "`{0}` cannot be the name of a server: one has 1 to 64 letters, digits, `_`, `.` and `-`, no \
         `__` inside and no `_` at the end"
    )]
    Unfit(String),
    #[error("two servers are called `{0}`")]
    Taken(String),
}

/// Without these rules, two pairs of server and tool could have the same long name.
pub(super) fn check_server_name(name: &str) -> Result<(), BadServerName> {
    let is_good = fits(name, LONGEST_SERVER) && !name.contains(SEPARATOR) && !name.ends_with('_');
    if is_good { Ok(()) } else { Err(BadServerName::Unfit(name.chars().take(80).collect())) }
}

/// The name that always identifies a tool, whatever others are called.
pub(super) fn long_name(server: &str, own: &str) -> String {
    let plain = format!("{server}{SEPARATOR}{own}");
    if fits(&plain, LONGEST) && !own.is_empty() {
        return plain;
    }
    let digest = digest(own);
    let room = LONGEST.saturating_sub(server.len() + SEPARATOR.len() + 1 + digest.len());
    let cleaned: String = own
        .chars()
        .map(|letter| if is_allowed(letter) { letter } else { '_' })
        .take(room)
        .collect();
    format!("{server}{SEPARATOR}{cleaned}-{digest}")
}

/// A name for each pair of server and own name, in their order.
pub(super) fn offered_names(pairs: &[(&str, &str)]) -> Vec<String> {
    let mut owners: HashMap<&str, usize> = HashMap::new();
    let mut long_names: HashMap<String, usize> = HashMap::new();
    for (index, (server, own)) in pairs.iter().enumerate() {
        *owners.entry(own).or_default() += 1;
        long_names.entry(long_name(server, own)).or_insert(index);
    }
    let keeps_own = |index: usize, own: &str| {
        fits(own, LONGEST)
            && owners.get(own) == Some(&1)
            && long_names.get(own).is_none_or(|owner| *owner == index)
    };
    let name_of = |(index, (server, own)): (usize, &(&str, &str))| {
        if keeps_own(index, own) { (*own).to_owned() } else { long_name(server, own) }
    };
    pairs.iter().enumerate().map(name_of).collect()
}

fn fits(name: &str, longest: usize) -> bool {
    (1..=longest).contains(&name.len()) && name.chars().all(is_allowed)
}

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-')
}

fn digest(own: &str) -> String {
    let digest = digest::digest(&digest::SHA256, own.as_bytes());
    let half = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    digest.as_ref().iter().take(8).flat_map(|byte| [half(byte >> 4), half(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_as_it_is_while_it_is_the_only_one() {
        let pairs = [("a", "search"), ("b", "search"), ("a", "read")];
        assert_eq!(offered_names(&pairs), ["a__search", "b__search", "read"]);
    }

    #[test]
    fn an_own_name_never_hides_the_long_name_of_another() {
        let pairs = [("a", "search"), ("b", "a__search")];
        assert_eq!(offered_names(&pairs), ["search", "b__a__search"]);
        let pairs = [("a", "x"), ("a", "a__x"), ("b", "x")];
        assert_eq!(offered_names(&pairs), ["a__x", "a__a__x", "b__x"]);
    }

    #[test]
    fn whatever_a_server_calls_its_tools_the_names_fit_and_differ() {
        let long = "x".repeat(128);
        let longer = "x".repeat(200);
        let owns = ["", " ", "ä", "ö", "a b", "a/b", &long, &longer, "\u{0}", "-", "__"];
        let server = "s".repeat(64);
        let pairs: Vec<_> =
            owns.iter().flat_map(|own| [(server.as_str(), *own), ("t", *own)]).collect();
        let names = offered_names(&pairs);
        for name in &names {
            assert!(fits(name, LONGEST), "{name:?}");
        }
        let different: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(different.len(), pairs.len(), "{names:#?}");
    }

    #[test]
    fn names_of_servers_that_could_be_confused_are_refused() {
        for name in ["", "a__b", "a_", "a b", "ä", &"x".repeat(65)] {
            assert!(check_server_name(name).is_err(), "{name}");
        }
        for name in ["a", "_a", "a_b", "my-server.v2", &"x".repeat(64)] {
            assert!(check_server_name(name).is_ok(), "{name}");
        }
    }
}
