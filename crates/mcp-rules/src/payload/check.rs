//! Params, results and error data against the definitions of the revision.
//!
//! The definition is chosen by method (for results, that of the request they answer), never by
//! trying a union. A generated check gives the verdict; details are computed only on failure.

use mcp_core::{Revision, Revisions, Side};
use mcp_json::{Node, Span};
use mcp_jsonrpc::{Envelope, ErrorCode, MessageKind};
use mcp_schema::{Definition, Method, MethodKind, Schemas, Violation};
use serde_json::json;

use super::{explain::explain, input_requests, refine, unknown_method};
use crate::{
    Answered, Context, Findings, Layer, Level, RuleMeta, SchemaFault,
    features::{
        elicitation, inputs,
        modern::{self, ResultType},
        tasks,
    },
    findings::Fault,
    violation::violation_fault,
};

const STRICT: Level = Level::ErrorIn(Revisions::from(Revision::V2025_06_18));

rules! {
    PARAMS_INVALID: "params-invalid", Schema, Level::Error, Revisions::ALL, "basic#requests";
    NOTIFICATION_PARAMS_INVALID: "notification-params-invalid", Schema, Level::Error, Revisions::ALL, "basic#notifications";
    RESULT_INVALID: "result-invalid", Schema, Level::Error, Revisions::ALL, "basic#responses";
    ERROR_DATA_INVALID: "error-data-invalid", Schema, Level::Error, Revisions::from(Revision::V2025_11_25), "basic#error-codes";
    METHOD_WRONG_DIRECTION: "method-wrong-direction", Schema, Level::Error, Revisions::ALL, "basic#messages";
    METHOD_NOT_IN_REVISION: "method-not-in-revision", Schema, STRICT, Revisions::ALL, "basic/lifecycle#operation";
    METHOD_UNKNOWN: "method-unknown", Schema, Level::Warning, Revisions::ALL, "basic#messages";
}

/// The member of the message that a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// `params` of a request.
    Params,
    /// `params` of a notification.
    NotificationParams,
    /// `result` of a response.
    Result,
    /// `result` of a `tasks/result`, which is that of another request.
    TaskOutcome,
    /// `params` of an entry of `inputRequests` in a result.
    InputRequest,
}

impl Part {
    fn rule(self) -> &'static RuleMeta {
        match self {
            Part::Params => &PARAMS_INVALID,
            Part::NotificationParams => &NOTIFICATION_PARAMS_INVALID,
            Part::Result => &RESULT_INVALID,
            Part::TaskOutcome => &tasks::RESULT_TYPE,
            Part::InputRequest => &inputs::REQUEST_INVALID,
        }
    }

    /// JSON pointer to the payload in its message.
    const fn path(self) -> &'static str {
        match self {
            Part::Params | Part::NotificationParams => "/params",
            Part::Result | Part::TaskOutcome | Part::InputRequest => "/result",
        }
    }

    /// The error code a receiver replies with; notifications get no reply.
    const fn code(self) -> Option<ErrorCode> {
        match self {
            Part::Params => Some(ErrorCode::InvalidParams),
            Part::NotificationParams => None,
            Part::Result | Part::TaskOutcome | Part::InputRequest => Some(ErrorCode::InternalError),
        }
    }
}

/// Which of a method's possible results a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The method's own. Always used for params.
    Usual,
    /// A created task (2025-11-25).
    Task,
    /// A request for more input (2026-07-28).
    InputRequired,
}

/// A payload that matches its definition, for the deeper rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload<'a> {
    pub(crate) part: Part,
    pub(crate) shape: Shape,
    pub(crate) method: &'static Method,
    pub(crate) node: Node<'a>,
}

impl Payload<'_> {
    /// The error code a receiver replies with if it is wrong; responses get no reply.
    pub(crate) const fn code(&self) -> Option<ErrorCode> {
        match self.part {
            Part::Params => Some(ErrorCode::InvalidParams),
            _ => None,
        }
    }
}

