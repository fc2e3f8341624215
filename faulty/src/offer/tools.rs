//! The tools, as they are listed.

use serde_json::{Value, json};

use crate::{faults::Fault, methods::tasks, revision::Revision, server::Faults, world::World};

pub(crate) const CITIES: [&str; 3] = ["Lisbon", "Oslo", "Quito"];
pub(crate) const UNITS: [&str; 2] = ["celsius", "fahrenheit"];

/// All tools in the form of the revision, as changed by the fault.
pub(crate) fn tools(world: &World, revision: Revision, faults: Faults) -> Vec<Value> {
    let mut tools = correct();
    if world.has_extra() {
        tools.push(tool("extra", "Says that it is there", &json!({}), json!([]), true));
    }
    if !revision.has_structure() {
        for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
            tool.remove("outputSchema");
            tool.remove("title");
        }
    }
    if revision == Revision::V2025_11_25 {
        for tool in tools.iter_mut().filter(|tool| tool["name"] == tasks::TOOL) {
            tool["execution"] = json!({"taskSupport": "optional"});
        }
    }
    spoil(&mut tools, faults);
    tools
}

/// The schema of a tool's arguments.
pub(crate) fn input_schema(world: &World, name: &str) -> Option<Value> {
    tools(world, Revision::V2025_11_25, Faults(None))
        .iter()
        .find(|tool| tool["name"] == name)
        .map(|tool| tool["inputSchema"].clone())
}

fn correct() -> Vec<Value> {
    let mut tools = vec![
        tool(
            "echo",
            "Returns its text",
            &json!({"text": {"type": "string"}, "prefix": {"type": "string", "default": ""}}),
            json!(["text"]),
            true,
        ),
        tool(
            "divide",
            "Divides two numbers",
            &json!({"dividend": {"type": "number"}, "divisor": {"type": "number"}}),
            json!(["dividend", "divisor"]),
            true,
        ),
        tool(
            "repeat_number",
            "Returns its number",
            &json!({"value": {"type": "integer", "minimum": -1_152_921_504_606_846_976_i64, "maximum": 1_152_921_504_606_846_976_i64}}),
            json!(["value"]),
            true,
        ),
        tool(
            "statistics",
            "Looks at numbers",
            &json!({"numbers": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 100}}),
            json!(["numbers"]),
            true,
        ),
        tool(
            "weather",
            "Tells the weather of the next days",
            &json!({
                "city": {"type": "string", "enum": CITIES},
                "unit": {"type": "string", "enum": UNITS, "default": "celsius"},
                "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 1},
            }),
            json!(["city"]),
            true,
        ),
        tool("status", "Says whether the server is ready", &json!({}), json!([]), true),
        tool(
            "picture",
            "Draws a dot",
            &json!({"size": {"type": "integer", "minimum": 1, "maximum": 64, "default": 8}}),
            json!([]),
            true,
        ),
        tool(
            "wait",
            "Waits, reporting progress",
            &json!({"milliseconds": {"type": "integer", "minimum": 0, "maximum": 2000, "default": 300}}),
            json!([]),
            true,
        ),
        tool(
            "find_note",
            "Returns a note",
            &json!({"name": {"type": "string", "minLength": 1, "maxLength": 64}}),
            json!(["name"]),
            true,
        ),
        tool(
            "write_note",
            "Writes a note",
            &json!({"name": {"type": "string", "minLength": 1, "maxLength": 64}, "text": {"type": "string", "maxLength": 100_000}}),
            json!(["name", "text"]),
            false,
        ),
        tool("wipe_notes", "Deletes all notes", &json!({}), json!([]), false),
        tool(
            "switch_extra",
            "Adds or removes the tool `extra`",
            &json!({"on": {"type": "boolean"}}),
            json!(["on"]),
            false,
        ),
    ];
    tools[10]["annotations"]["destructiveHint"] = json!(true);
    let output = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    tools[2]["outputSchema"] = output(json!({"value": {"type": "integer"}}), json!(["value"]));
    tools[3]["outputSchema"] = output(
        json!({"count": {"type": "integer", "minimum": 1}, "mean": {"type": "number"}, "largest": {"type": "number"}}),
        json!(["count", "mean", "largest"]),
    );
    tools[5]["outputSchema"] =
        output(json!({"state": {"type": "string", "enum": ["ready", "busy"]}}), json!(["state"]));
    tools
}

fn tool(
    name: &str,
    description: &str,
    properties: &Value,
    required: Value,
    read_only: bool,
) -> Value {
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if required.as_array().is_some_and(|required| !required.is_empty()) {
        schema["required"] = required;
    }
    let mut annotations = json!({"readOnlyHint": read_only});
    if !read_only {
        annotations["destructiveHint"] = json!(false);
        annotations["idempotentHint"] = json!(true);
    }
    json!({"name": name, "title": name, "description": description, "inputSchema": schema, "annotations": annotations})
}

/// Applies a fault to the list. The affected tool is on the first page.
fn spoil(tools: &mut [Value], faults: Faults) {
    match faults.0 {
        Some(Fault::ToolNamesRepeat) => tools[1]["name"] = json!("echo"),
        Some(Fault::InputSchemaMissing) => {
            tools[1].as_object_mut().map(|tool| tool.remove("inputSchema"));
        }
        Some(Fault::InputSchemaUntyped) => {
            tools[1]["inputSchema"].as_object_mut().map(|schema| schema.remove("type"));
        }
        Some(Fault::InputSchemaBroken) => {
            tools[1]["inputSchema"]["properties"]["dividend"]["type"] = json!("decimal");
        }
        Some(Fault::InputSchemaUnresolved) => {
            tools[1]["inputSchema"]["properties"]["dividend"] = json!({"$ref": "#/$defs/Number"});
        }
        Some(Fault::OutputSchemaUntyped) => {
            tools[2]["outputSchema"] = json!({"type": "array", "items": {"type": "integer"}});
        }
        Some(Fault::ToolNameSpaces) => tools[1]["name"] = json!("divide two numbers"),
        Some(Fault::AnnotationNotBoolean) => tools[1]["annotations"]["readOnlyHint"] = json!("yes"),
        _ => {}
    }
}
