//! Function by function: one question, one answer.
//!
//! The calls that users of validators know, as thin calls on the same engine. Each takes JSON
//! text, answers `Ok(())` or a [`ValidationError`] with a [`Reason`] to match on, a sentence to
//! show, and typed details.
//!
//! ```
//! use mcp_core::Revision;
//! use mcp_rules::{Reason, Validator, format_validation_error};
//!
//! let validator = Validator::new(Revision::V2025_11_25);
//! validator.validate_request("tools/call", Some(br#"{"name":"echo"}"#))?;
//!
//! let error = validator.validate_method_name("logging/set_level").unwrap_err();
//! assert_eq!(error.reason, Reason::UnknownMethod);
//! assert_eq!(
//!     format_validation_error(&error),
//!     "unknown_method: 2025-11-25 has no request `logging/set_level`; did you mean `logging/setLevel`?"
//! );
//! # Ok::<(), mcp_rules::ValidationError>(())
//! ```

mod error;
mod field_type;
mod reason;

use mcp_core::Revision;
use mcp_json::{Document, Node, SyntaxError, Tape};
use mcp_jsonrpc::Envelope;
use mcp_schema::{
    Definition, ErrorCodeClass, Method, MethodKind, Schemas, ToolSchemaError, ToolSchemas,
    Violation,
};

pub use self::{
    error::{Details, ValidationError, format_validation_error},
    field_type::FieldType,
    reason::Reason,
};
use crate::{Engine, Findings, Profile, Settings, Severity};

/// Answers single questions about messages of one revision.
#[derive(Debug)]
pub struct Validator {
    engine: Engine,
    revision: Revision,
    tools: ToolSchemas,
}

