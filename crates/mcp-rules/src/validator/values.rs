//! Values inside messages: fields, URIs, tool arguments.

use mcp_json::Tape;
use mcp_schema::ToolSchemaError;

use super::{
    Answer, Details, FieldType, Reason, ValidationError, Validator, expect_type, logged, refuse,
};
use crate::{Setting, features::resources};

impl Validator {
    /// Whether `value` (JSON text) is of one of `types`; `field` is only used in the message.
    ///
    /// # Errors
    ///
    /// [`Reason::TypeMismatch`] with the expected and actual types.
    pub fn validate_field_type(&self, field: &str, value: &[u8], types: &[FieldType]) -> Answer {
        let mut tape = Tape::new();
        let answer = self
            .parse(&mut tape, value)
            .and_then(|value| expect_type(field, value.root(), types, Reason::TypeMismatch));
        logged("validate_field_type", answer)
    }

    /// Whether `message` (JSON text of an object) has all of `fields`.
    ///
    /// # Errors
    ///
    /// [`Reason::MissingRequiredFields`] naming the missing ones, or [`Reason::NotMap`] for
    /// anything but an object.
    pub fn validate_required_fields(&self, message: &[u8], fields: &[&str]) -> Answer {
        logged("validate_required_fields", self.required_fields(message, fields))
    }

    fn required_fields(&self, message: &[u8], fields: &[&str]) -> Answer {
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, message)?;
        let root = document.root();
        expect_type("message", root, &[FieldType::Object], Reason::NotMap)?;
        let missing: Vec<String> = fields
            .iter()
            .filter(|field| root.get(field).is_none())
            .map(|field| (*field).to_owned())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("missing: {}", missing.join(", "));
        Err(ValidationError::of(Reason::MissingRequiredFields, message, Details::Missing(missing)))
    }

    /// Whether `arguments` (JSON text) match the tool with this `inputSchema` (JSON text).
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidToolSchema`] if the schema is invalid, otherwise what is wrong with the
    /// arguments.
    pub fn validate_tool_arguments(&self, input_schema: &[u8], arguments: &[u8]) -> Answer {
        logged("validate_tool_arguments", self.tool_arguments(input_schema, arguments))
    }

    fn tool_arguments(&self, input_schema: &[u8], arguments: &[u8]) -> Answer {
        let mut schema_tape = Tape::new();
        let schema = self.parse(&mut schema_tape, input_schema)?;
        let compiled = self.tools.compile(schema.root()).map_err(|error| {
            let message = error.to_string();
            let details = match error {
                ToolSchemaError::Invalid { violations } => Details::Violations(violations),
                _ => Details::None,
            };
            ValidationError::of(Reason::InvalidToolSchema, message, details)
        })?;
        let mut tape = Tape::new();
        let document = self.parse(&mut tape, arguments)?;
        if compiled.accepts(document.root()) {
            return Ok(());
        }
        refuse(compiled.violations(document.root()))
    }

    /// Whether `uri` can name a resource: any absolute URI, or under profile `base-stack` only
    /// `resource://<provider>`, with or without a path.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidUri`] saying what is wrong with it.
    pub fn validate_resource_uri(&self, uri: &str) -> Answer {
        let of_provider = self.settings().rule(&resources::URI_PROVIDER);
        let outcome = match of_provider {
            Some(Setting::On(_)) => mcp_schema::provider_uri(uri),
            _ => mcp_schema::absolute_uri(uri),
        };
        let answer = outcome.map_err(|fault| {
            ValidationError::of(Reason::InvalidUri, fault.to_string(), Details::Uri(fault))
        });
        logged("validate_resource_uri", answer)
    }
}
