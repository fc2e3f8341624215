use mcp_core::Revision;
use serde_json::{Value, json};

use crate::{
    Random,
    values::{Broken, Hostile, Reason, Valid, Values},
};

/// Words by which tools are recognized as echo tools.
const ECHOES: [&str; 3] = ["echo", "repeat", "parrot"];

/// The plan for calling a tool at one revision.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Values for its schema; `None` if the schema cannot be used.
    pub(super) values: Option<Values>,
    /// The broken reference that makes its schema unusable.
    pub(super) lost_reference: Option<String>,
    /// Whether it can only be run as a task.
    pub(super) is_task: bool,
    /// Base arguments from which others are derived: sample arguments, or all that the schema has.
    pub(super) base: Option<Value>,
    pub(super) valid: Vec<Valid>,
    /// The base without one optional member each, with the pointer to it.
    pub(super) without: Vec<(String, Value)>,
    pub(super) broken: Vec<Broken>,
    pub(super) hostile: Vec<Hostile>,
    /// Whether it can be called without arguments.
    pub(super) needs_nothing: bool,
    /// Whether it appears to be an echo tool.
    pub(super) echoes: bool,
}

impl Plan {
    /// Makes the plan for a tool, with its sample arguments and its number of calls.
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
        // Values with all members come first: numbers without a default are small, while defaults
        // may be large, and the first call should be fast.
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
            is_task: tool.pointer("/execution/taskSupport") == Some(&json!("required")),
            lost_reference: None,
        }
    }

    /// Whether valid arguments leave no reason to refuse them.
    pub(super) fn leaves_no_doubt(&self, valid: &Valid) -> bool {
        valid.reason == Reason::Given
            || self.values.as_ref().is_some_and(|values| values.leaves_no_doubt(&valid.value))
    }
}
