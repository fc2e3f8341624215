use std::sync::Arc;

use mcp_core::{Contract, ContractRefused, Contracts, Json, Purpose};
use mcp_json::{Limits, Tape};
use mcp_schema::{ToolSchema, ToolSchemas, Violation};
use serde_json::json;

/// Contracts from JSON Schemas, judged on the text itself.
#[derive(Debug, Default)]
pub(crate) struct SchemaContracts {
    schemas: ToolSchemas,
}

impl Contracts for SchemaContracts {
    fn compile(
        &self,
        schema: &Json,
        purpose: Purpose,
    ) -> Result<Arc<dyn Contract>, ContractRefused> {
        let mut tape = Tape::new();
        let document = tape
            .parse(schema.as_bytes(), Limits::default())
            .map_err(|error| ContractRefused { reason: error.to_string() })?;
        let compiled = self
            .schemas
            .compile(document.root())
            .map_err(|error| ContractRefused { reason: error.to_string() })?;
        Ok(Arc::new(SchemaContract { schema: compiled, purpose }))
    }
}

#[derive(Debug)]
struct SchemaContract {
    schema: Arc<ToolSchema>,
    purpose: Purpose,
}

impl Contract for SchemaContract {
    fn breaches(&self, value: &Json) -> Vec<Json> {
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(value.as_bytes(), Limits::default()) else {
            return vec![written(&json!({ "message": "this is not JSON" }))];
        };
        if self.schema.accepts(document.root()) {
            return Vec::new();
        }
        let violations = self.schema.violations(document.root());
        violations.iter().map(|violation| self.finding(violation)).collect()
    }
}

impl SchemaContract {
    /// The violation as the rule catalogue would report it, seen from the whole message.
    fn finding(&self, violation: &Violation) -> Json {
        let (rule, place) = match self.purpose {
            Purpose::Arguments => ("tool-arguments-invalid", "/params/arguments"),
            Purpose::Output => ("tool-structured-content-invalid", "/result/structuredContent"),
        };
        written(&json!({
            "rule": rule,
            "layer": "tool-schema",
            "instancePath": format!("{place}{}", violation.instance_path),
            "schemaPath": violation.schema_path,
            "keyword": violation.keyword,
            "params": violation.params,
            "message": violation.message,
        }))
    }
}

fn written(value: &serde_json::Value) -> Json {
    Json::of(value).unwrap_or_else(|_| Json::empty_object())
}