/// The outcome of checking a message's payload.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PayloadOutcome<'a> {
    /// It matches; deeper rules may look at it.
    Fits(Payload<'a>),
    /// There is none, or no definition to check it against.
    Nothing,
    /// It was reported. Any other fault is probably a consequence.
    Broken,
}

/// Judges the payload of a message with a valid envelope.
pub(crate) fn check<'a>(
    schemas: &Schemas,
    envelope: &Envelope<'a>,
    context: &Context,
    findings: &mut Findings<'_>,
) -> PayloadOutcome<'a> {
    let Some(kind) = envelope.kind() else { return PayloadOutcome::Broken };
    match kind {
        MessageKind::Request => check_call(schemas, Part::Params, envelope, context, findings),
        MessageKind::Notification => {
            check_call(schemas, Part::NotificationParams, envelope, context, findings)
        }
        MessageKind::Response => {
            if let Some(error) = envelope.error {
                return check_error(schemas, error, envelope, context, findings);
            }
            match envelope.result {
                Some(result) => check_result(schemas, result, context, findings),
                None => PayloadOutcome::Broken,
            }
        }
    }
}

fn check_call<'a>(
    schemas: &Schemas,
    part: Part,
    envelope: &Envelope<'a>,
    context: &Context,
    findings: &mut Findings<'_>,
) -> PayloadOutcome<'a> {
    let Some(method) = context.method else {
        return unknown_method::report(envelope, context, findings);
    };
    if let (Some(side), Some(name)) = (context.from, envelope.method)
        && !method.sender.allows(side)
    {
        report_direction(method, side, name.span(), findings);
        return PayloadOutcome::Broken;
    }
    if method.input_request_only {
        return PayloadOutcome::Nothing;
    }
    let (definition, params) = match (method.params, envelope.params) {
        // A profile that allows positional params has no definitions for them.
        (_, Some(params)) if params.is_array() => return PayloadOutcome::Nothing,
        (Some(definition), Some(params)) => (definition, params),
        (None, Some(node)) => {
            return PayloadOutcome::Fits(Payload { part, shape: Shape::Usual, method, node });
        }
        (Some(definition), None) if method.params_required => {
            report_missing_params(part, method, definition, envelope.object.span(), findings);
            return PayloadOutcome::Broken;
        }
        (_, None) => return PayloadOutcome::Nothing,
    };
    if fits(schemas, definition, params, part, method, findings) {
        PayloadOutcome::Fits(Payload { part, shape: Shape::Usual, method, node: params })
    } else {
        PayloadOutcome::Broken
    }
}

/// Judges the params of a message whose envelope was already rejected, where all faults are wanted.
#[cold]
pub(crate) fn check_despite(
    schemas: &Schemas,
    envelope: &Envelope<'_>,
    context: &Context,
    findings: &mut Findings<'_>,
) {
    let name = envelope.method.and_then(Node::str_bytes);
    let method = name.and_then(|name| mcp_schema::method(context.revision, &name));
    let (Some(method), Some(params)) = (method, envelope.params.filter(|node| node.is_object()))
    else {
        return;
    };
    let part = match method.kind {
        MethodKind::Request => Part::Params,
        MethodKind::Notification => Part::NotificationParams,
    };
    if let Some(definition) = method.params {
        fits(schemas, definition, params, part, method, findings);
    }
}

