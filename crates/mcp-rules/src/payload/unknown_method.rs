//! Methods that the revision does not define.

use mcp_core::Revisions;
use mcp_jsonrpc::{Envelope, ErrorCode, MessageKind};
use mcp_schema::MethodKind;

use super::check::{METHOD_NOT_IN_REVISION, METHOD_UNKNOWN, PayloadOutcome};
use crate::{Context, Findings, findings::Fault};

#[cold]
pub(super) fn report<'a>(
    envelope: &Envelope<'_>,
    context: &Context,
    findings: &mut Findings<'_>,
) -> PayloadOutcome<'a> {
    let Some((node, name)) = envelope.method.and_then(|node| Some((node, node.as_str()?))) else {
        return PayloadOutcome::Broken;
    };
    let kind = match envelope.kind() {
        Some(MessageKind::Notification) => MethodKind::Notification,
        _ => MethodKind::Request,
    };
    let closed = findings.settings().has_closed_names();
    // The latter is reported by `method-reserved-prefix`.
    if findings.settings().permits_method(&name, kind) || name.starts_with("rpc.") && !closed {
        return PayloadOutcome::Nothing;
    }
    let elsewhere = mcp_schema::revisions_with(&name);
    if elsewhere != Revisions::NONE {
        let by_extension = context.extensible && name.starts_with("tasks/");
        if (context.settled && !by_extension) || closed {
            findings.report(
                Fault::new(
                    &METHOD_NOT_IN_REVISION,
                    format!("`{name}` does not exist in {}", context.revision),
                )
                .at(node.span())
                .code(ErrorCode::MethodNotFound.code())
                .help(format!("it is defined in {elsewhere}")),
            );
            return PayloadOutcome::Broken;
        }
        return PayloadOutcome::Nothing;
    }
    let known = mcp_schema::methods(context.revision).iter().map(|method| method.name);
    let near = if context.suggests { mcp_schema::nearest(&name, known) } else { None };
    // A private method is legal. Without a declaration to go by, only a near miss is suspicious.
    if context.extensible && near.is_none() && !closed {
        return PayloadOutcome::Nothing;
    }
    let fault = Fault::new(&METHOD_UNKNOWN, format!("no published revision defines `{name}`"))
        .at(node.span())
        .code(ErrorCode::MethodNotFound.code());
    findings.report(match near {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("declare an `experimental` capability for methods of your own"),
    });
    PayloadOutcome::Nothing
}
