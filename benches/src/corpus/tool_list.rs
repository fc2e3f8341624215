//! Lists of 30 to 40 tools with the schemas of their arguments: about 25 KB.

use mcp_core::Side;

use super::json::Json;
use super::property::{INPUTS, OUTPUTS, Property, object_schema, object_value};
use super::rng::Rng;
use super::wire::{Answer, Exchange};
use super::words;

/// A tool of a made-up server.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Unique in its list.
    pub name: String,
    /// The schema of its arguments.
    pub input_schema: Json,
    /// Whether its results carry structured content.
    pub structured: bool,
    title: String,
    description: String,
    inputs: Properties,
    outputs: Properties,
    read_only: Option<bool>,
}

#[derive(Debug, Clone)]
struct Properties {
    list: Vec<&'static Property>,
    required: usize,
}

/// The tools of one server.
pub fn tools(rng: &mut Rng) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    let count = rng.between(30, 40);
    while tools.len() < count {
        let tool = tool(rng);
        if tools.iter().all(|known| known.name != tool.name) {
            tools.push(tool);
        }
    }
    tools
}

/// The request for the list, and its result.
pub fn exchange(tools: &[Tool]) -> Exchange {
    let tools = tools.iter().map(Tool::definition).collect();
    Exchange {
        from: Side::Client,
        method: "tools/list",
        params: None,
        answer: Answer::Result(Json::object([("tools", Json::Array(tools))])),
    }
}

impl Tool {
    /// Arguments that fit the tool's schema.
    pub fn arguments(&self, rng: &mut Rng) -> Json {
        object_value(rng, &self.inputs.list, self.inputs.required)
    }

    /// Structured content that fits the tool's output schema.
    pub fn structured_content(&self, rng: &mut Rng) -> Json {
        object_value(rng, &self.outputs.list, self.outputs.required)
    }

    fn definition(&self) -> Json {
        let mut definition = Json::object([
            ("name", self.name.as_str().into()),
            ("title", self.title.as_str().into()),
            ("description", self.description.as_str().into()),
            ("inputSchema", self.input_schema.clone()),
        ]);
        if self.structured {
            let schema = object_schema(&self.outputs.list, self.outputs.required);
            definition = definition.with("outputSchema", schema);
        }
        if let Some(read_only) = self.read_only {
            let annotations = Json::object([
                ("readOnlyHint", read_only.into()),
                ("destructiveHint", (!read_only).into()),
                ("openWorldHint", false.into()),
            ]);
            definition = definition.with("annotations", annotations);
        }
        definition
    }
}

fn tool(rng: &mut Rng) -> Tool {
    let (verb, noun) = (rng.pick(&words::VERBS), rng.pick(&words::NOUNS));
    let inputs = choose(rng, &INPUTS, 4);
    let outputs = choose(rng, &OUTPUTS, 2);
    let mut input_schema = object_schema(&inputs.list, inputs.required);
    if rng.chance(60) {
        input_schema = input_schema.with("additionalProperties", false);
    }
    if rng.chance(40) {
        input_schema = input_schema.with("$schema", "https://json-schema.org/draft/2020-12/schema");
    }
    let described = rng.between(40, 120);
    Tool {
        name: format!("{verb}_{noun}"),
        title: format!("{verb} {noun}"),
        description: words::prose(rng, described),
        input_schema,
        structured: rng.chance(15),
        inputs,
        outputs,
        read_only: rng.chance(60).then(|| rng.chance(50)),
    }
}

/// Up to `most` different properties from a catalogue, some of them required.
fn choose(rng: &mut Rng, catalogue: &'static [Property], most: usize) -> Properties {
    let mut list: Vec<&'static Property> = Vec::new();
    for _ in 0..rng.between(1, most) {
        let property = rng.pick_from(catalogue);
        if list.iter().all(|known| known.name != property.name) {
            list.push(property);
        }
    }
    let required = rng.between(1, list.len());
    Properties { list, required }
}
