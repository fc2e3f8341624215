//! Which number a domain error has on the wire, and what `data` says about it.

use mcp_core::{Era, Error, Json, Refusal, RefusalReason, Revision, Standing};
use serde_json::{Value, json};

use crate::{ErrorCode, JsonRpcError};

/// How calls name what they want, which decides some error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "one or the other")]
pub enum ErrorDialect {
    /// `tools/call` with the name of the tool in its params.
    #[default]
    Mcp,
    /// The method is the name of the tool.
    Bare,
}

/// A tool that failed, and everything else for which no better number exists.
const SERVER_ERROR: i64 = -32000;
const RESOURCE_NOT_FOUND: i64 = -32002;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_REVISION: i64 = -32022;
const URL_ELICITATION_REQUIRED: i64 = -32042;

/// The error object for `error` in an answer of `revision`.
pub(crate) fn to_json_rpc_error(
    error: &Error,
    revision: Revision,
    dialect: ErrorDialect,
) -> JsonRpcError {
    if let Error::Coded { code, message, data } = error {
        return JsonRpcError { code: *code, message: message.clone(), data: data.clone() };
    }
    JsonRpcError {
        code: code_of(error, revision, dialect),
        message: error.to_string(),
        data: data_of(error),
    }
}

/// The error object for a message that a gate refused.
pub(crate) fn refusal_to_json_rpc(refusal: &Refusal) -> JsonRpcError {
    JsonRpcError {
        code: code_of_refusal(refusal.reason),
        message: refusal.message.clone(),
        data: list(&refusal.findings),
    }
}

/// How a transport should show that a request ended with `error`.
pub(crate) fn standing_of(error: &Error) -> Standing {
    match error {
        Error::MethodNotFound { .. } => Standing::UnknownMethod,
        Error::InvalidMeta { .. }
        | Error::MissingCapability { .. }
        | Error::UnsupportedRevision { .. }
        | Error::HeaderMismatch { .. } => Standing::BadRequest,
        Error::Refused(refusal) => standing_of_refusal(refusal.reason),
        _ => Standing::Served,
    }
}

/// How a transport should show that a message was refused.
pub(crate) fn standing_of_refusal(reason: RefusalReason) -> Standing {
    match reason {
        RefusalReason::UnknownMethod => Standing::UnknownMethod,
        RefusalReason::Invalid => Standing::Served,
        _ => Standing::BadRequest,
    }
}

fn code_of(error: &Error, revision: Revision, dialect: ErrorDialect) -> i64 {
    let modern = revision.era() == Era::Modern;
    match error {
        Error::MethodNotFound { .. } => ErrorCode::MethodNotFound.code(),
        Error::ToolNotFound { .. } if dialect == ErrorDialect::Bare => {
            ErrorCode::MethodNotFound.code()
        }
        Error::ResourceNotFound { .. } if !modern => RESOURCE_NOT_FOUND,
        Error::MissingCapability { .. } if modern => MISSING_CAPABILITY,
        Error::UnsupportedRevision { .. } if modern => UNSUPPORTED_REVISION,
        Error::ToolNotFound { .. }
        | Error::PromptNotFound { .. }
        | Error::ResourceNotFound { .. }
        | Error::UnsupportedRevision { .. }
        | Error::InvalidParams { .. }
        | Error::InvalidArguments { .. }
        | Error::InvalidMeta { .. } => ErrorCode::InvalidParams.code(),
        Error::HeaderMismatch { .. } => HEADER_MISMATCH,
        // Only one revision has it; later ones must not use the number.
        Error::UrlElicitationRequired { .. } if revision == Revision::V2025_11_25 => {
            URL_ELICITATION_REQUIRED
        }
        Error::Refused(refusal) => code_of_refusal(refusal.reason),
        Error::Internal { .. } => ErrorCode::InternalError.code(),
        Error::Coded { code, .. } => *code,
        // 2026-07-28 leaves the range of that number to older servers.
        _ if modern && dialect == ErrorDialect::Mcp => ErrorCode::InternalError.code(),
        _ => SERVER_ERROR,
    }
}

fn code_of_refusal(reason: RefusalReason) -> i64 {
    match reason {
        RefusalReason::NotJson => ErrorCode::ParseError.code(),
        RefusalReason::NotAMessage => ErrorCode::InvalidRequest.code(),
        RefusalReason::UnknownMethod => ErrorCode::MethodNotFound.code(),
        RefusalReason::InvalidParams => ErrorCode::InvalidParams.code(),
        RefusalReason::HeaderMismatch => HEADER_MISMATCH,
        RefusalReason::MissingCapability => MISSING_CAPABILITY,
        RefusalReason::UnsupportedRevision => UNSUPPORTED_REVISION,
        _ => ErrorCode::InternalError.code(),
    }
}

