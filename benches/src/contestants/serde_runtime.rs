//! `serde_json` to a `Value`, then `jsonschema` with validators compiled at start.

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::Value;

use super::Contestant;
use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;
use crate::corpus::tool_list::Tool;
use crate::selection::{SCHEMAS, select, tool_call};

#[derive(Debug)]
pub(super) struct SerdeRuntime {
    envelopes: Vec<Validator>,
    tools: ToolValidators,
}

impl SerdeRuntime {
    pub(super) fn new(tools: &[Tool]) -> SerdeRuntime {
        let envelopes = SCHEMAS.iter().map(|schema| compile(schema)).collect();
        SerdeRuntime { envelopes, tools: ToolValidators::new(tools) }
    }
}

impl Contestant for SerdeRuntime {
    fn name(&self) -> &'static str {
        "serde_json + jsonschema, at run time"
    }

    fn notices(&self) -> NoticedBy {
        NoticedBy::Arguments
    }

    fn verdict(&mut self, message: &Message) -> bool {
        let Ok(value) = serde_json::from_slice::<Value>(&message.bytes) else {
            return false;
        };
        let Some(index) = select(&value, message) else {
            return false;
        };
        self.envelopes[index].is_valid(&value) && self.tools.accept(&value)
    }
}

/// The validators of tools' arguments, by tool name.
#[derive(Debug)]
pub(super) struct ToolValidators(HashMap<String, Validator>);

impl ToolValidators {
    pub(super) fn new(tools: &[Tool]) -> ToolValidators {
        let compiled =
            tools.iter().map(|tool| (tool.name.clone(), compile(&tool.input_schema.to_text())));
        ToolValidators(compiled.collect())
    }

    /// Whether the message is not a call of a known tool with wrong arguments.
    pub(super) fn accept(&self, value: &Value) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let Some((name, arguments)) = tool_call(value) else {
            return true;
        };
        self.0.get(name).is_none_or(|validator| validator.is_valid(arguments))
    }
}

fn compile(schema: &str) -> Validator {
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    jsonschema::draft202012::new(&schema).expect("the schema compiles")
}
