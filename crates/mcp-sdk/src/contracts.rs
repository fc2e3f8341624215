use std::{fmt, sync::Arc};

use mcp_core::{Contract, ContractError, ContractKind, Contracts, Dispatch, Json, Revision, Side};
use mcp_json::Node;
use mcp_rules::{Engine, Finding, FindingSink, RuleMeta, SchemaContract, SchemaFault, Severity};
use mcp_schema::{ToolSchemas, Violation};

/// Contracts from JSON Schemas, checked on the parsed text.
#[derive(Debug, Default)]
pub(crate) struct SchemaContracts {
    schemas: ToolSchemas,
    /// Determines the positions of arguments and output in a message.
    dispatch: Dispatch,
    reporter: Option<Reporter>,
}

impl SchemaContracts {
    /// Contracts that report violations to `sink`, according to the rule levels of `engine`.
    pub(crate) fn reporting_to(engine: Arc<Engine>, sink: FindingSink) -> SchemaContracts {
        let reporter = Some(Reporter { engine, sink });
        SchemaContracts { reporter, ..SchemaContracts::default() }
    }

    /// Contracts for calls with this dispatch.
    pub(crate) fn dispatched(self, dispatch: Dispatch) -> SchemaContracts {
        SchemaContracts { dispatch, ..self }
    }
}

impl Contracts for SchemaContracts {
    fn compile(
        &self,
        schema: &Json,
        purpose: ContractKind,
    ) -> Result<Arc<dyn Contract>, ContractError> {
        let parsed =
            schema.to_parsed().map_err(|error| ContractError { reason: error.to_string() })?;
        let document = parsed.document();
        let root = document.root();
        // A schema that does not compile in its own dialect is rejected at once.
        self.schemas.compile(root).map_err(|error| ContractError { reason: error.to_string() })?;
        Ok(Arc::new(ToolContract {
            // Our own schemas are in a known dialect, whatever revision the client uses.
            schema: SchemaContract::read(&self.schemas, root, Revision::LATEST),
            purpose,
            dispatch: self.dispatch,
            reporter: self.reporter.clone(),
        }))
    }
}

/// Reports violations.
#[derive(Clone)]
struct Reporter {
    engine: Arc<Engine>,
    sink: FindingSink,
}

impl Reporter {
    /// Reports the finding unless its rule is off. The call is rejected at any level of the rule, so
    /// the finding stays an error even if the rule is only a warning.
    fn report(&self, finding: &Finding, revision: Revision) {
        let level = self.engine.settings().level(finding.rule);
        if level.severity(revision).is_some() {
            let mut finding = finding.clone();
            finding.revision = Some(revision);
            (self.sink)(&finding);
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reporter")
    }
}

/// A contract that reports its violations.
#[derive(Debug)]
struct ToolContract {
    schema: SchemaContract,
    purpose: ContractKind,
    dispatch: Dispatch,
    reporter: Option<Reporter>,
}

impl Contract for ToolContract {
    fn violations(&self, value: Node<'_>) -> Vec<Json> {
        self.findings(Some(value)).iter().map(to_json).collect()
    }

    fn enforce(&self, value: Option<Node<'_>>, revision: Revision) -> Vec<Json> {
        let findings = self.findings(value);
        for finding in &findings {
            if let Some(reporter) = &self.reporter {
                reporter.report(finding, revision);
            }
        }
        findings.iter().map(to_json).collect()
    }
}

impl ToolContract {
    fn findings(&self, value: Option<Node<'_>>) -> Vec<Finding> {
        let Some(value) = value else { return vec![self.missing()] };
        self.schema.violations(value).iter().map(|violation| self.violated(violation)).collect()
    }

    fn rule(&self) -> &'static str {
        match self.purpose {
            ContractKind::Arguments => "tool-arguments-invalid",
            ContractKind::Output => "tool-structured-content-invalid",
            ContractKind::Form => "elicitation-content-invalid",
        }
    }

    /// The violation as a finding, positioned in the whole message.
    fn violated(&self, violation: &Violation) -> Finding {
        let base = self.pointer();
        let mut finding = self.finding(self.rule(), violation.message.clone());
        finding.pointer = Some(format!("{base}{}", violation.instance_path));
        finding.schema = Some(SchemaFault {
            instance_path: violation.instance_path.clone(),
            schema_path: violation.schema_path.clone(),
            keyword: violation.keyword.clone(),
            params: violation.params.clone(),
        });
        finding
    }

