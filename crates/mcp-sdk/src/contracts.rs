use std::sync::Arc;

use mcp_core::{Contract, ContractRefused, Contracts, Json, Purpose};
use mcp_json::{Limits, Tape};
use mcp_rules::{Finding, SchemaFault, Severity};
use mcp_schema::{ToolSchema, ToolSchemas, Violation};

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
            // Whoever calls has parsed it; whatever this is, it keeps no contract.
            return vec![Json::empty_object()];
        };
        if self.schema.accepts(document.root()) {
            return Vec::new();
        }
        let violations = self.schema.violations(document.root());
        violations.iter().map(|violation| self.finding(violation)).collect()
    }
}

impl SchemaContract {
    /// The violation as the rule catalogue reports it, seen from the whole message.
    fn finding(&self, violation: &Violation) -> Json {
        let (name, place, code) = match self.purpose {
            Purpose::Arguments => ("tool-arguments-invalid", "/params/arguments", Some(-32602)),
            Purpose::Output => {
                ("tool-structured-content-invalid", "/result/structuredContent", None)
            }
            Purpose::Form => ("elicitation-content-invalid", "/content", None),
        };
        let Some(rule) = mcp_rules::rule(name) else { return Json::empty_object() };
        let mut finding = Finding::new(rule, Severity::Error, &violation.message);
        finding.code = code;
        finding.schema = Some(SchemaFault {
            instance_path: format!("{place}{}", violation.instance_path),
            schema_path: violation.schema_path.clone(),
            keyword: violation.keyword.clone(),
            params: violation.params.clone(),
        });
        Json::of(&finding).unwrap_or_else(|_| Json::empty_object())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaches_are_findings_of_rules_that_exist() {
        let schema = Json::parse(r#"{"properties":{"n":{"type":"integer"}}}"#).unwrap();
        for (purpose, rule, place) in [
            (Purpose::Arguments, "tool-arguments-invalid", "/params/arguments/n"),
            (Purpose::Output, "tool-structured-content-invalid", "/result/structuredContent/n"),
            (Purpose::Form, "elicitation-content-invalid", "/content/n"),
        ] {
            let contract = SchemaContracts::default().compile(&schema, purpose).unwrap();
            let value = Json::parse(r#"{"n":"x"}"#).unwrap();
            let found: serde_json::Value = contract.breaches(&value)[0].read().unwrap();
            assert_eq!((&found["rule"], &found["instancePath"]), (&rule.into(), &place.into()));
            assert!(contract.breaches(&Json::parse(r#"{"n":1}"#).unwrap()).is_empty());
        }
    }
}