fn check_result<'a>(
    schemas: &Schemas,
    result: Node<'a>,
    context: &Context,
    findings: &mut Findings<'_>,
) -> PayloadOutcome<'a> {
    let Some((answered, method)) =
        context.answers.and_then(|answered| Some((answered, answered.method?)))
    else {
        return PayloadOutcome::Nothing;
    };
    if method.input_request_only {
        return PayloadOutcome::Nothing; // Not a request in this revision; reported elsewhere.
    }
    if let Some(original) = answered.original {
        return check_outcome(schemas, original, result, findings);
    }
    let (definition, shape) = match result_definition(method, answered, result, findings) {
        Ok(chosen) => chosen,
        Err(verdict) => return verdict,
    };
    if context.lacks_server_info {
        modern::report_server_info(result, findings);
    }
    if shape == Shape::InputRequired && !inputs::check_not_empty(result, findings) {
        return PayloadOutcome::Broken;
    }
    let payload = Payload { part: Part::Result, shape, method, node: result };
    if schemas.accepts(definition, result) {
        return PayloadOutcome::Fits(payload);
    }
    if shape == Shape::Usual && !answered.task && tasks::creates_task(result, findings) {
        tasks::report_unexpected(result, method, findings);
        return PayloadOutcome::Broken;
    }
    if report_violations(schemas, definition, result, Part::Result, method, findings) {
        PayloadOutcome::Broken
    } else {
        PayloadOutcome::Fits(payload)
    }
}

/// Judges the result of `tasks/result`, which is that of the task's original request and subject to
/// the same rules.
fn check_outcome<'a>(
    schemas: &Schemas,
    original: &'static Method,
    result: Node<'a>,
    findings: &mut Findings<'_>,
) -> PayloadOutcome<'a> {
    let Some(definition) = original.result else { return PayloadOutcome::Nothing };
    if fits(schemas, definition, result, Part::TaskOutcome, original, findings) {
        let shape = Shape::Usual;
        PayloadOutcome::Fits(Payload { part: Part::Result, shape, method: original, node: result })
    } else {
        PayloadOutcome::Broken
    }
}

