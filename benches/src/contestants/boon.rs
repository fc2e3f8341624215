//! `serde_json` to a `Value`, then `boon`.

use std::collections::HashMap;

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::Value;

use super::Contestant;
use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;
use crate::corpus::tool_list::Tool;
use crate::selection::{SCHEMAS, select, tool_call};

pub(super) struct Boon {
    schemas: Schemas,
    envelopes: Vec<SchemaIndex>,
    tools: HashMap<String, SchemaIndex>,
}

impl Boon {
    pub(super) fn new(tools: &[Tool]) -> Boon {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        let mut compile = |place: String, text: &str| {
            let schema = serde_json::from_str(text).expect("the schema is JSON");
            compiler.add_resource(&place, schema).expect("the place is new");
            compiler.compile(&place, &mut schemas).expect("the schema compiles")
        };
        let envelopes = SCHEMAS.iter().enumerate();
        let envelopes =
            envelopes.map(|(index, text)| compile(format!("mem:///message/{index}"), text));
        let envelopes = envelopes.collect();
        let tools = tools.iter().map(|tool| {
            let place = format!("mem:///tool/{}", tool.name);
            (tool.name.clone(), compile(place, &tool.input_schema.to_text()))
        });
        let tools = tools.collect();
        Boon { schemas, envelopes, tools }
    }

    fn accepts(&self, value: &Value, schema: SchemaIndex) -> bool {
        self.schemas.validate(value, schema).is_ok()
    }
}

impl Contestant for Boon {
    fn name(&self) -> &'static str {
        "serde_json + boon"
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
        if !self.accepts(&value, self.envelopes[index]) {
            return false;
        }
        if self.tools.is_empty() {
            return true;
        }
        let Some((name, arguments)) = tool_call(&value) else {
            return true;
        };
        self.tools.get(name).is_none_or(|schema| self.accepts(arguments, *schema))
    }
}

// No type of `boon` implements `Debug`.
impl std::fmt::Debug for Boon {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Boon").finish_non_exhaustive()
    }
}
