//! What a difference is, and how it reads.

use std::fmt;

use mcp_core::Revision;
use mcp_rules::{RuleMeta, behaviour};
use serde_json::{Value, json};

use crate::Offer;

/// Characters of what both texts have in common, left of and right of where they differ.
const AROUND: usize = 24;
/// Characters of a text that are shown.
const SHOWN: usize = 320;

/// A part of what a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the format of the lock names them")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Part {
    Capabilities,
    Instructions,
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// Something that is not as it was locked.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Drift {
    /// The revision at which it is offered.
    pub revision: Revision,
    /// Which part; `None` if it is about the revision as a whole.
    pub part: Option<Part>,
    /// The entry of a list, by its name or URI.
    pub name: Option<String>,
    /// What has happened to it.
    pub change: Change,
}

/// What has happened to something.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there are no other ways to differ")]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is different.
    Changed {
        /// Where in it, as a JSON pointer; empty for all of it.
        pointer: String,
        /// What was there.
        before: Option<Value>,
        /// What is there now.
        now: Option<Value>,
    },
}

impl Part {
    /// All, in the order of the lock.
    pub const ALL: [Part; 6] = [
        Part::Capabilities,
        Part::Instructions,
        Part::Tools,
        Part::Prompts,
        Part::Resources,
        Part::Templates,
    ];

    /// Its name in a lock.
    pub const fn as_str(self) -> &'static str {
        match self {
            Part::Capabilities => "capabilities",
            Part::Instructions => "instructions",
            Part::Tools => "tools",
            Part::Prompts => "prompts",
            Part::Resources => "resources",
            Part::Templates => "resourceTemplates",
        }
    }

    /// The method that lists it, if it is a list.
    pub const fn method(self) -> Option<&'static str> {
        match self {
            Part::Capabilities | Part::Instructions => None,
            Part::Tools => Some("tools/list"),
            Part::Prompts => Some("prompts/list"),
            Part::Resources => Some("resources/list"),
            Part::Templates => Some("resources/templates/list"),
        }
    }

    /// The member by which an entry of a list is known.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Part::Resources => "uri",
            Part::Templates => "uriTemplate",
            _ => "name",
        }
    }

    /// The part of an offer, as a lock has it.
    pub(super) fn of(self, offer: &Offer) -> Value {
        match self {
            Part::Capabilities => offer.capabilities.clone(),
            Part::Instructions => json!(offer.instructions),
            Part::Tools => self.list(&offer.tools),
            Part::Prompts => self.list(&offer.prompts),
            Part::Resources => self.list(&offer.resources),
            Part::Templates => self.list(&offer.templates),
        }
    }

    /// Entries as a lock has them: sorted, and without what follows the data behind a resource.
    pub(super) fn list(self, entries: &[Value]) -> Value {
        let mut entries = entries.to_vec();
        if self == Part::Resources {
            entries.iter_mut().for_each(forget_data);
        }
        entries.sort_by_cached_key(|entry| (self.name_of(entry), entry.to_string()));
        Value::Array(entries)
    }

    /// What an entry of a list is known by.
    pub(super) fn name_of(self, entry: &Value) -> String {
        match &entry[self.key()] {
            Value::String(name) => name.clone(),
            other => other.to_string(),
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Part::Capabilities => "capabilities",
            Part::Instructions => "instructions",
            Part::Tools => "tool",
            Part::Prompts => "prompt",
            Part::Resources => "resource",
            Part::Templates => "resource template",
        }
    }
}

/// How much there is behind a resource, and since when, is no promise.
fn forget_data(resource: &mut Value) {
    let Some(members) = resource.as_object_mut() else { return };
    members.remove("size");
    if let Some(annotations) = members.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("lastModified");
        if annotations.is_empty() {
            members.remove("annotations");
        }
    }
}

impl Drift {
    /// The rule that it breaks.
    pub fn rule(&self) -> &'static RuleMeta {
        match self.part {
            Some(Part::Resources) => &behaviour::LOCK_RESOURCE_DRIFT,
            _ => &behaviour::LOCK_DRIFT,
        }
    }

    /// What it is about: ``the tool `echo` ``.
    pub fn subject(&self) -> String {
        match (self.part, &self.name) {
            (None, _) => format!("revision {}", self.revision),
            (Some(part), Some(name)) => format!("the {} `{name}`", part.noun()),
            (Some(part), None) => format!("the {}", part.noun()),
        }
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.subject();
        match &self.change {
            Change::Added if self.part.is_none() => {
                write!(f, "{subject} is spoken, but the lock does not have it")
            }
            Change::Removed if self.part.is_none() => write!(f, "{subject} is no longer spoken"),
            Change::Added => write!(f, "{subject} is offered, but the lock does not have it"),
            Change::Removed => write!(f, "{subject} is no longer offered"),
            Change::Changed { pointer, before, now } => {
                let place =
                    if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
                let (before, now) = shown_pair(before.as_ref(), now.as_ref());
                let verb = if self.name.is_some() { "differs" } else { "differ" };
                write!(f, "{subject} {verb} from the lock{place}: was {before}, is {now}")
            }
        }
    }
}

/// Two values as text. Long strings are cut down to where they differ.
fn shown_pair(before: Option<&Value>, now: Option<&Value>) -> (String, String) {
    if let (Some(Value::String(before)), Some(Value::String(now))) = (before, now)
        && before.chars().count().max(now.chars().count()) > 2 * AROUND
    {
        let before: Vec<char> = before.chars().collect();
        let now: Vec<char> = now.chars().collect();
        let same = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
        let rest = before.len().min(now.len()) - same;
        let from_end = before.iter().rev().zip(now.iter().rev());
        let tail = from_end.take(rest).take_while(|(a, b)| a == b).count();
        let cut = |text: &[char]| {
            let from = same.saturating_sub(AROUND);
            let to = (text.len() - tail + AROUND).min(text.len());
            let middle: String = text[from..to].iter().collect();
            let before = if from > 0 { "…" } else { "" };
            let after = if to < text.len() { "…" } else { "" };
            format!("{before}{middle}{after}")
        };
        return (shown(&json!(cut(&before))), shown(&json!(cut(&now))));
    }
    let text = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), shown);
    (text(before), text(now))
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    let length = text.chars().count();
    if length <= SHOWN {
        return text;
    }
    let head: String = text.chars().take(SHOWN / 2).collect();
    let tail: String = text.chars().skip(length - SHOWN / 2).collect();
    format!("{head} … {tail}")
}
