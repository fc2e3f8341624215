//! The JSON-RPC code and `data` of each domain error.

use mcp_core::{
    Dispatch, Era, Error, Json, Refusal, RefusalReason, ResponseStatus, Revision, excerpt,
    first_findings,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{ErrorCode, JsonRpcError};

/// A tool failure, and every other error without a more specific code.
const SERVER_ERROR: i64 = -32000;
const RESOURCE_NOT_FOUND: i64 = -32002;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_REVISION: i64 = -32022;
const URL_ELICITATION_REQUIRED: i64 = -32042;

/// The error object for `error` in a response at `revision`.
pub(crate) fn to_json_rpc_error(
    error: &Error,
    revision: Revision,
    dispatch: Dispatch,
) -> JsonRpcError {
    if let Error::Coded { code, message, data } = error {
        return JsonRpcError { code: *code, message: message.clone(), data: data.clone() };
    }
    JsonRpcError {
        code: code_of(error, revision, dispatch),
        message: message_of(error),
        data: data_of(error, dispatch),
    }
}

/// The maximum number of bytes sent back of a message that may quote the peer.
const MAX_MESSAGE: usize = 4 << 10;
/// The maximum number of bytes sent back of a name, a URI and the like.
const MAX_FACT: usize = 1 << 10;

fn message_of(error: &Error) -> String {
    let message = error.to_string();
    match error {
        // Written by the application, so it is not truncated.
        Error::ToolError { .. } | Error::Internal { .. } => message,
        _ => excerpt(&message, MAX_MESSAGE).into_owned(),
    }
}

/// The error object for a message that a gate rejected.
pub(crate) fn refusal_to_json_rpc(refusal: &Refusal) -> JsonRpcError {
    JsonRpcError {
        code: code_of_refusal(refusal.reason),
        message: excerpt(&refusal.message, MAX_MESSAGE).into_owned(),
        data: refusal.facts.clone().or_else(|| list(&refusal.findings)),
    }
}

/// The outcome that a transport should expose for a request that failed with `error`.
pub(crate) fn status_of(error: &Error) -> ResponseStatus {
    match error {
        Error::MethodNotFound { .. } => ResponseStatus::UnknownMethod,
        Error::InvalidMeta { .. }
        | Error::MissingCapability { .. }
        | Error::UnsupportedRevision { .. }
        | Error::HeaderMismatch { .. } => ResponseStatus::BadRequest,
        Error::Refused(refusal) => status_of_refusal(refusal.reason),
        _ => ResponseStatus::Served,
    }
}

/// The outcome that a transport should expose for a rejected message.
pub(crate) fn status_of_refusal(reason: RefusalReason) -> ResponseStatus {
    match reason {
        RefusalReason::UnknownMethod => ResponseStatus::UnknownMethod,
        RefusalReason::Invalid => ResponseStatus::Served,
        _ => ResponseStatus::BadRequest,
    }
}

fn code_of(error: &Error, revision: Revision, dispatch: Dispatch) -> i64 {
    let modern = revision.era() == Era::Modern;
    match error {
        Error::MethodNotFound { .. } => ErrorCode::MethodNotFound.code(),
        Error::ToolNotFound { .. } if dispatch == Dispatch::Bare => {
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
        // Only one revision has it; later ones must not use this code.
        Error::UrlElicitationRequired { .. } if revision == Revision::V2025_11_25 => {
            URL_ELICITATION_REQUIRED
        }
        Error::Refused(refusal) => code_of_refusal(refusal.reason),
        Error::Internal { .. } => ErrorCode::InternalError.code(),
        Error::Coded { code, .. } => *code,
        // 2026-07-28 leaves the range of `SERVER_ERROR` to older servers.
        _ if modern && dispatch == Dispatch::Mcp => ErrorCode::InternalError.code(),
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

/// The `data` of a domain error.
#[derive(Serialize)]
struct Data<'a> {
    error_type: &'static str,
    /// The members that MCP defines: `uri`, `supported`, …
    #[serde(flatten)]
    facts: Map<String, Value>,
    /// Always present, to let clients iterate over it unconditionally.
    errors: &'a [Json],
}

/// Under MCP dispatch, the findings alone if there are any; otherwise the error type, further
/// facts, and the findings.
fn data_of(error: &Error, dispatch: Dispatch) -> Option<Json> {
    let errors = match error {
        Error::Refused(Refusal { findings, .. })
        | Error::InvalidParams { findings, .. }
        | Error::InvalidArguments { findings, .. } => first_findings(findings),
        _ => &[],
    };
    if let Error::Refused(Refusal { facts: Some(facts), .. }) = error {
        return Some(facts.clone());
    }
    if dispatch == Dispatch::Mcp && !errors.is_empty() {
        return list(errors);
    }
    Json::of(&Data { error_type: error.kind(), facts: facts_of(error), errors }).ok()
}

fn facts_of(error: &Error) -> Map<String, Value> {
    let mut facts = Map::new();
    let mut add = |name: &str, fact: Value| facts.insert(name.to_owned(), fact);
    match error {
        Error::MethodNotFound { method } => {
            add("method", excerpt(method, MAX_FACT).into());
        }
        Error::ToolNotFound { name } | Error::PromptNotFound { name } => {
            add("name", excerpt(name, MAX_FACT).into());
        }
        Error::ResourceNotFound { uri } => {
            add("uri", excerpt(uri, MAX_FACT).into());
        }
        Error::MissingCapability { required } => {
            add("requiredCapabilities", required.to_value().unwrap_or(Value::Null));
        }
        Error::UnsupportedRevision { requested, supported } => {
            add("requested", excerpt(requested, MAX_FACT).into());
            add("supported", supported.iter().map(|revision| revision.as_str()).collect());
        }
        Error::UrlElicitationRequired { elicitations } => {
            add("elicitations", elicitations.to_value().unwrap_or(Value::Null));
        }
        _ => {}
    }
    facts
}

fn list(findings: &[Json]) -> Option<Json> {
    let findings = first_findings(findings);
    if findings.is_empty() { None } else { Json::of(findings).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &Error, revision: Revision, dispatch: Dispatch, code: i64, data: &str) {
        let written = to_json_rpc_error(error, revision, dispatch);
        let shown = written.data.map(|data| data.to_string()).unwrap_or_default();
        assert_eq!((written.code, shown.as_str()), (code, data));
    }

    #[test]
    fn an_error_does_not_repeat_what_the_peer_sent_at_length() {
        let long = "x".repeat(1 << 20);
        let text = || long.clone();
        let finding = Json::of(&long).unwrap();
        let refusal = Refusal {
            index: None,
            reason: RefusalReason::InvalidParams,
            message: text(),
            findings: vec![finding.clone()],
            facts: None,
        };
        for error in [
            Error::MethodNotFound { method: text() },
            Error::ToolNotFound { name: text() },
            Error::PromptNotFound { name: text() },
            Error::ResourceNotFound { uri: text() },
            Error::invalid_params(text()),
            Error::InvalidArguments { message: text(), findings: vec![finding] },
            Error::InvalidMeta { message: text() },
            Error::UnsupportedRevision { requested: text(), supported: Vec::new() },
            Error::HeaderMismatch { message: text() },
            Error::Refused(refusal),
        ] {
            for dispatch in [Dispatch::Mcp, Dispatch::Bare] {
                let written = to_json_rpc_error(&error, Revision::LATEST, dispatch);
                let data = written.data.map_or(0, |data| data.as_bytes().len());
                assert!(written.message.len() + data < 6 << 10, "{}", error.kind());
            }
        }
    }

    #[test]
    fn bare_dispatch_has_its_own_codes() {
        let finding = Json::parse(r#"{"rule":"r"}"#).unwrap();
        let invalid = Error::InvalidParams { message: "no".into(), findings: vec![finding] };
        for (error, code, data) in [
            (
                Error::ToolNotFound { name: "x".into() },
                -32601,
                r#"{"error_type":"tool_not_found","name":"x","errors":[]}"#,
            ),
            (invalid, -32602, r#"{"error_type":"invalid_params","errors":[{"rule":"r"}]}"#),
            (Error::invalid_params("no"), -32602, r#"{"error_type":"invalid_params","errors":[]}"#),
            (
                Error::ToolError { message: "no".into() },
                -32000,
                r#"{"error_type":"tool_error","errors":[]}"#,
            ),
            (Error::internal("no"), -32603, r#"{"error_type":"internal_error","errors":[]}"#),
        ] {
            for revision in Revision::ALL {
                check(&error, revision, Dispatch::Bare, code, data);
            }
        }
    }

    #[test]
    fn output_that_violates_its_contract_is_an_internal_error() {
        let findings = vec![Json::parse(r#"{"rule":"r"}"#).unwrap()];
        let error = Error::Refused(Refusal {
            index: None,
            reason: RefusalReason::Invalid,
            message: "no".into(),
            findings,
            facts: None,
        });
        let data = r#"{"error_type":"internal_error","errors":[{"rule":"r"}]}"#;
        check(&error, Revision::LATEST, Dispatch::Bare, -32603, data);
        check(&error, Revision::LATEST, Dispatch::Mcp, -32603, r#"[{"rule":"r"}]"#);
    }

    #[test]
    fn the_data_of_every_error_can_be_iterated() {
        let json = |text: &str| Json::parse(text.to_owned()).unwrap();
        let finding = json(r#"{"rule":"r"}"#);
        let refused = |findings| Refusal {
            index: None,
            reason: RefusalReason::InvalidParams,
            message: "no".into(),
            findings,
            facts: None,
        };
        for error in [
            Error::MethodNotFound { method: "m".into() },
            Error::ToolNotFound { name: "t".into() },
            Error::PromptNotFound { name: "p".into() },
            Error::ResourceNotFound { uri: "a:b".into() },
            Error::invalid_params("no"),
            Error::InvalidParams { message: "no".into(), findings: vec![finding.clone()] },
            Error::InvalidMeta { message: "no".into() },
            Error::ToolError { message: "no".into() },
            Error::MissingCapability { required: json("{}") },
            Error::UnsupportedRevision { requested: "x".into(), supported: vec![] },
            Error::HeaderMismatch { message: "no".into() },
            Error::UrlElicitationRequired { elicitations: json("[]") },
            Error::InputRequired,
            Error::NotInitialized,
            Error::Refused(refused(vec![])),
            Error::Refused(refused(vec![finding])),
            Error::Busy,
            Error::Cancelled,
            Error::internal("no"),
        ] {
            for dispatch in [Dispatch::Mcp, Dispatch::Bare] {
                let written = to_json_rpc_error(&error, Revision::LATEST, dispatch);
                let Some(data) = written.data_as_value().unwrap() else { continue };
                let is_iterable = data.is_array() || data["errors"].is_array();
                assert!(is_iterable, "{dispatch:?} {error:?}: {data}");
            }
        }
    }

    #[test]
    fn every_refusal_has_its_code() {
        use RefusalReason as R;
        for (reason, code, status) in [
            (R::NotJson, -32700, ResponseStatus::BadRequest),
            (R::NotAMessage, -32600, ResponseStatus::BadRequest),
            (R::UnknownMethod, -32601, ResponseStatus::UnknownMethod),
            (R::InvalidParams, -32602, ResponseStatus::BadRequest),
            (R::HeaderMismatch, -32020, ResponseStatus::BadRequest),
            (R::MissingCapability, -32021, ResponseStatus::BadRequest),
            (R::UnsupportedRevision, -32022, ResponseStatus::BadRequest),
            (R::Invalid, -32603, ResponseStatus::Served),
        ] {
            for findings in [vec![], vec![Json::parse(r#"{"rule":"r"}"#).unwrap()]] {
                let data = list(&findings);
                assert_eq!(data.is_none(), findings.is_empty(), "a list or nothing");
                let refusal =
                    Refusal { index: None, reason, message: "no".into(), findings, facts: None };
                let written = refusal_to_json_rpc(&refusal);
                assert_eq!(written, JsonRpcError { data, ..JsonRpcError::new(code, "no") });
                assert_eq!(status_of(&Error::Refused(refusal)), status);
            }
        }
    }

    #[test]
    fn every_error_has_its_code_in_each_era() {
        let json = |text: &str| Json::parse(text.to_owned()).unwrap();
        for (error, legacy, modern) in [
            (Error::MethodNotFound { method: "m".into() }, -32601, -32601),
            (Error::ToolNotFound { name: "t".into() }, -32602, -32602),
            (Error::PromptNotFound { name: "p".into() }, -32602, -32602),
            (Error::ResourceNotFound { uri: "a:b".into() }, -32002, -32602),
            (Error::invalid_params("no"), -32602, -32602),
            (Error::InvalidMeta { message: "no".into() }, -32602, -32602),
            (Error::ToolError { message: "no".into() }, -32000, -32603),
            (Error::MissingCapability { required: json("{}") }, -32000, -32021),
            (
                Error::UnsupportedRevision { requested: "x".into(), supported: vec![] },
                -32602,
                -32022,
            ),
            (Error::HeaderMismatch { message: "no".into() }, -32020, -32020),
            (Error::UrlElicitationRequired { elicitations: json("[]") }, -32042, -32603),
            (Error::NotInitialized, -32000, -32603),
            (Error::Busy, -32000, -32603),
            (Error::Cancelled, -32000, -32603),
            (Error::internal("no"), -32603, -32603),
        ] {
            let code = |revision| to_json_rpc_error(&error, revision, Dispatch::Mcp).code;
            assert_eq!(code(Revision::LATEST_LEGACY), legacy, "{error:?}");
            assert_eq!(code(Revision::LATEST), modern, "{error:?}");
        }
    }

    #[test]
    fn an_error_with_its_own_code_is_forwarded_unchanged() {
        for data in [None, Some(Json::parse("7").unwrap())] {
            let error = Error::Coded { code: 1234, message: "own".into(), data: data.clone() };
            let written = to_json_rpc_error(&error, Revision::LATEST, Dispatch::Bare);
            assert_eq!(written, JsonRpcError { data, ..JsonRpcError::new(1234, "own") });
        }
    }

    #[test]
    fn an_unknown_tool_is_an_unknown_method_only_in_bare_dispatch() {
        let error = Error::ToolNotFound { name: "x".into() };
        let data = r#"{"error_type":"tool_not_found","name":"x","errors":[]}"#;
        check(&error, Revision::LATEST, Dispatch::Mcp, -32602, data);
        check(&error, Revision::LATEST, Dispatch::Bare, -32601, data);
    }

    #[test]
    fn the_code_of_a_missing_resource_depends_on_the_era() {
        let error = Error::ResourceNotFound { uri: "a:b".into() };
        let data = r#"{"error_type":"resource_not_found","uri":"a:b","errors":[]}"#;
        check(&error, Revision::LATEST_LEGACY, Dispatch::Mcp, -32002, data);
        check(&error, Revision::LATEST, Dispatch::Mcp, -32602, data);
    }

    #[test]
    fn url_elicitation_has_its_code_in_one_revision_only() {
        let error = Error::UrlElicitationRequired { elicitations: Json::parse("[]").unwrap() };
        let data = r#"{"error_type":"url_elicitation_required","elicitations":[],"errors":[]}"#;
        check(&error, Revision::V2025_06_18, Dispatch::Mcp, -32000, data);
        check(&error, Revision::V2025_11_25, Dispatch::Mcp, -32042, data);
        check(&error, Revision::V2026_07_28, Dispatch::Mcp, -32603, data);
    }

    #[test]
    fn findings_are_the_data_if_there_are_any() {
        let finding = Json::parse(r#"{"rule":"r"}"#).unwrap();
        let error = Error::InvalidParams { message: "no".into(), findings: vec![finding] };
        check(&error, Revision::LATEST, Dispatch::Mcp, -32602, r#"[{"rule":"r"}]"#);
        let error = Error::ToolError { message: "no".into() };
        check(
            &error,
            Revision::LATEST,
            Dispatch::Bare,
            -32000,
            r#"{"error_type":"tool_error","errors":[]}"#,
        );
        let error = Error::internal("no");
        check(
            &error,
            Revision::LATEST,
            Dispatch::Mcp,
            -32603,
            r#"{"error_type":"internal_error","errors":[]}"#,
        );
    }

    #[test]
    fn an_unsupported_revision_lists_the_supported_ones() {
        let error = Error::UnsupportedRevision {
            requested: "2099-01-01".into(),
            supported: vec![Revision::LATEST],
        };
        let data = r#"{"error_type":"unsupported_revision","requested":"2099-01-01","supported":["2026-07-28"],"errors":[]}"#;
        check(&error, Revision::LATEST, Dispatch::Mcp, -32022, data);
        assert_eq!(status_of(&error), ResponseStatus::BadRequest);
    }
}
