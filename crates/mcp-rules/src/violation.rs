//! Converts a schema violation to a fault.

use mcp_jsonrpc::ErrorCode;
use mcp_schema::Violation;

use crate::{RuleMeta, SchemaFault, findings::Fault, null_member};

/// Returns a fault for a violation, reported as `rule`. `prefix` is the JSON pointer to the
/// validated value in its message.
pub(crate) fn violation_fault(
    rule: &'static RuleMeta,
    violation: &Violation,
    prefix: &str,
    code: Option<ErrorCode>,
) -> Fault {
    let mut fault =
        Fault::new(rule, violation.message.clone()).at(violation.span).schema(SchemaFault {
            instance_path: format!("{prefix}{}", violation.instance_path),
            schema_path: violation.schema_path.clone(),
            keyword: violation.keyword.clone(),
            params: violation.params.clone(),
        });
    if let Some(code) = code {
        fault = fault.code(code.code());
    }
    match help_for(violation) {
        Some(help) => fault.help(help),
        None => fault,
    }
}

/// Returns what to do about common mistakes.
fn help_for(violation: &Violation) -> Option<String> {
    match violation.keyword.as_str() {
        "required" => {
            let missing = violation.params.get("missingProperty")?.as_str()?;
            Some(format!("add `{missing}`"))
        }
        "type" if null_member::is_concerned(violation) => null_member::help(violation),
        "enum" | "const" => {
            let near = violation.params.get("didYouMean")?.as_str()?;
            Some(format!("did you mean \"{near}\"?"))
        }
        _ => None,
    }
}
