//! The JSON-RPC 2.0 envelope, and how MCP tightens it.

use mcp_core::{Revision, Revisions};
use mcp_json::{Node, Span};
use mcp_jsonrpc::{Envelope, EnvelopeFault, ErrorCode, FaultKind, MessageKind};
use mcp_schema::MethodKind::{self, Notification, Request};

use super::{error_code, json};
use crate::{Context, Findings, Layer, Level, RuleMeta, Severity, findings::Fault};

const BATCHING: Revisions = Revisions::only(Revision::V2025_03_26);

rules! {
    MESSAGE_NOT_OBJECT: "message-not-object", JsonRpc, Level::Error, Revisions::ALL, "basic#messages";
    VERSION_INVALID: "jsonrpc-version-invalid", JsonRpc, Level::Error, Revisions::ALL, "basic#messages";
    UNCLASSIFIABLE: "message-unclassifiable", JsonRpc, Level::Error, Revisions::ALL, "basic#responses";
    METHOD_NOT_STRING: "method-not-string", JsonRpc, Level::Error, Revisions::ALL, "basic#requests";
    METHOD_EMPTY: "method-empty", JsonRpc, Level::Error, Revisions::ALL, "basic#requests";
    PARAMS_NOT_OBJECT: "params-not-object", JsonRpc, Level::Error, Revisions::ALL, "basic#requests";
    REQUEST_ID_NULL: "request-id-null", JsonRpc, Level::Error, Revisions::ALL, "basic#requests";
    REQUEST_ID_TYPE: "request-id-type", JsonRpc, Level::Error, Revisions::ALL, "basic#requests";
    REQUEST_MISSING_ID: "request-missing-id", JsonRpc, Level::Error, Revisions::ALL, "basic#requests";
    NOTIFICATION_WITH_ID: "notification-with-id", JsonRpc, Level::Error, Revisions::ALL, "basic#notifications";
    RESULT_AND_ERROR: "response-result-and-error", JsonRpc, Level::Error, Revisions::ALL, "basic#responses";
    RESULT_NOT_OBJECT: "result-not-object", JsonRpc, Level::Error, Revisions::ALL, "basic#responses";
    RESULT_MISSING_ID: "result-missing-id", JsonRpc, Level::Error, Revisions::ALL, "basic#responses";
    ERROR_MISSING_ID: "error-missing-id", JsonRpc, Level::ErrorIn(Revisions::up_to(Revision::V2025_06_18)), Revisions::ALL, "basic#responses";
    ERROR_ID_NULL: "error-id-null", JsonRpc, Level::Warning, Revisions::ALL, "basic#responses";
    ERROR_OBJECT_INVALID: "error-object-invalid", JsonRpc, Level::Error, Revisions::ALL, "basic#responses";
    ERROR_CODE_NOT_INTEGER: "error-code-not-integer", JsonRpc, Level::Error, Revisions::ALL, "basic#responses";
    METHOD_RESERVED_PREFIX: "method-reserved-prefix", JsonRpc, Level::Warning, Revisions::ALL, "basic#messages";
    BATCH_NOT_SUPPORTED: "batch-not-supported", JsonRpc, Level::ErrorIn(Revisions::from(Revision::V2025_06_18)), Revisions::only(Revision::V2024_11_05).and(Revision::V2025_06_18).and(Revision::V2025_11_25).and(Revision::V2026_07_28), "basic/transports#sending-messages-to-the-server";
    BATCH_EMPTY: "batch-empty", JsonRpc, Level::Error, Revisions::ALL, "basic/transports#sending-messages-to-the-server";
    BATCH_MIXED: "batch-mixed", JsonRpc, Level::Error, BATCHING, "basic/transports#sending-messages-to-the-server";
    BATCH_INITIALIZE: "batch-initialize", JsonRpc, Level::Error, BATCHING, "basic/lifecycle#initialization";
    BATCH_SIZE_LIMIT: "batch-size-limit", JsonRpc, Level::Warning, Revisions::ALL, "", Unjudged;
}

/// How to proceed with a message after its envelope was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvelopeOutcome {
    /// Continue with its payload.
    Sound,
    /// The payload cannot be judged, or the message is invalid.
    Void,
}