/// What a response brings.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC knows no third outcome")]
pub enum Outcome<'a> {
    /// The JSON text of `result`.
    Result(&'a [u8]),
    /// The JSON text of `error`.
    Error(&'a [u8]),
}

type Answer = Result<(), ValidationError>;

impl Validator {
    /// Judges by `revision`, profile `spec`.
    pub fn new(revision: Revision) -> Validator {
        Validator::with_profile(revision, Profile::Spec)
    }

    /// Judges by `revision` under a profile.
    pub fn with_profile(revision: Revision, profile: Profile) -> Validator {
        let settings = Settings { profile, ..Settings::default() };
        let engine = Engine::new(Schemas::embedded(), settings);
        Validator { engine, revision, tools: ToolSchemas::default() }
    }

    /// Whether `message` is right by itself: JSON, envelope, and the payload of a request or
    /// notification. Warnings are no reason to say no.
    ///
    /// # Errors
    ///
    /// With all findings of severity error; the reason is that of the first.
    pub fn validate_jsonrpc(&self, message: &[u8]) -> Answer {
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, message)?;
        self.judge(document.root())
    }

    /// Whether `method` is a request of the revision and `params` (JSON text) fit it.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownMethod`], or what is wrong with the params.
    pub fn validate_request(&self, method: &str, params: Option<&[u8]>) -> Answer {
        self.validate_method_name(method)?;
        self.validate_call(method, params)
    }

    /// Whether `name` is a notification of the revision and `params` (JSON text) fit it.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownNotification`], or what is wrong with the params.
    pub fn validate_notification(&self, name: &str, params: Option<&[u8]>) -> Answer {
        self.validate_notification_name(name)?;
        self.validate_call(name, params)
    }

    /// Whether a response with this `id` (JSON text) and outcome is right as far as it shows
    /// without its request. [`Validator::validate_result`] also judges what is in the result.
    ///
    /// # Errors
    ///
    /// What is wrong with the id, the result or the error object and its code.
    pub fn validate_response(&self, id: &[u8], outcome: Outcome<'_>) -> Answer {
        let (name, body) = match outcome {
            Outcome::Result(body) => ("result", body),
            Outcome::Error(body) => ("error", body),
        };
        // Each part on its own first, so that none can break out of its place.
        self.parse(&mut Tape::new(), id)?;
        self.parse(&mut Tape::new(), body)?;
        let mut message = br#"{"jsonrpc":"2.0","id":"#.to_vec();
        message.extend_from_slice(id);
        message.extend_from_slice(format!(",\"{name}\":").as_bytes());
        message.extend_from_slice(body);
        message.push(b'}');
        self.validate_jsonrpc(&message)
    }

    /// Whether `result` (JSON text) fits as the answer to `method`: its own result, or what may
    /// stand in for it (a task that was created, a wish for more input).
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownMethod`], or what is wrong with the result.
    pub fn validate_result(&self, method: &str, result: &[u8]) -> Answer {
        self.validate_method_name(method)?;
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, result)?;
        let result = document.root();
        if self.is_base_json_rpc() {
            return Ok(());
        }
        expect_type("result", result, &[FieldType::Object], Reason::InvalidPayloadType)?;
        let method = mcp_schema::method(self.revision, method.as_bytes());
        match method.and_then(|method| result_definition(method, result)) {
            Some(definition) => self.validate_definition(definition, result),
            None => Ok(()),
        }
    }

    /// Whether an error may use `code`.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidErrorCode`] for codes that JSON-RPC or the revision keeps for itself.
    pub fn validate_error_code(&self, code: i64) -> Answer {
        let policy = self.profile().error_codes();
        let message = match policy.classify(self.revision, code) {
            ErrorCodeClass::ReservedUndefined => {
                format!("{code} lies in the range JSON-RPC keeps for itself")
            }
            ErrorCodeClass::ProtocolUndefined => {
                format!("{} defines no error {code}", self.revision)
            }
            ErrorCodeClass::Retired(_) => format!("{} no longer uses {code}", self.revision),
            _ => return Ok(()),
        };
        Err(ValidationError::new(Reason::InvalidErrorCode, message, Details::Code(code)))
    }

    /// Whether the revision (or the profile) has a request called `name`.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownMethod`] with the nearest known name.
    pub fn validate_method_name(&self, name: &str) -> Answer {
        self.validate_name(name, MethodKind::Request, Reason::UnknownMethod, "request")
    }

    /// Whether the revision (or the profile) has a notification called `name`.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownNotification`] with the nearest known name.
    pub fn validate_notification_name(&self, name: &str) -> Answer {
        let reason = Reason::UnknownNotification;
        self.validate_name(name, MethodKind::Notification, reason, "notification")
    }

    /// Whether `value` (JSON text) is of one of `types`; `field` is only for the message.
    ///
    /// # Errors
    ///
    /// [`Reason::TypeMismatch`] saying what it may be and what it is.
    pub fn validate_field_type(&self, field: &str, value: &[u8], types: &[FieldType]) -> Answer {
        let mut tape = Tape::new();
        expect_type(field, self.parse(&mut tape, value)?.root(), types, Reason::TypeMismatch)
    }

    /// Whether `message` (JSON text of an object) has all of `fields`.
    ///
    /// # Errors
    ///
    /// [`Reason::MissingRequiredFields`] naming those that are missing, [`Reason::TypeMismatch`]
    /// for what is no object.
    pub fn validate_required_fields(&self, message: &[u8], fields: &[&str]) -> Answer {
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, message)?;
        let root = document.root();
        expect_type("message", root, &[FieldType::Object], Reason::TypeMismatch)?;
        let missing: Vec<String> = fields
            .iter()
            .filter(|field| root.get(field).is_none())
            .map(|field| (*field).to_owned())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("missing: {}", missing.join(", "));
        Err(ValidationError::new(Reason::MissingRequiredFields, message, Details::Missing(missing)))
    }

    /// Whether `value` (JSON text) is a `message_type`: the params of a method of that name, or an
    /// instance of a definition of that name (`Tool`, `CallToolResult`).
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownType`] with the nearest known name, or what is wrong with the value.
    pub fn validate(&self, message_type: &str, value: &[u8]) -> Answer {
        if let Some(definition) = mcp_schema::definition(self.revision, message_type) {
            let mut tape = Tape::new();
            return self.validate_definition(definition, self.parse(&mut tape, value)?.root());
        }
        let name = message_type.as_bytes();
        if mcp_schema::method(self.revision, name).is_some() || self.profile().knows_method(name) {
            return self.validate_call(message_type, Some(value));
        }
        let methods = mcp_schema::methods(self.revision).iter().map(|method| method.name);
        let definitions =
            mcp_schema::definitions(self.revision).iter().map(|definition| definition.name);
        let near = mcp_schema::nearest(message_type, methods.chain(definitions));
        Err(ValidationError::new(
            Reason::UnknownType,
            format!("{} has no method or definition `{message_type}`", self.revision),
            Details::Name { given: message_type.into(), did_you_mean: near },
        ))
    }

    /// Whether `arguments` (JSON text) fit the tool whose `inputSchema` (JSON text) is given.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidToolSchema`] if the schema is none, else what is wrong with the arguments.
    pub fn validate_tool_arguments(&self, input_schema: &[u8], arguments: &[u8]) -> Answer {
        let mut schema_tape = Tape::new();
        let schema = self.parse(&mut schema_tape, input_schema)?;
        let compiled = self.tools.compile(schema.root()).map_err(|error| {
            let message = error.to_string();
            let details = match error {
                ToolSchemaError::Invalid { violations } => Details::Violations(violations),
                _ => Details::None,
            };
            ValidationError::new(Reason::InvalidToolSchema, message, details)
        })?;
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, arguments)?;
        if compiled.accepts(document.root()) {
            return Ok(());
        }
        refuse(compiled.violations(document.root()))
    }

    /// Whether `uri` can name a resource: any absolute URI, under profile `base-stack` only
    /// `resource://<provider>/…`.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidUri`] saying what is wrong with it.
    pub fn validate_resource_uri(&self, uri: &str) -> Answer {
        let outcome = match self.profile() {
            Profile::BaseStack => mcp_schema::provider_uri(uri),
            _ => mcp_schema::absolute_uri(uri),
        };
        outcome.map_err(|fault| {
            ValidationError::new(Reason::InvalidUri, fault.to_string(), Details::Uri(fault))
        })
    }

    fn parse<'t>(
        &self,
        tape: &'t mut Tape,
        text: &'t [u8],
    ) -> Result<Document<'t>, ValidationError> {
        tape.parse(text, self.engine.settings().limits.json()).map_err(|error: SyntaxError| {
            ValidationError::new(Reason::ParseError, error.to_string(), Details::Syntax(error))
        })
    }

    fn judge(&self, message: Node<'_>) -> Answer {
        let mut session = self.engine.session(Some(self.revision));
        let mut findings = Findings::new(self.engine.settings());
        let followed = self.engine.follow(&mut session, None, message);
        self.engine.judge(message, &followed, &mut findings);
        let mut findings = findings.take();
        findings.retain(|finding| finding.severity == Severity::Error);
        match findings.first() {
            None => Ok(()),
            Some(first) => {
                let entry = first.index.and_then(|index| message.elements().nth(index));
                let reason = Reason::of_finding(first, &Envelope::of(entry.unwrap_or(message)));
                let message = first.message.clone();
                Err(ValidationError::new(reason, message, Details::Findings(findings)))
            }
        }
    }

    fn validate_call(&self, name: &str, params: Option<&[u8]>) -> Answer {
        let method = mcp_schema::method(self.revision, name.as_bytes());
        let method = method.filter(|_| !self.is_base_json_rpc());
        let Some(params) = params else {
            return match method {
                Some(method) if method.params_required => Err(ValidationError::new(
                    Reason::MissingRequiredFields,
                    format!("`{name}` needs `params`"),
                    Details::Missing(vec!["params".into()]),
                )),
                _ => Ok(()),
            };
        };
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, params)?;
        let params = document.root();
        let structured: &[FieldType] = if self.is_base_json_rpc() {
            &[FieldType::Object, FieldType::Array]
        } else {
            &[FieldType::Object]
        };
        expect_type("params", params, structured, Reason::InvalidPayloadType)?;
        match method.and_then(|method| method.params) {
            Some(definition) => self.validate_definition(definition, params),
            None => Ok(()),
        }
    }

    fn validate_definition(&self, definition: &'static Definition, value: Node<'_>) -> Answer {
        if self.engine.schemas().accepts(definition, value) {
            return Ok(());
        }
        refuse(self.engine.schemas().violations(definition, value))
    }

    fn validate_name(&self, name: &str, kind: MethodKind, reason: Reason, word: &str) -> Answer {
        let known =
            || mcp_schema::methods(self.revision).iter().filter(|method| method.kind == kind);
        let permitted = self.is_base_json_rpc() || self.profile().knows_method(name.as_bytes());
        if permitted || known().any(|method| method.name == name) {
            return Ok(());
        }
        let near = mcp_schema::nearest(name, known().map(|method| method.name));
        Err(ValidationError::new(
            reason,
            format!("{} has no {word} `{name}`", self.revision),
            Details::Name { given: name.into(), did_you_mean: near },
        ))
    }

    fn profile(&self) -> Profile {
        self.engine.settings().profile
    }

    /// Whether any method will do, and its payload is nobody's business.
    fn is_base_json_rpc(&self) -> bool {
        self.profile().is_base_json_rpc()
    }
}