    /// The pointer to the value in the message.
    fn pointer(&self) -> &'static str {
        match (self.purpose, self.dispatch) {
            (ContractKind::Arguments, Dispatch::Mcp) => "/params/arguments",
            (ContractKind::Arguments, Dispatch::Bare) => "/params",
            (ContractKind::Output, Dispatch::Mcp) => "/result/structuredContent",
            (ContractKind::Output, Dispatch::Bare) => "/result",
            (ContractKind::Form, _) => "/content",
        }
    }

    fn missing(&self) -> Finding {
        match self.purpose {
            ContractKind::Arguments => {
                self.finding(self.rule(), "the arguments are missing".to_owned())
            }
            ContractKind::Output => self.finding(
                "tool-structured-content-missing",
                "the tool has an `outputSchema` but returned no structured content".to_owned(),
            ),
            ContractKind::Form => {
                self.finding("elicitation-content-missing", "the content is missing".to_owned())
            }
        }
    }

    fn finding(&self, rule: &'static str, message: String) -> Finding {
        let (side, method, code) = match self.purpose {
            ContractKind::Arguments => (Side::Client, "tools/call", Some(-32602)),
            ContractKind::Output => (Side::Server, "tools/call", None),
            ContractKind::Form => (Side::Client, "elicitation/create", None),
        };
        let mut finding = Finding::new(catalogued(rule), Severity::Error, message);
        finding.code = code;
        finding.from = Some(side);
        finding.at_fault = Some(side);
        // The method of a bare call is the name of its tool.
        let is_bare = self.dispatch == Dispatch::Bare && self.purpose != ContractKind::Form;
        finding.method = (!is_bare).then_some(method);
        finding
    }
}

fn catalogued(rule: &'static str) -> &'static RuleMeta {
    mcp_rules::rule(rule).expect("the rules of contracts are in the catalogue")
}

fn to_json(finding: &Finding) -> Json {
    Json::of(finding).unwrap_or_else(|_| Json::empty_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(contract: &dyn Contract, value: &'static str) -> Vec<Json> {
        let value = Json::parse(value).unwrap().to_parsed().unwrap();
        contract.violations(value.document().root())
    }

    #[test]
    fn violations_are_findings_of_existing_rules() {
        let schema = Json::parse(r#"{"properties":{"n":{"type":"integer"}}}"#).unwrap();
        for (purpose, rule, place) in [
            (ContractKind::Arguments, "tool-arguments-invalid", "/params/arguments/n"),
            (
                ContractKind::Output,
                "tool-structured-content-invalid",
                "/result/structuredContent/n",
            ),
            (ContractKind::Form, "elicitation-content-invalid", "/content/n"),
        ] {
            let contract = SchemaContracts::default().compile(&schema, purpose).unwrap();
            let found = violations(&*contract, r#"{"n":"x"}"#)[0].to_value().unwrap();
            assert_eq!((&found["rule"], &found["pointer"]), (&rule.into(), &place.into()));
            assert_eq!(found["instancePath"], "/n");
            assert!(violations(&*contract, r#"{"n":1}"#).is_empty());
        }
    }

    #[test]
    fn pointers_depend_on_the_dispatch() {
        let schema = Json::parse(r#"{"properties":{"n":{"type":"integer"}}}"#).unwrap();
        let contracts = SchemaContracts::default().dispatched(Dispatch::Bare);
        for (purpose, place) in
            [(ContractKind::Arguments, "/params/n"), (ContractKind::Output, "/result/n")]
        {
            let contract = contracts.compile(&schema, purpose).unwrap();
            let found = violations(&*contract, r#"{"n":"x"}"#)[0].to_value().unwrap();
            assert_eq!(found["pointer"], place);
            assert_eq!(found.get("method"), None);
        }
    }

    #[test]
    fn missing_output_has_its_own_rule() {
        let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
        let contract = SchemaContracts::default().compile(&schema, ContractKind::Output).unwrap();
        let found: serde_json::Value = contract.enforce(None, Revision::LATEST)[0].read().unwrap();
        assert_eq!(found["rule"], "tool-structured-content-missing");
        assert_eq!(found["atFault"], "server");
    }
}
