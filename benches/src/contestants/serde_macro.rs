//! `serde_json` to a `Value`, then `jsonschema` with validators compiled by its macro.
//!
//! The schemas of tools are known only when a server lists them, so arguments are checked as in
//! [`serde_runtime`](super::serde_runtime).

use serde_json::Value;

use super::Contestant;
use super::serde_runtime::ToolValidators;
use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;
use crate::corpus::tool_list::Tool;
use crate::selection::select;

#[derive(Debug)]
pub(super) struct SerdeMacro {
    tools: ToolValidators,
}

impl SerdeMacro {
    pub(super) fn new(tools: &[Tool]) -> SerdeMacro {
        SerdeMacro { tools: ToolValidators::new(tools) }
    }
}

impl Contestant for SerdeMacro {
    fn name(&self) -> &'static str {
        super::SERDE_MACRO
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
        compiled::is_valid(index, &value) && self.tools.accept(&value)
    }
}

/// The validators that the macro generates from the schemas.
mod compiled {
    #![allow(clippy::all, clippy::pedantic, reason = "generated code of a foreign macro")]
    #![allow(missing_docs, unreachable_pub, dead_code, reason = "generated code")]

    include!(concat!(env!("OUT_DIR"), "/compiled.rs"));

    pub(super) fn is_valid(index: usize, value: &serde_json::Value) -> bool {
        IS_VALID[index](value)
    }
}