/// Judges the envelope of one message. `is_valid` is the result of [`Envelope::is_valid`].
pub(crate) fn check(
    envelope: &Envelope<'_>,
    is_valid: bool,
    context: &Context,
    findings: &mut Findings<'_>,
) -> EnvelopeOutcome {
    let policy = findings.settings().profile.envelope();
    let outcome =
        if is_valid { EnvelopeOutcome::Sound } else { report_faults(envelope, context, findings) };
    if outcome == EnvelopeOutcome::Void && !policy.every_fault {
        return EnvelopeOutcome::Void;
    }
    if let Some(id) = envelope.id {
        json::check_integer("id", id, findings);
    }
    if let Some(node) = envelope.error.and_then(|error| error.get("code"))
        && node.is_integer()
    {
        // An integer that does not fit is outside every range.
        let code = envelope.error_code().unwrap_or(i64::MAX);
        error_code::check(code, node, context, findings);
    }
    if outcome == EnvelopeOutcome::Void || findings.settings().stops_before(Layer::Schema) {
        return EnvelopeOutcome::Void;
    }
    match envelope.kind() {
        Some(MessageKind::Response) => check_response(envelope, context, findings),
        Some(kind) => check_call(envelope, kind, context, findings),
        None => EnvelopeOutcome::Void,
    }
}

/// Reports violations of JSON-RPC 2.0 itself.
#[cold]
fn report_faults(
    envelope: &Envelope<'_>,
    context: &Context,
    findings: &mut Findings<'_>,
) -> EnvelopeOutcome {
    let policy = findings.settings().profile.envelope();
    let contradicts_itself = envelope.result.is_some() && envelope.error.is_some();
    let says_nothing = envelope.method.is_none() && envelope.kind().is_none();
    let mut outcome = EnvelopeOutcome::Sound;
    for fault in envelope.faults() {
        let follows_from_another = contradicts_itself && fault.kind.concerns_error()
            || says_nothing && fault.kind == FaultKind::VersionMissing;
        if follows_from_another && !policy.every_fault {
            continue;
        }
        if report_fault(envelope, context, fault, findings) == EnvelopeOutcome::Void {
            outcome = EnvelopeOutcome::Void;
            if !policy.every_fault {
                break; // A void message is reported once.
            }
        }
    }
    outcome
}

fn report_fault(
    envelope: &Envelope<'_>,
    context: &Context,
    fault: EnvelopeFault,
    findings: &mut Findings<'_>,
) -> EnvelopeOutcome {
    let policy = findings.settings().profile.envelope();
    let message = fault.kind.message();
    let report = |findings: &mut Findings<'_>, rule: &'static RuleMeta| {
        let fault = invalid_request(rule, message, fault.span);
        findings.report(match rule.name {
            "jsonrpc-version-invalid" => fault.help("write \"jsonrpc\":\"2.0\""),
            "message-unclassifiable" => fault
                .help("a request or notification has `method`, a response has `result` or `error`"),
            _ => fault,
        });
    };
    match fault.kind {
        FaultKind::VersionMissing | FaultKind::VersionInvalid => {
            report(findings, &VERSION_INVALID);
        }
        FaultKind::Unclassifiable | FaultKind::MethodWithOutcome => {
            report(findings, &UNCLASSIFIABLE);
        }
        FaultKind::MethodNotString => report(findings, &METHOD_NOT_STRING),
        FaultKind::MethodEmpty => report(findings, &METHOD_EMPTY),
        FaultKind::IdInvalid => report_bad_id(envelope, context, fault.span, message, findings),
        // Judged with the other cases of a missing id.
        FaultKind::ResponseWithoutId if !policy.null_ids => return EnvelopeOutcome::Sound,
        // Where an error that could not be matched has the id null, omitting it is no excuse.
        FaultKind::ResponseWithoutId => {
            let rule =
                if envelope.error.is_some() { &ERROR_MISSING_ID } else { &RESULT_MISSING_ID };
            let fault = invalid_request(rule, message, fault.span);
            findings.report(fault.severity(Severity::Error));
        }
        FaultKind::ParamsNotStructured if !policy.positional_params => {
            return EnvelopeOutcome::Sound;
        }
        FaultKind::ParamsNotStructured => report(findings, &PARAMS_NOT_OBJECT),
        FaultKind::ResultAndError => {
            report(findings, &RESULT_AND_ERROR);
            return EnvelopeOutcome::Sound;
        }
        FaultKind::ErrorNotObject
        | FaultKind::ErrorMessageMissing
        | FaultKind::ErrorMessageNotString => {
            report(findings, &ERROR_OBJECT_INVALID);
            return EnvelopeOutcome::Sound;
        }
        FaultKind::ErrorCodeMissing | FaultKind::ErrorCodeNotInteger => {
            report(findings, &ERROR_CODE_NOT_INTEGER);
            return EnvelopeOutcome::Sound;
        }
        // Not an object, or a fault kind added later.
        _ => report(findings, &MESSAGE_NOT_OBJECT),
    }
    EnvelopeOutcome::Void
}

