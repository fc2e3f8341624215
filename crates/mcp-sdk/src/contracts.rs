use std::{fmt, sync::Arc};

use mcp_core::{Contract, ContractRefused, Contracts, Dispatch, Json, Purpose, Revision, Side};
use mcp_json::Node;
use mcp_rules::{Engine, Finding, FindingSink, Meta, SchemaContract, SchemaFault, Severity};
use mcp_schema::{ToolSchemas, Violation};

/// Contracts from JSON Schemas, judged on the text itself.
#[derive(Debug, Default)]
pub(crate) struct SchemaContracts {
    schemas: ToolSchemas,
    /// Decides where in a message arguments and output are.
    dispatch: Dispatch,
    reporter: Option<Reporter>,
}

impl SchemaContracts {
    /// Contracts that tell `sink` when a call breaks them, as loudly as the settings of `engine`
    /// say.
    pub(crate) fn reporting_to(engine: Arc<Engine>, sink: FindingSink) -> SchemaContracts {
        let reporter = Some(Reporter { engine, sink });
        SchemaContracts { reporter, ..SchemaContracts::default() }
    }

    /// Contracts for calls that name what they want in this way.
    pub(crate) fn dispatched(self, dispatch: Dispatch) -> SchemaContracts {
        SchemaContracts { dispatch, ..self }
    }
}

impl Contracts for SchemaContracts {
    fn compile(
        &self,
        schema: &Json,
        purpose: Purpose,
    ) -> Result<Arc<dyn Contract>, ContractRefused> {
        let parsed =
            schema.to_parsed().map_err(|error| ContractRefused { reason: error.to_string() })?;
        let document = parsed.document();
        let root = document.root();
        // What cannot be compiled in the dialect it is written in is refused at once.
        self.schemas
            .compile(root)
            .map_err(|error| ContractRefused { reason: error.to_string() })?;
        Ok(Arc::new(ToolContract {
            // In our own schemas there is no doubt about the dialect, whatever revision is spoken.
            schema: SchemaContract::read(&self.schemas, root, Revision::LATEST),
            purpose,
            dispatch: self.dispatch,
            reporter: self.reporter.clone(),
        }))
    }
}

/// Who hears of broken contracts.
#[derive(Clone)]
struct Reporter {
    engine: Arc<Engine>,
    sink: FindingSink,
}

impl Reporter {
    /// The call is refused however little a rule matters to the user, who may not want to hear of
    /// it then. Who does hears of an error, as the caller does.
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

/// A contract that reports what breaks it.
#[derive(Debug)]
struct ToolContract {
    schema: SchemaContract,
    purpose: Purpose,
    dispatch: Dispatch,
    reporter: Option<Reporter>,
}

impl Contract for ToolContract {
    fn breaches(&self, value: Node<'_>) -> Vec<Json> {
        self.findings(Some(value)).iter().map(written).collect()
    }

    fn enforce(&self, value: Option<Node<'_>>, revision: Revision) -> Vec<Json> {
        let findings = self.findings(value);
        for finding in &findings {
            if let Some(reporter) = &self.reporter {
                reporter.report(finding, revision);
            }
        }
        findings.iter().map(written).collect()
    }
}

impl ToolContract {
    fn findings(&self, value: Option<Node<'_>>) -> Vec<Finding> {
        let Some(value) = value else { return vec![self.missing()] };
        self.schema.violations(value).iter().map(|violation| self.violated(violation)).collect()
    }

    fn rule(&self) -> &'static str {
        match self.purpose {
            Purpose::Arguments => "tool-arguments-invalid",
            Purpose::Output => "tool-structured-content-invalid",
            Purpose::Form => "elicitation-content-invalid",
        }
    }

    /// The violation as the rule catalogue reports it, seen from the whole message.
    fn violated(&self, violation: &Violation) -> Finding {
        let place = self.place();
        let mut finding = self.finding(self.rule(), violation.message.clone());
        finding.pointer = Some(format!("{place}{}", violation.instance_path));
        finding.schema = Some(SchemaFault {
            instance_path: violation.instance_path.clone(),
            schema_path: violation.schema_path.clone(),
            keyword: violation.keyword.clone(),
            params: violation.params.clone(),
        });
        finding
    }

