//! Writes one schema per kind of message, from the revision's method table and schema that the
//! product embeds: the JSON-RPC envelope around the definition of params or result.
//!
//! Every JSON Schema peer gets exactly these, selected in exactly the same way. They are written
//! twice: as text for peers that compile at run time, and as attributes for the one that compiles
//! here.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Value, json};

const REVISION: &str = "../crates/mcp-schema/revisions/2025-11-25";

/// The name of the schema document in the attributes; nothing is fetched from there.
const DOCUMENT: &str = "mcp:2025-11-25";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(REVISION);
    println!("cargo::rerun-if-changed={REVISION}");
    let methods: Value = serde_json::from_str(&fs::read_to_string(folder.join("methods.json"))?)?;
    let schema: Value = serde_json::from_str(&fs::read_to_string(folder.join("schema.json"))?)?;

    let envelopes = Envelopes::read(&methods).ok_or("methods.json is not the table it was")?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("selection.rs"), envelopes.selection(&schema)?)?;
    fs::write(out.join("compiled.rs"), envelopes.compiled()?)?;
    Ok(())
}

/// The schemas, and which method uses which.
#[derive(Default)]
struct Envelopes {
    schemas: Vec<Value>,
    calls: BTreeMap<String, usize>,
    results: BTreeMap<String, usize>,
    error: usize,
}

impl Envelopes {
    fn read(methods: &Value) -> Option<Envelopes> {
        let mut envelopes = Envelopes::default();
        for method in methods["methods"].as_array()? {
            let name = method["name"].as_str()?;
            let call = call(name, method)?;
            let index = envelopes.add(call);
            envelopes.calls.insert(name.to_owned(), index);
            if let Some(result) = method["result"].as_str() {
                let index = envelopes.add(response("result", &reference(result), &["id"]));
                envelopes.results.insert(name.to_owned(), index);
            }
        }
        let error = json!({
            "type": "object",
            "required": ["code", "message"],
            "properties": { "code": { "type": "integer" }, "message": { "type": "string" } },
        });
        envelopes.error = envelopes.add(response("error", &error, &[]));
        Some(envelopes)
    }

    fn add(&mut self, schema: Value) -> usize {
        // Many requests share the empty result.
        let known = self.schemas.iter().position(|known| *known == schema);
        known.unwrap_or_else(|| {
            self.schemas.push(schema);
            self.schemas.len() - 1
        })
    }

    fn selection(&self, document: &Value) -> Result<String, std::fmt::Error> {
        let mut code = String::new();
        writeln!(code, "/// Schemas that hold everything they refer to.")?;
        writeln!(code, "pub static SCHEMAS: [&str; {}] = [", self.schemas.len())?;
        for schema in &self.schemas {
            let text = schema.to_string().replace(DOCUMENT, "");
            let definitions = &document["$defs"];
            let text = format!("{},\"$defs\":{definitions}}}", &text[..text.len() - 1]);
            writeln!(code, "    r##\"{text}\"##,")?;
        }
        writeln!(code, "];")?;
        writeln!(code, "/// The schema of every error response.")?;
        writeln!(code, "pub const ERROR: usize = {};", self.error)?;
        for (name, meaning, table) in [
            ("of_call", "requests and notifications with this method", &self.calls),
            ("of_result", "results of requests with this method", &self.results),
        ] {
            writeln!(code, "/// The schema of {meaning}.")?;
            writeln!(code, "pub fn {name}(method: &str) -> Option<usize> {{")?;
            writeln!(code, "    Some(match method {{")?;
            for (method, index) in table {
                writeln!(code, "        {method:?} => {index},")?;
            }
            writeln!(code, "        _ => return None,\n    }})\n}}")?;
        }
        Ok(code)
    }

    fn compiled(&self) -> Result<String, std::fmt::Error> {
        let mut code = String::new();
        for (index, schema) in self.schemas.iter().enumerate() {
            writeln!(code, "#[jsonschema::validator(schema = r##\"{schema}\"##,")?;
            writeln!(code, "    draft = Draft202012,")?;
            writeln!(
                code,
                "    resources = {{ \"{DOCUMENT}\" => {{ path = \"{REVISION}/schema.json\" }} }},"
            )?;
            writeln!(code, "    methods = {{ validate = false, iter_errors = false }})]")?;
            writeln!(code, "struct Envelope{index};")?;
        }
        let count = self.schemas.len();
        writeln!(code, "static IS_VALID: [fn(&serde_json::Value) -> bool; {count}] = [")?;
        for index in 0..count {
            writeln!(code, "    Envelope{index}::is_valid,")?;
        }
        writeln!(code, "];")?;
        Ok(code)
    }
}

fn call(name: &str, method: &Value) -> Option<Value> {
    let mut required = vec!["jsonrpc", "method"];
    let mut properties = json!({
        "jsonrpc": { "const": "2.0" },
        "method": { "const": name },
        "params": reference(method["params"].as_str()?),
    });
    if method["paramsRequired"].as_bool()? {
        required.push("params");
    }
    if method["kind"] == "request" {
        required.push("id");
        properties["id"] = reference("RequestId");
    }
    Some(json!({ "type": "object", "required": required, "properties": properties }))
}

fn response(member: &str, schema: &Value, required: &[&str]) -> Value {
    let mut required = required.to_vec();
    required.extend(["jsonrpc", member]);
    json!({
        "type": "object",
        "required": required,
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "id": reference("RequestId"),
            member: schema,
        },
    })
}

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("{DOCUMENT}#/$defs/{definition}") })
}
