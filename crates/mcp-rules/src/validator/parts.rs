//! Parts of a message: a name, params, a result, an error code.

use mcp_json::{Node, Tape};
use mcp_schema::{Definition, ErrorCodeClass, Method, MethodKind};

use super::{Answer, Details, FieldType, Reason, ValidationError, Validator, expect_type, logged};
use crate::{Depth, Layer, method_names::Naming};

/// The outcome in a response.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC knows no third outcome")]
pub enum Outcome<'a> {
    /// The JSON text of `result`.
    Result(&'a [u8]),
    /// The JSON text of `error`.
    Error(&'a [u8]),
    /// The JSON text of either: an object with an integer `code` and a string `message` is an
    /// error, everything else a result.
    Either(&'a [u8]),
}

impl<'a> From<&'a [u8]> for Outcome<'a> {
    fn from(text: &'a [u8]) -> Self {
        Outcome::Either(text)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Outcome<'a> {
    fn from(text: &'a [u8; N]) -> Self {
        Outcome::Either(text)
    }
}

impl<'a> From<&'a str> for Outcome<'a> {
    fn from(text: &'a str) -> Self {
        Outcome::Either(text.as_bytes())
    }
}

impl Validator {
    /// Whether `method` is a request of the revision and `params` (JSON text) match it.
    /// [`Validator::validate_request_message`] does the same for a whole message.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownMethod`], or what is wrong with the params.
    pub fn validate_request(&self, method: &str, params: Option<&[u8]>) -> Answer {
        let answer = self
            .validate_name(method, MethodKind::Request)
            .and_then(|()| self.validate_call(method, MethodKind::Request, params));
        logged("validate_request", answer)
    }

    /// Whether `name` is a notification of the revision and `params` (JSON text) match it.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownNotification`], or what is wrong with the params.
    pub fn validate_notification(&self, name: &str, params: Option<&[u8]>) -> Answer {
        let answer = self
            .validate_name(name, MethodKind::Notification)
            .and_then(|()| self.validate_call(name, MethodKind::Notification, params));
        logged("validate_notification", answer)
    }

    /// Whether a response with this `id` (JSON text) and outcome is valid, as far as can be told
    /// without its request. [`Validator::validate_result`] also judges the content of the result,
    /// and [`Validator::validate_response_message`] takes a whole message.
    ///
    /// ```
    /// use mcp_core::Revision;
    /// use mcp_rules::{Outcome, Validator};
    ///
    /// let validator = Validator::new(Revision::V2025_11_25);
    /// validator.validate_response(b"1", br#"{"tools":[]}"#)?;
    /// validator.validate_response(b"1", br#"{"code":-32601,"message":"no such method"}"#)?;
    /// assert!(validator.validate_response(b"1", Outcome::Error(b"{}")).is_err());
    /// # Ok::<(), mcp_rules::ValidationError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with the id, the result or the error object and its code.
    pub fn validate_response<'o>(&self, id: &[u8], outcome: impl Into<Outcome<'o>>) -> Answer {
        logged("validate_response", self.response(id, outcome.into()))
    }

    fn response(&self, id: &[u8], outcome: Outcome<'_>) -> Answer {
        // Each part is parsed on its own first, so that none can inject other members.
        self.parse(&mut Tape::new(), id)?;
        let mut tape = Tape::new();
        let (Outcome::Result(body) | Outcome::Error(body) | Outcome::Either(body)) = outcome;
        let document = self.parse(&mut tape, body)?;
        let name = match outcome {
            Outcome::Error(_) => "error",
            Outcome::Either(_) if is_error_object(document.root()) => "error",
            Outcome::Result(_) | Outcome::Either(_) => "result",
        };
        let mut message = br#"{"jsonrpc":"2.0","id":"#.to_vec();
        message.extend_from_slice(id);
        message.extend_from_slice(format!(",\"{name}\":").as_bytes());
        message.extend_from_slice(body);
        message.push(b'}');
        let mut tape = Tape::new();
        self.judge(self.parse_around(&mut tape, &message)?.root())
    }

    /// Whether `result` (JSON text) is a valid answer to `method`: its own result, or an allowed
    /// substitute (a created task, a request for more input).
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownMethod`], or what is wrong with the result.
    pub fn validate_result(&self, method: &str, result: &[u8]) -> Answer {
        logged("validate_result", self.result(method, result))
    }

    fn result(&self, method: &str, result: &[u8]) -> Answer {
        self.validate_name(method, MethodKind::Request)?;
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, result)?;
        let result = document.root();
        let Some(method) = self.method(method) else { return Ok(()) };
        expect_type("result", result, &[FieldType::Object], Reason::InvalidPayloadType)?;
        match result_definition(method, result) {
            Some(definition) => self.validate_definition(definition, result),
            None => Ok(()),
        }
    }

    /// Whether an error may use `code`.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidErrorCode`] for codes that JSON-RPC or the revision reserves, or that the
    /// profile does not allow.
    pub fn validate_error_code(&self, code: i64) -> Answer {
        logged("validate_error_code", self.error_code(code))
    }

    pub(super) fn error_code(&self, code: i64) -> Answer {
        let policy = self.settings().profile.error_codes();
        let message = match policy.classify(self.revision, code) {
            ErrorCodeClass::ReservedUndefined => {
                format!("{code} is in the range that JSON-RPC reserves")
            }
            ErrorCodeClass::ProtocolUndefined => {
                format!("{} defines no error {code}", self.revision)
            }
            ErrorCodeClass::Retired(_) => format!("{} no longer uses {code}", self.revision),
            ErrorCodeClass::NotPermitted => {
                format!(
                    "the profile `{}` does not allow error code {code}",
                    self.settings().profile
                )
            }
            _ => return Ok(()),
        };
        Err(ValidationError::of(Reason::InvalidErrorCode, message, Details::Code(code)))
    }

    /// Whether the revision (or the profile) has a request called `name`.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownMethod`] with the nearest known name.
    pub fn validate_method_name(&self, name: &str) -> Answer {
        logged("validate_method_name", self.validate_name(name, MethodKind::Request))
    }

    /// Whether the revision (or the profile) has a notification called `name`.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownNotification`] with the nearest known name.
    pub fn validate_notification_name(&self, name: &str) -> Answer {
        let answer = self.validate_name(name, MethodKind::Notification);
        logged("validate_notification_name", answer)
    }

    fn validate_name(&self, name: &str, kind: MethodKind) -> Answer {
        let known =
            || mcp_schema::methods(self.revision).iter().filter(|method| method.kind == kind);
        if self.settings().permits_method(name, kind) || known().any(|method| method.name == name) {
            return Ok(());
        }
        let near = mcp_schema::nearest(name, known().map(|method| method.name));
        let (reason, word, key) = match kind {
            MethodKind::Request => (Reason::UnknownMethod, "request", "method"),
            MethodKind::Notification => {
                (Reason::UnknownNotification, "notification", "notification")
            }
        };
        Err(ValidationError::of(
            reason,
            format!("{} has no {word} `{name}`", self.revision),
            Details::Name { kind: key, given: name.into(), did_you_mean: near },
        ))
    }

    /// Judges the params of a method whose name was already checked.
    pub(super) fn validate_call(
        &self,
        name: &str,
        kind: MethodKind,
        params: Option<&[u8]>,
    ) -> Answer {
        let method = self.method(name).filter(|method| method.kind == kind);
        let Some(params) = params else {
            return match method {
                Some(method) if method.params_required => Err(ValidationError::of(
                    Reason::MissingRequiredFields,
                    format!("`{name}` needs `params`"),
                    Details::Missing(vec!["params".into()]),
                )),
                _ => Ok(()),
            };
        };
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, params)?;
        let root = document.root();
        let structured: &[FieldType] = if self.settings().profile.envelope().positional_params {
            &[FieldType::Object, FieldType::Array]
        } else {
            &[FieldType::Object]
        };
        expect_type("params", root, structured, Reason::InvalidPayloadType)?;
        let Some(method) = method.filter(|_| root.is_object()) else { return Ok(()) };
        if let Some(definition) = method.params {
            self.validate_definition(definition, root)?;
        }
        if self.settings().depth == Depth::Definitions {
            return Ok(());
        }
        self.look_deeper(method, params)
    }

    /// Checks what a schema cannot express about params that match it, such as an invalid URI.
    fn look_deeper(&self, method: &'static Method, params: &[u8]) -> Answer {
        let id = if method.kind == MethodKind::Request { r#""id":0,"# } else { "" };
        let head = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{}","params":"#, method.name);
        let message = [head.as_bytes(), params, b"}"].concat();
        let mut tape = Tape::new();
        let document = self.parse_around(&mut tape, &message)?;
        let root = document.root();
        let mut findings = self.findings_in(root, None);
        // The rest is about the message around the params, which is not the caller's.
        findings.retain(|finding| {
            let inside = finding.span.is_some_and(|span| span.start >= head.len());
            inside && matches!(finding.rule.layer, Layer::Schema | Layer::ToolSchema)
        });
        self.refuse_findings(root, findings)
    }

    /// The definition of a method whose payloads are judged: base JSON-RPC judges none.
    pub(super) fn method(&self, name: &str) -> Option<&'static Method> {
        let only_envelope = self.settings().stops_before(Layer::Schema);
        mcp_schema::method(self.revision, name.as_bytes()).filter(|_| !only_envelope)
    }

    /// Whether a method may have any name.
    pub(super) fn takes_any_name(&self) -> bool {
        self.settings().profile.naming() == Naming::Any
    }
}

pub(super) fn is_error_object(body: Node<'_>) -> bool {
    body.get("code").is_some_and(Node::is_integer)
        && body.get("message").is_some_and(Node::is_string)
}

/// The definition that `result` claims to match.
fn result_definition(method: &Method, result: Node<'_>) -> Option<&'static Definition> {
    let asks = result.get("resultType").is_some_and(|kind| kind.str_eq("input_required"));
    let stand_in = if asks {
        method.input_required
    } else {
        method.task_result.filter(|_| result.get("task").is_some())
    };
    stand_in.or(method.result)
}
