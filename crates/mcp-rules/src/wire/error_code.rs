//! Which error codes may be used.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_schema::ErrorCodeClass;

use crate::{Context, Findings, Level, findings::Fault};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    RESERVED: "error-code-reserved", JsonRpc, Level::Warning, Revisions::ALL, "basic#error-codes";
    UNDEFINED: "error-code-undefined", JsonRpc, Level::Error, MODERN, "basic#error-codes";
    LEGACY_RANGE: "error-code-legacy-range", JsonRpc, Level::Warning, MODERN, "basic#error-codes";
    NOT_PERMITTED: "error-code-not-permitted", JsonRpc, Level::OptIn, Revisions::ALL, "";
    RETIRED: "error-code-retired", JsonRpc, Level::Error, MODERN, "basic#error-codes";
}

/// Reports a code that the revision (or the profile in force) does not allow.
pub(crate) fn check(code: i64, node: Node<'_>, context: &Context, findings: &mut Findings<'_>) {
    const OWN: &str = "use a code outside −32768…−32000 for errors of your own";
    let policy = findings.settings().profile.error_codes();
    let fault = match policy.classify(findings.revision(), code) {
        ErrorCodeClass::ReservedUndefined => {
            let message = format!("{code} is in the range that JSON-RPC reserves");
            Fault::new(&RESERVED, message).help(OWN)
        }
        ErrorCodeClass::NotPermitted => {
            Fault::new(&NOT_PERMITTED, format!("the profile does not allow error code {code}"))
                .help("use a code of −32700…−32600, −32113…−32000 or 1001…1089")
        }
        // The server may use an older revision, which has other codes.
        _ if context.refuses_probe => return,
        ErrorCodeClass::ProtocolUndefined => {
            let message = format!("MCP defines no error {code} in its own range");
            Fault::new(&UNDEFINED, message).help(OWN)
        }
        ErrorCodeClass::LegacyRange => {
            let message =
                format!("{code} is in the range left to implementations older than this revision");
            Fault::new(&LEGACY_RANGE, message).help(OWN)
        }
        ErrorCodeClass::Retired(retired) => {
            let message = format!("{code} ({}) is not used in this revision", retired.meaning);
            Fault::new(&RETIRED, message).help(match code {
                -32002 => "answer −32602 for a resource that does not exist",
                _ => "ask for input with an `input_required` result",
            })
        }
        _ => return,
    };
    findings.report(fault.at(node.span()));
}