/// The definition a result must match: usually the method's, but a task may have been created
/// instead, or (2026-07-28) more input may be asked for. If there is none, the error is the
/// outcome.
fn result_definition<'a>(
    method: &'static Method,
    answered: Answered,
    result: Node<'_>,
    findings: &mut Findings<'_>,
) -> Result<(&'static Definition, Shape), PayloadOutcome<'a>> {
    if answered.task
        && result.get("task").is_some()
        && let Some(task_result) = method.task_result
    {
        return Ok((task_result, Shape::Task));
    }
    let definition = method.result.ok_or(PayloadOutcome::Nothing)?;
    if definition.revision < Revision::V2026_07_28 {
        return Ok((definition, Shape::Usual));
    }
    match modern::check_result_type(result, answered, findings) {
        ResultType::Complete => Ok((definition, Shape::Usual)),
        ResultType::InputRequired
            if method.input_required.is_none()
                && !findings.settings().stops_before(Layer::Session) =>
        {
            inputs::report_not_allowed(method, result, findings);
            Err(PayloadOutcome::Broken)
        }
        ResultType::InputRequired => method
            .input_required
            .or_else(|| mcp_schema::definition(definition.revision, "InputRequiredResult"))
            .map(|definition| (definition, Shape::InputRequired))
            .ok_or(PayloadOutcome::Nothing),
        ResultType::Foreign => Err(PayloadOutcome::Nothing),
        ResultType::Unusable => Err(PayloadOutcome::Broken),
    }
}

/// Whether `payload` matches; if not, reports every violation under the rule that fits it best.
fn fits(
    schemas: &Schemas,
    definition: &'static Definition,
    payload: Node<'_>,
    part: Part,
    method: &'static Method,
    findings: &mut Findings<'_>,
) -> bool {
    schemas.accepts(definition, payload)
        || !report_violations(schemas, definition, payload, part, method, findings)
}

#[cold]
fn report_violations(
    schemas: &Schemas,
    definition: &'static Definition,
    payload: Node<'_>,
    part: Part,
    method: &'static Method,
    findings: &mut Findings<'_>,
) -> bool {
    let mut violations = explain(schemas, definition, payload);
    let mut wrong = !violations.is_empty();
    if definition.name == "InputRequiredResult"
        && input_requests::report_requests(schemas, payload, findings)
    {
        // Each entry was judged by its own method, which is more precise than the union.
        violations.retain(|violation| !violation.instance_path.starts_with("/inputRequests/"));
        wrong = true;
    }
    report_each(&violations, part, method, part.path(), findings);
    wrong
}

/// Reports violations, each under the rule that describes it best. `prefix` is the JSON pointer to
/// the payload in its message.
pub(crate) fn report_each(
    violations: &[Violation],
    part: Part,
    method: &'static Method,
    prefix: &str,
    findings: &mut Findings<'_>,
) {
    let mut reported = Vec::new();
    for violation in violations {
        let refined = refine::more_specific(part, method, violation, findings);
        let rule = refined.as_ref().map_or_else(|| part.rule(), |refined| refined.rule);
        if let Some(refined) = refined {
            if reported.contains(&refined) {
                continue;
            }
            reported.push(refined);
        }
        let mut fault = violation_fault(rule, violation, prefix, part.code());
        if rule.name == modern::REQUEST_META_MISSING.name
            && violation.params.get("missingProperty").is_some_and(|missing| missing == "_meta")
        {
            fault = fault.help(modern::meta_help("_meta"));
        }
        findings.report(fault);
    }
}

#[cold]
fn report_missing_params(
    part: Part,
    method: &'static Method,
    definition: &'static Definition,
    whole: Span,
    findings: &mut Findings<'_>,
) {
    let rule = refine::missing_params(part, method, findings).unwrap_or_else(|| part.rule());
    let help = if rule.name == modern::REQUEST_META_MISSING.name {
        modern::meta_help("params` with a `_meta")
    } else {
        "add `params`".to_owned()
    };
    let mut fault = Fault::new(rule, format!("`{}` has no `params`", method.name))
        .at(whole)
        .schema(SchemaFault {
            instance_path: String::new(),
            schema_path: format!("#/$defs/{}", definition.name),
            keyword: "required".into(),
            params: json!({"missingProperty": "params"}),
        })
        .help(help);
    if let Some(code) = part.code() {
        fault = fault.code(code.code());
    }
    findings.report(fault);
}

#[cold]
fn report_direction(method: &'static Method, side: Side, span: Span, findings: &mut Findings<'_>) {
    findings.report(
        Fault::new(
            &METHOD_WRONG_DIRECTION,
            format!("the {side} sends `{}`, which only the {} may", method.name, side.other()),
        )
        .at(span)
        .code(ErrorCode::MethodNotFound.code()),
    );
}

fn check_error<'a>(
    schemas: &Schemas,
    error: Node<'_>,
    envelope: &Envelope<'_>,
    context: &Context,
    findings: &mut Findings<'_>,
) -> PayloadOutcome<'a> {
    let Some(code) = envelope.error_code() else {
        return PayloadOutcome::Broken;
    };
    if findings.settings().profile.has_own_codes() {
        return PayloadOutcome::Nothing; // They may have another meaning.
    }
    let shape = mcp_schema::defined_code(context.revision, code).and_then(|defined| defined.data);
    let Some(definition) = shape.and_then(|name| mcp_schema::definition(context.revision, name))
    else {
        return PayloadOutcome::Nothing;
    };
    let Some(data) = error.get("data") else {
        findings.report(
            Fault::new(&ERROR_DATA_INVALID, format!("error {code} has no `data`"))
                .at(error.span())
                .schema(SchemaFault {
                    instance_path: "/error".into(),
                    schema_path: format!("#/$defs/{}", definition.name),
                    keyword: "required".into(),
                    params: json!({"missingProperty": "data"}),
                }),
        );
        return PayloadOutcome::Broken;
    };
    if schemas.accepts(definition, data) {
        elicitation::check_error_data(data, findings);
        return PayloadOutcome::Nothing;
    }
    for violation in schemas.violations(definition, data) {
        findings.report(violation_fault(&ERROR_DATA_INVALID, &violation, "/error/data", None));
    }
    PayloadOutcome::Broken
}
