//! plumb: the engine, and the arguments of known tools on the same tape.
//!
//! Once with the rules its peers have too (JSON, envelope, definitions), once with every stateless
//! rule: URIs, base64, `_meta` keys, tools' schemas and so on.

use std::sync::Arc;

use foldhash::HashMap;
use mcp_core::Revision;
use mcp_json::{Node, Tape};
use mcp_rules::{Alone, Depth, Engine, Findings, Settings};
use mcp_schema::{Schemas, ToolSchema, ToolSchemas};

use super::Contestant;
use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;
use crate::corpus::tool_list::Tool;

const REVISION: Revision = Revision::V2025_11_25;

/// The engine, checking to this depth.
#[derive(Debug)]
pub(super) struct Plumb {
    depth: Depth,
    engine: Engine,
    tape: Tape,
    tools: HashMap<Vec<u8>, Arc<ToolSchema>>,
}

impl Plumb {
    pub(super) fn new(depth: Depth, tools: &[Tool]) -> Plumb {
        let cache = ToolSchemas::default();
        let mut tape = Tape::new();
        let mut settings = Settings::default();
        settings.depth = depth;
        let engine = Engine::new(Schemas::embedded(), settings);
        let compiled = tools.iter().map(|tool| {
            let text = tool.input_schema.to_text();
            let document = tape.parse(text.as_bytes(), engine.settings().limits.json());
            let document = document.expect("the schema is JSON");
            let schema = cache.compile(document.root()).expect("the schema compiles");
            (tool.name.clone().into_bytes(), schema)
        });
        let tools = compiled.collect();
        Plumb { depth, engine, tape, tools }
    }
}

impl Contestant for Plumb {
    fn name(&self) -> &'static str {
        match self.depth {
            Depth::Definitions => super::PLUMB,
            Depth::Everything => super::PLUMB_EVERYTHING,
        }
    }

    fn notices(&self) -> NoticedBy {
        NoticedBy::Arguments
    }

    fn verdict(&mut self, message: &Message) -> bool {
        let Plumb { engine, tape, tools, .. } = self;
        let Ok(document) = tape.parse(&message.bytes, engine.settings().limits.json()) else {
            return false;
        };
        let answered = message.answers.map(str::as_bytes);
        let about = Alone {
            revision: REVISION,
            from: None,
            answers: answered.and_then(|name| mcp_schema::method(REVISION, name)),
        };
        let mut findings = Findings::new(engine.settings());
        engine.judge_alone(document.root(), about, &mut findings);
        findings.as_slice().is_empty() && arguments_fit(tools, document.root())
    }
}

/// Whether the arguments in a call of a known tool fit the tool's schema.
fn arguments_fit(tools: &HashMap<Vec<u8>, Arc<ToolSchema>>, message: Node<'_>) -> bool {
    if tools.is_empty() {
        return true;
    }
    let Some(params) = message.get("params") else { return true };
    let Some(name) = params.get("name").and_then(Node::str_bytes) else { return true };
    let Some(schema) = tools.get(name.as_ref()) else { return true };
    // Every call in the corpus has arguments.
    params.get("arguments").is_none_or(|arguments| schema.accepts(arguments))
}
