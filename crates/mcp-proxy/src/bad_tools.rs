//! Tools that break a rule, in an otherwise valid list.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json::Node;
use mcp_rules::{Finding, Ruling};

/// What an enforcing proxy does with a list of tools if only some of them break a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[expect(clippy::exhaustive_enums, reason = "one setting, three positions")]
pub enum BadTools {
    /// Pass the list without them.
    #[default]
    Filter,
    /// Hold back the whole list.
    Reject,
    /// Pass the list unchanged; the findings are only reported.
    Pass,
}

/// Indices of bad tools in their list, by index of the batch entry (`None` for a single message).
pub(crate) type BadPlaces = BTreeMap<Option<usize>, BTreeSet<usize>>;

/// Finds the messages of a line that are held back only because of some of the tools they list.
pub(crate) fn find(ruling: &Ruling) -> BadPlaces {
    let mut places: BTreeMap<Option<usize>, Option<BTreeSet<usize>>> = BTreeMap::new();
    for finding in &ruling.blocking {
        let found = places.entry(finding.index).or_insert_with(|| Some(BTreeSet::new()));
        match (found.as_mut(), place_of(finding)) {
            (Some(found), Some(place)) => {
                found.insert(place);
            }
            _ => *found = None,
        }
    }
    for index in &ruling.unjudged {
        places.insert(*index, None);
    }
    // A fault of the whole batch counts for every entry.
    let is_batch = ruling.messages.len() > 1 || places.keys().any(Option::is_some);
    if is_batch && places.contains_key(&None) {
        return BadPlaces::new();
    }
    places.into_iter().filter_map(|(index, found)| Some((index, found?))).collect()
}

/// The index of the tool that a finding is about, if any.
fn place_of(finding: &Finding) -> Option<usize> {
    if finding.method != Some("tools/list") {
        return None;
    }
    let mut pointer = finding.pointer.as_deref()?;
    if let Some(index) = finding.index {
        pointer = pointer.strip_prefix(&format!("/{index}"))?;
    }
    let rest = pointer.strip_prefix("/result/tools/")?;
    rest.split('/').next()?.parse().ok()
}

/// The list of tools in a result; `None` if duplicate members make it ambiguous.
pub(crate) fn list_in(message: Node<'_>) -> Option<Node<'_>> {
    only(only(message, "result")?, "tools").filter(|tools| tools.is_array())
}

fn only<'n>(object: Node<'n>, name: &str) -> Option<Node<'n>> {
    let mut found = object.members().filter(|(member, _)| member.str_eq(name));
    let (_, value) = found.next()?;
    found.next().is_none().then_some(value)
}