/// Findings where there are any; else which error it was and what else helps. The members that
/// MCP gives a name (`uri`, `supported`, …) stand beside `error_type`.
fn data_of(error: &Error) -> Option<Json> {
    let mut facts = json!({ "error_type": error.kind() });
    match error {
        Error::Refused(Refusal { findings, .. })
        | Error::InvalidParams { findings, .. }
        | Error::InvalidArguments { findings, .. }
            if !findings.is_empty() =>
        {
            return list(findings);
        }
        Error::MethodNotFound { method } => facts["method"] = method.as_str().into(),
        Error::ToolNotFound { name } | Error::PromptNotFound { name } => {
            facts["name"] = name.as_str().into();
        }
        Error::ResourceNotFound { uri } => facts["uri"] = uri.as_str().into(),
        Error::MissingCapability { required } => {
            facts["requiredCapabilities"] = required.read().unwrap_or(Value::Null);
        }
        Error::UnsupportedRevision { requested, supported } => {
            facts["requested"] = requested.as_str().into();
            facts["supported"] = supported.iter().map(|revision| revision.as_str()).collect();
        }
        Error::UrlElicitationRequired { elicitations } => {
            facts["elicitations"] = elicitations.read().unwrap_or(Value::Null);
        }
        _ => {}
    }
    Json::of(&facts).ok()
}

fn list(findings: &[Json]) -> Option<Json> {
    if findings.is_empty() { None } else { Json::of(findings).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &Error, revision: Revision, dialect: ErrorDialect, code: i64, data: &str) {
        let written = to_json_rpc_error(error, revision, dialect);
        let shown = written.data.map(|data| data.to_string()).unwrap_or_default();
        assert_eq!((written.code, shown.as_str()), (code, data));
    }

    #[test]
    fn a_missing_tool_is_a_missing_method_only_where_it_is_one() {
        let error = Error::ToolNotFound { name: "x".into() };
        let data = r#"{"error_type":"tool_not_found","name":"x"}"#;
        check(&error, Revision::LATEST, ErrorDialect::Mcp, -32602, data);
        check(&error, Revision::LATEST, ErrorDialect::Bare, -32601, data);
    }

    #[test]
    fn a_missing_resource_has_another_number_in_each_era() {
        let error = Error::ResourceNotFound { uri: "a:b".into() };
        let data = r#"{"error_type":"resource_not_found","uri":"a:b"}"#;
        check(&error, Revision::LATEST_LEGACY, ErrorDialect::Mcp, -32002, data);
        check(&error, Revision::LATEST, ErrorDialect::Mcp, -32602, data);
    }

    #[test]
    fn a_page_to_visit_first_has_its_number_in_one_revision_only() {
        let error = Error::UrlElicitationRequired { elicitations: Json::parse("[]").unwrap() };
        let data = r#"{"elicitations":[],"error_type":"url_elicitation_required"}"#;
        check(&error, Revision::V2025_06_18, ErrorDialect::Mcp, -32000, data);
        check(&error, Revision::V2025_11_25, ErrorDialect::Mcp, -32042, data);
        check(&error, Revision::V2026_07_28, ErrorDialect::Mcp, -32603, data);
    }

    #[test]
    fn findings_are_the_data_where_there_are_any() {
        let finding = Json::parse(r#"{"rule":"r"}"#).unwrap();
        let error = Error::InvalidParams { message: "no".into(), findings: vec![finding] };
        check(&error, Revision::LATEST, ErrorDialect::Mcp, -32602, r#"[{"rule":"r"}]"#);
        let error = Error::ToolError { message: "no".into() };
        check(
            &error,
            Revision::LATEST,
            ErrorDialect::Bare,
            -32000,
            r#"{"error_type":"tool_error"}"#,
        );
        let error = Error::internal("no");
        check(
            &error,
            Revision::LATEST,
            ErrorDialect::Mcp,
            -32603,
            r#"{"error_type":"internal_error"}"#,
        );
    }

    #[test]
    fn an_unsupported_revision_says_what_is_supported() {
        let error = Error::UnsupportedRevision {
            requested: "2099-01-01".into(),
            supported: vec![Revision::LATEST],
        };
        let data = r#"{"error_type":"unsupported_revision","requested":"2099-01-01","supported":["2026-07-28"]}"#;
        check(&error, Revision::LATEST, ErrorDialect::Mcp, -32022, data);
        assert_eq!(standing_of(&error), Standing::BadRequest);
    }
}
