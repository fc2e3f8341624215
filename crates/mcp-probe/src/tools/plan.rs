use mcp_core::Revision;
use serde_json::{Value, json};

use crate::{
    Random,
    values::{Broken, Hostile, Reason, Valid, Values},
};

/// Words with which tools say that they return what they are given.
const ECHOES: [&str; 3] = ["echo", "repeat", "parrot"];

/// What a tool is called with at one revision.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What its schema allows; `None` if it has none that can be used.
    pub(super) values: Option<Values>,
    /// Why nobody can use its schema.
    pub(super) lost_reference: Option<String>,
    /// Arguments that others are made from: those that were given for it, or all that it takes.
    pub(super) base: Option<Value>,
    pub(super) valid: Vec<Valid>,
    /// The base without something optional, and what that is.
    pub(super) without: Vec<(String, Value)>,
    pub(super) broken: Vec<Broken>,
    pub(super) hostile: Vec<Hostile>,
    /// Whether it can be called without arguments.
    pub(super) needs_nothing: bool,
    /// Whether it says that it returns what it is given.
    pub(super) echoes: bool,
}

impl Plan {
    /// The plan for a tool, with the arguments that were given for it and as many calls as it has
    /// a share in.
    pub(super) fn of(
        tool: &Value,
        revision: Revision,
        samples: &[Value],
        mut random: Random,
        share: usize,
    ) -> Plan {
        let Some(values) = Values::of(&tool["inputSchema"], revision) else {
            let lost_reference = Values::lost_reference(&tool["inputSchema"]);
            return Plan { lost_reference, ..Plan::default() };
        };
        let given = samples.iter().filter(|sample| values.accepts(sample));
        let mut valid: Vec<Valid> =
            given.map(|value| Valid { value: value.clone(), reason: Reason::Given }).collect();
        let base = match valid.first() {
            Some(given) => Some(given.value.clone()),
            None => values.full(&mut random).or_else(|| values.least(&mut random)),
        };
        valid.extend(values.valid(&mut random, share * 3 / 10));
        // What has all members comes first: numbers without a default are small, defaults need not
        // be, and the first call should not take long.
        valid.sort_by_key(|valid| !matches!(valid.reason, Reason::Given | Reason::Full));
        valid.truncate(share * 3 / 10);
        let made = base.clone().unwrap_or_default();
        let broken = if base.is_some() { values.broken(&made, share * 4 / 10) } else { Vec::new() };
        let hostile =
            if base.is_some() { values.hostile(&made, share * 3 / 10) } else { Vec::new() };
        let mut without = if base.is_some() { values.without(&made) } else { Vec::new() };
        without.truncate(share / 4);
        let says = |member: &str| {
            let text = tool[member].as_str().unwrap_or_default().to_lowercase();
            ECHOES.iter().any(|word| text.contains(word))
        };
        Plan {
            base,
            valid,
            without,
            broken,
            hostile,
            needs_nothing: values.accepts(&json!({})),
            echoes: says("name") || says("title") || says("description"),
            values: Some(values),
            lost_reference: None,
        }
    }

    /// Whether nobody can find fault with arguments that fit.
    pub(super) fn leaves_no_doubt(&self, valid: &Valid) -> bool {
        valid.reason == Reason::Given
            || self.values.as_ref().is_some_and(|values| values.leaves_no_doubt(&valid.value))
    }
}