fn report_bad_id(
    envelope: &Envelope<'_>,
    context: &Context,
    span: Span,
    message: &str,
    findings: &mut Findings<'_>,
) {
    let rule = match envelope.kind() {
        Some(MessageKind::Response) if envelope.error.is_some() => &ERROR_MISSING_ID,
        Some(MessageKind::Response) => &RESULT_MISSING_ID,
        _ if is_notification(envelope, context) => &NOTIFICATION_WITH_ID,
        _ => &REQUEST_ID_TYPE,
    };
    // A missing id can be excused, a wrong one cannot.
    findings.report(invalid_request(rule, message, span).severity(Severity::Error));
}

fn invalid_request(rule: &'static RuleMeta, message: impl Into<String>, span: Span) -> Fault {
    Fault::new(rule, message).at(span).code(ErrorCode::InvalidRequest.code())
}

/// Whether the revision defines the method as a notification, or its name says so.
fn is_notification(envelope: &Envelope<'_>, context: &Context) -> bool {
    match context.method {
        Some(method) => method.kind == Notification,
        None => method_name_starts_with(envelope, b"notifications/"),
    }
}

/// Whether the revision defines the method as a request, or the settings know it as one.
fn is_request(envelope: &Envelope<'_>, context: &Context, findings: &Findings<'_>) -> bool {
    match context.method {
        Some(method) => method.kind == Request,
        None => is_known_as(Request, envelope, findings),
    }
}

/// Whether the settings list the method as this kind, and not as the other.
fn is_known_as(kind: MethodKind, envelope: &Envelope<'_>, findings: &Findings<'_>) -> bool {
    let settings = findings.settings();
    if !settings.permits_methods() {
        return false;
    }
    let other = if kind == Request { Notification } else { Request };
    let name = envelope.method.and_then(Node::as_str).unwrap_or_default();
    settings.permits_method(&name, kind) && !settings.permits_method(&name, other)
}

fn method_name_starts_with(envelope: &Envelope<'_>, prefix: &[u8]) -> bool {
    let name = envelope.method.and_then(Node::str_bytes);
    name.is_some_and(|name| name.starts_with(prefix))
}

fn check_call(
    envelope: &Envelope<'_>,
    kind: MessageKind,
    context: &Context,
    findings: &mut Findings<'_>,
) -> EnvelopeOutcome {
    let policy = findings.settings().profile.envelope();
    let whole = envelope.object.span();
    if kind == MessageKind::Notification {
        if policy.kind_by_name && is_request(envelope, context, findings) {
            let name = envelope.method.and_then(Node::as_str).unwrap_or_default();
            let message = format!("`{name}` is a request, but has no `id`");
            findings.report(invalid_request(&REQUEST_MISSING_ID, message, whole));
            return EnvelopeOutcome::Void;
        }
    } else if let Some(id) = envelope.id {
        if policy.kind_by_name
            && (is_notification(envelope, context) || is_known_as(Notification, envelope, findings))
        {
            findings.report(
                invalid_request(&NOTIFICATION_WITH_ID, "the notification has an `id`", id.span())
                    .help("omit the `id`: a notification is not answered"),
            );
            return EnvelopeOutcome::Void;
        }
        if id.is_null() && !policy.null_ids {
            findings.report(
                invalid_request(
                    &REQUEST_ID_NULL,
                    "the `id` of a request must not be null",
                    id.span(),
                )
                .help("use a string or an integer, or leave `id` out of a notification"),
            );
            return EnvelopeOutcome::Void;
        }
        if id.is_number() && !id.is_integer() && !policy.fractional_ids {
            let message = "the `id` of a request must be a string or an integer";
            findings.report(invalid_request(&REQUEST_ID_TYPE, message, id.span()));
            return EnvelopeOutcome::Void;
        }
    }
    // No revision defines such a name.
    if context.method.is_none()
        && method_name_starts_with(envelope, b"rpc.")
        && let Some(method) = envelope.method
    {
        findings.report(
            Fault::new(
                &METHOD_RESERVED_PREFIX,
                "JSON-RPC reserves method names that begin with `rpc.`",
            )
            .at(method.span()),
        );
    }
    match envelope.params {
        Some(params) if params.is_array() && policy.positional_params => EnvelopeOutcome::Sound,
        Some(params) if !params.is_object() => {
            let help = if params.is_null() {
                "omit `params` where there are none"
            } else {
                "MCP has no positional parameters: name them"
            };
            findings.report(
                invalid_request(&PARAMS_NOT_OBJECT, "`params` must be an object", params.span())
                    .help(help),
            );
            EnvelopeOutcome::Void
        }
        _ => EnvelopeOutcome::Sound,
    }
}