/// The definition that `result` claims to be an instance of.
fn result_definition(method: &Method, result: Node<'_>) -> Option<&'static Definition> {
    let asks = result.get("resultType").is_some_and(|kind| kind.str_eq("input_required"));
    let stand_in = if asks {
        method.input_required
    } else {
        method.task_result.filter(|_| result.get("task").is_some())
    };
    stand_in.or(method.result)
}

fn expect_type(name: &str, value: Node<'_>, types: &[FieldType], reason: Reason) -> Answer {
    let actual = FieldType::of(value);
    if types.iter().any(|wanted| wanted.admits(actual)) {
        return Ok(());
    }
    let names: Vec<String> = types.iter().map(ToString::to_string).collect();
    Err(ValidationError::new(
        reason,
        format!("`{name}` must be {}, not {actual}", names.join(" or ")),
        Details::Field { name: name.into(), expected: types.into(), actual },
    ))
}

/// The error that a list of violations amounts to.
fn refuse(violations: Vec<Violation>) -> Answer {
    let Some(first) = violations.first() else {
        return Ok(());
    };
    let reason = Reason::of_keyword(&first.keyword);
    let message = match first.instance_path.as_str() {
        "" => first.message.clone(),
        path => format!("{path}: {}", first.message),
    };
    Err(ValidationError::new(reason, message, Details::Violations(violations)))
}