    /// Where in the message the value is.
    fn place(&self) -> &'static str {
        match (self.purpose, self.dispatch) {
            (Purpose::Arguments, Dispatch::Mcp) => "/params/arguments",
            (Purpose::Arguments, Dispatch::Bare) => "/params",
            (Purpose::Output, Dispatch::Mcp) => "/result/structuredContent",
            (Purpose::Output, Dispatch::Bare) => "/result",
            (Purpose::Form, _) => "/content",
        }
    }

    fn missing(&self) -> Finding {
        match self.purpose {
            Purpose::Arguments => self.finding(self.rule(), "there are no arguments".to_owned()),
            Purpose::Output => self.finding(
                "tool-structured-content-missing",
                "the tool has an `outputSchema` and gave no structured content".to_owned(),
            ),
            Purpose::Form => {
                self.finding("elicitation-content-missing", "nothing was filled in".to_owned())
            }
        }
    }

    fn finding(&self, rule: &'static str, message: String) -> Finding {
        let (side, method, code) = match self.purpose {
            Purpose::Arguments => (Side::Client, "tools/call", Some(-32602)),
            Purpose::Output => (Side::Server, "tools/call", None),
            Purpose::Form => (Side::Client, "elicitation/create", None),
        };
        let mut finding = Finding::new(known(rule), Severity::Error, message);
        finding.code = code;
        finding.from = Some(side);
        finding.at_fault = Some(side);
        // A bare call has the name of its tool there.
        let is_bare = self.dispatch == Dispatch::Bare && self.purpose != Purpose::Form;
        finding.method = (!is_bare).then_some(method);
        finding
    }
}

fn known(rule: &'static str) -> &'static Meta {
    mcp_rules::rule(rule).expect("the catalogue has the rules that contracts are judged by")
}

fn written(finding: &Finding) -> Json {
    Json::of(finding).unwrap_or_else(|_| Json::empty_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(contract: &dyn Contract, value: &'static str) -> Vec<Json> {
        let value = Json::parse(value).unwrap().to_parsed().unwrap();
        contract.breaches(value.document().root())
    }

    #[test]
    fn breaches_are_findings_of_rules_that_exist() {
        let schema = Json::parse(r#"{"properties":{"n":{"type":"integer"}}}"#).unwrap();
        for (purpose, rule, place) in [
            (Purpose::Arguments, "tool-arguments-invalid", "/params/arguments/n"),
            (Purpose::Output, "tool-structured-content-invalid", "/result/structuredContent/n"),
            (Purpose::Form, "elicitation-content-invalid", "/content/n"),
        ] {
            let contract = SchemaContracts::default().compile(&schema, purpose).unwrap();
            let found = breaches(&*contract, r#"{"n":"x"}"#)[0].to_value().unwrap();
            assert_eq!((&found["rule"], &found["pointer"]), (&rule.into(), &place.into()));
            assert_eq!(found["instancePath"], "/n");
            assert!(breaches(&*contract, r#"{"n":1}"#).is_empty());
        }
    }

    #[test]
    fn places_are_those_of_the_dispatch() {
        let schema = Json::parse(r#"{"properties":{"n":{"type":"integer"}}}"#).unwrap();
        let contracts = SchemaContracts::default().dispatched(Dispatch::Bare);
        for (purpose, place) in [(Purpose::Arguments, "/params/n"), (Purpose::Output, "/result/n")]
        {
            let contract = contracts.compile(&schema, purpose).unwrap();
            let found = breaches(&*contract, r#"{"n":"x"}"#)[0].to_value().unwrap();
            assert_eq!(found["pointer"], place);
            assert_eq!(found.get("method"), None);
        }
    }

    #[test]
    fn missing_output_breaks_a_rule_of_its_own() {
        let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
        let contract = SchemaContracts::default().compile(&schema, Purpose::Output).unwrap();
        let found: serde_json::Value = contract.enforce(None, Revision::LATEST)[0].read().unwrap();
        assert_eq!(found["rule"], "tool-structured-content-missing");
        assert_eq!(found["atFault"], "server");
    }
}