fn check_response(
    envelope: &Envelope<'_>,
    context: &Context,
    findings: &mut Findings<'_>,
) -> EnvelopeOutcome {
    let policy = findings.settings().profile.envelope();
    let usable = envelope.id.is_some_and(|id| {
        let fits_policy =
            id.is_null() && policy.null_ids || id.is_number() && policy.fractional_ids;
        id.is_string() || id.is_integer() || fits_policy
    });
    if !usable {
        report_unusable_id(envelope, context, findings);
    }
    if envelope.result.is_some() && envelope.error.is_some() {
        return EnvelopeOutcome::Void;
    }
    match envelope.result {
        Some(result) if !result.is_object() && !policy.positional_params => {
            findings.report(
                invalid_request(&RESULT_NOT_OBJECT, "`result` must be an object", result.span())
                    .help("an empty result is `{}`"),
            );
            EnvelopeOutcome::Void
        }
        _ if !usable && envelope.error.is_none() => EnvelopeOutcome::Void,
        _ if envelope.error.is_some_and(|error| !error.is_object()) => EnvelopeOutcome::Void,
        _ => EnvelopeOutcome::Sound,
    }
}

fn report_unusable_id(envelope: &Envelope<'_>, context: &Context, findings: &mut Findings<'_>) {
    let whole = envelope.object.span();
    let (Some(_), id) = (envelope.error, envelope.id) else {
        let span = envelope.id.map_or(whole, Node::span);
        let message = "a result must carry the `id` of its request, a string or an integer";
        return findings.report(invalid_request(&RESULT_MISSING_ID, message, span));
    };
    // From 2025-11-25 on, an error reply to something unreadable has no id. Before, it must have
    // one, which in JSON-RPC can only be null.
    let may_lack = context.revision >= Revision::V2025_11_25 || !context.settled;
    let must_have = context.revision < Revision::V2025_11_25 || !context.settled;
    let null_is_right = must_have && context.unreadable_before && !context.http_error_body;
    match id {
        Some(id) if id.is_null() && null_is_right => {}
        Some(id) if id.is_null() => findings.report(
            Fault::new(&ERROR_ID_NULL, "the `id` of the error is null, which MCP does not allow")
                .at(id.span())
                .help("omit the `id` of an error that answers no readable request"),
        ),
        Some(id) => {
            let message = "the `id` of an error must be a string or an integer";
            let fault = invalid_request(&ERROR_MISSING_ID, message, id.span());
            findings.report(fault.severity(Severity::Error));
        }
        None => {
            let excused = may_lack && context.unreadable_before;
            if !excused && !context.http_error_body {
                let message = "an error must carry the `id` of its request";
                findings.report(invalid_request(&ERROR_MISSING_ID, message, whole));
            }
        }
    }
}

pub(crate) fn batch_not_supported(revision: Revision) -> Fault {
    Fault::new(&BATCH_NOT_SUPPORTED, format!("{revision} does not support batches"))
        .code(ErrorCode::InvalidRequest.code())
        .help("send each message on its own; only 2025-03-26 has batches")
}

/// Judges a top-level array as a whole; its entries are judged one by one if this returns `Sound`.
pub(crate) fn check_batch(
    batch: Node<'_>,
    revision: Revision,
    settled: bool,
    findings: &mut Findings<'_>,
) -> EnvelopeOutcome {
    let settings = findings.settings();
    if settings.profile.envelope().batches {
        return check_batch_shape(batch, findings);
    }
    if settled && !BATCHING.contains(revision) {
        findings.report(batch_not_supported(revision).at(batch.span()));
        if !settings.judges_batches_in(revision) {
            return EnvelopeOutcome::Void;
        }
    }
    let outcome = check_batch_shape(batch, findings);
    let entries = || batch.elements().map(Envelope::of);
    let responses = entries().filter(|entry| entry.kind() == Some(MessageKind::Response)).count();
    let calls = entries().filter(|entry| entry.method.is_some()).count();
    if responses > 0 && calls > 0 {
        let message = "the batch contains responses together with requests or notifications";
        findings.report(invalid_request(&BATCH_MIXED, message, batch.span()));
    }
    for entry in entries().take(settings.limits.batch) {
        if let Some(method) = entry.method
            && method.str_eq("initialize")
        {
            let message = "`initialize` must not be part of a batch";
            findings.report(invalid_request(&BATCH_INITIALIZE, message, method.span()));
        }
    }
    outcome
}

fn check_batch_shape(batch: Node<'_>, findings: &mut Findings<'_>) -> EnvelopeOutcome {
    if batch.is_empty() {
        let message = FaultKind::BatchEmpty.message();
        findings.report(invalid_request(&BATCH_EMPTY, message, batch.span()));
        return EnvelopeOutcome::Void;
    }
    let limit = findings.settings().limits.batch;
    if batch.len() > limit {
        findings.report(
            Fault::new(
                &BATCH_SIZE_LIMIT,
                format!("{} entries exceed the limit of {limit}", batch.len()),
            )
            .at(batch.span())
            .help("the entries beyond the limit were not checked"),
        );
    }
    EnvelopeOutcome::Sound
}
