//! Validation of a value by the name of its type.

use mcp_core::Side;
use mcp_json::{Node, Tape};
use mcp_jsonrpc::{Envelope, JsonRpcId};
use mcp_schema::MethodKind;

use super::{
    Answer, Details, Reason, ValidationError, Validator, expect_type, logged, messages::Expected,
    parts::is_error_object,
};
use crate::FieldType;

/// The meaning of a name that no revision defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generic {
    /// A whole message, from one side if given.
    Whole(Expected, Option<Side>),
    /// A response with an `error`, or the error object alone.
    Error,
}

impl Generic {
    /// Parses `Request`, `MCPRequest`, `JSONRPCRequest` and so on, case-insensitively.
    fn named(name: &str) -> Option<Generic> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("mcp").unwrap_or(&name);
        let name = name.strip_prefix("jsonrpc").or(name.strip_prefix("json_rpc")).unwrap_or(name);
        let (expected, from) = match name.trim_start_matches('_') {
            "message" => (Expected::Message, None),
            "request" => (Expected::Request, None),
            "clientrequest" => (Expected::Request, Some(Side::Client)),
            "serverrequest" => (Expected::Request, Some(Side::Server)),
            "notification" => (Expected::Notification, None),
            "clientnotification" => (Expected::Notification, Some(Side::Client)),
            "servernotification" => (Expected::Notification, Some(Side::Server)),
            "response" | "resultresponse" => (Expected::Response, None),
            "batch" | "batchrequest" | "batchresponse" => (Expected::Batch, None),
            "error" | "errorresponse" => return Some(Generic::Error),
            _ => return None,
        };
        Some(Generic::Whole(expected, from))
    }
}

impl Validator {
    /// Whether `value` (JSON text) is a `message_type`.
    ///
    /// | `message_type` | what `value` is |
    /// |---|---|
    /// | a method, `tools/call` | a whole message of that method (it has `jsonrpc`, or this `method`), or its params |
    /// | a definition, `Tool` | an instance of it |
    /// | an official name of a message, `CallToolRequest` | a whole message of that method |
    /// | `Request`, `Notification`, `Response`, `Error`, `Message`, `Batch` | a whole message of that kind, by any method; the names may begin with `MCP` or `JSONRPC` |
    ///
    /// ```
    /// use mcp_core::Revision;
    /// use mcp_rules::Validator;
    ///
    /// let validator = Validator::new(Revision::V2025_11_25);
    /// let whole = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    /// validator.validate("JSONRPCRequest", whole)?;
    /// validator.validate("ping", whole)?;
    /// validator.validate("Tool", br#"{"name":"echo","inputSchema":{"type":"object"}}"#)?;
    ///
    /// let error = validator.validate("resources/read", br#"{"uri":"no uri"}"#).unwrap_err();
    /// assert_eq!(error.code(), -32602);
    /// # Ok::<(), mcp_rules::ValidationError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownType`] with the nearest known name, or what is wrong with the value.
    pub fn validate(&self, message_type: &str, value: &[u8]) -> Answer {
        logged("validate", self.typed(message_type, value))
    }

    fn typed(&self, message_type: &str, value: &[u8]) -> Answer {
        let mut tape = Tape::new();
        if let Some(definition) = mcp_schema::definition(self.revision, message_type) {
            return self.validate_definition(definition, self.parse(&mut tape, value)?.root());
        }
        if let Some(generic) = Generic::named(message_type) {
            return self.generic(generic, self.parse(&mut tape, value)?.root());
        }
        let official = mcp_schema::method_of_message(self.revision, message_type);
        let name = official.map_or(message_type, |method| method.name);
        if let Some(kind) = self.kind_of(name) {
            let document = self.parse(&mut tape, value)?;
            let root = document.root();
            let envelope = Envelope::of(root);
            let says_so = envelope.method.is_some_and(|method| method.str_eq(name));
            if says_so || envelope.jsonrpc.is_some() || official.is_some() {
                return self.whole(name, root);
            }
            return self.validate_call(name, kind, Some(value));
        }
        let methods = mcp_schema::methods(self.revision).iter().map(|method| method.name);
        let definitions =
            mcp_schema::definitions(self.revision).iter().map(|definition| definition.name);
        let near = mcp_schema::nearest(message_type, methods.chain(definitions));
        Err(ValidationError::of(
            Reason::UnknownType,
            format!("{} has no method or definition `{message_type}`", self.revision),
            Details::Name { kind: "type", given: message_type.into(), did_you_mean: near },
        ))
    }

    /// The kind of method that has that name, if there may be one.
    fn kind_of(&self, name: &str) -> Option<MethodKind> {
        if let Some(method) = mcp_schema::method(self.revision, name.as_bytes()) {
            return Some(method.kind);
        }
        let listed = |kind: &MethodKind| self.settings().permits_method(name, *kind);
        let known = [MethodKind::Request, MethodKind::Notification].into_iter().find(listed)?;
        // Where names are arbitrary, any name is permitted; those with a slash are methods.
        (!self.takes_any_name() || name.contains('/')).then_some(known)
    }

    fn generic(&self, generic: Generic, value: Node<'_>) -> Answer {
        match generic {
            Generic::Whole(expected, from) => {
                self.refuse_findings(value, self.findings_as(value, expected, from))
            }
            Generic::Error if is_error_object(value) => {
                let code = value.get("code").and_then(JsonRpcId::read);
                // An integer that does not fit is outside every range.
                self.error_code(code.and_then(|code| code.as_i64()).unwrap_or(i64::MAX))
            }
            Generic::Error => {
                let Some(error) = value.get("error") else {
                    let message = "there is neither an `error` nor a `code` and a `message`";
                    let missing = Details::Missing(vec!["error".into()]);
                    return Err(ValidationError::of(Reason::InvalidError, message, missing));
                };
                expect_type("error", error, &[FieldType::Object], Reason::InvalidError)?;
                self.refuse_findings(value, self.findings_as(value, Expected::Response, None))
            }
        }
    }

    /// Checks a whole message that should be one of `method`.
    fn whole(&self, method: &str, message: Node<'_>) -> Answer {
        let mut findings = Vec::new();
        if !message.get("method").is_some_and(|name| name.str_eq(method)) {
            let expected = format!("a message of `{method}`");
            findings.push(self.not_what_was_expected(&expected, message));
        }
        findings.extend(self.findings_in(message, None));
        self.refuse_findings(message, findings)
    }
}
