//! Differences from a lock, and their messages.

use std::fmt;

use mcp_core::Revision;
use serde_json::{Value, json};

use super::Part;
use crate::{RuleMeta, behaviour};

/// How many common characters to show before and after the place where two texts differ.
const AROUND: usize = 24;
/// Maximum number of characters shown of a text.
const SHOWN: usize = 320;

/// A difference between a lock and what is offered now.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "reports need every field")]
pub struct Drift {
    /// The revision at which they differ.
    pub revision: Revision,
    /// The part that differs; `None` if it is the revision as a whole.
    pub part: Option<Part>,
    /// The name or URI of the list entry that differs.
    pub name: Option<String>,
    /// How it differs.
    pub change: Change,
}

/// How something differs from a lock.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "there are no other ways to differ")]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is different.
    Changed {
        /// The place in it, as a JSON pointer; empty if all of it differs.
        pointer: String,
        /// What was there.
        before: Option<Value>,
        /// What is there now.
        now: Option<Value>,
    },
}

impl Drift {
    /// What to do about it.
    pub const HELP: &str = "if the change is intended, write the lock again with `plumb lock`";

    /// The rule that it violates.
    pub fn rule(&self) -> &'static RuleMeta {
        match self.part {
            Some(Part::Resources) => &behaviour::LOCK_RESOURCE_DRIFT,
            _ => &behaviour::LOCK_DRIFT,
        }
    }

    /// The place to show in the part or entry, as a JSON pointer; for a missing member, the object
    /// that lacks it.
    pub fn shows_at(&self) -> &str {
        match &self.change {
            Change::Changed { pointer, now: Some(_), .. } => pointer,
            Change::Changed { pointer, now: None, .. } => {
                pointer.rsplit_once('/').map_or("", |(around, _)| around)
            }
            Change::Added | Change::Removed => "",
        }
    }

    /// The subject of its message: ``the tool `echo` ``.
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
                write!(f, "{subject} is supported, but it is not in the lock")
            }
            Change::Removed if self.part.is_none() => write!(f, "{subject} is no longer supported"),
            Change::Added => write!(f, "{subject} is offered, but it is not in the lock"),
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

/// Two values as text. Long strings are shortened to the place where they differ.
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
