use std::fmt;

use mcp_jsonrpc::{Envelope, MessageKind};

use crate::{Finding, Settings};

/// Why something was rejected, as a word that programs can match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Not JSON.
    ParseError,
    /// JSON, but not an object.
    NotMap,
    /// An object, but not a message: an empty batch, contradicting members.
    InvalidMessage,
    /// `jsonrpc` is not `"2.0"`.
    InvalidJsonrpcVersion,
    /// There is neither `method` nor an outcome.
    MissingMethod,
    /// `method` is not a non-empty string.
    InvalidMethod,
    /// `id` is missing where required, present where it must not be, or of a wrong type.
    InvalidId,
    /// `params` or `result` is not an object.
    InvalidPayloadType,
    /// `error` is not an object with an integer `code` and a string `message`.
    InvalidError,
    /// The revision has no such request.
    UnknownMethod,
    /// The revision has no such notification.
    UnknownNotification,
    /// There is neither a method nor a definition with that name.
    UnknownType,
    /// The code is in a reserved range.
    InvalidErrorCode,
    /// A value has a type other than its schema says.
    TypeMismatch,
    /// Members are missing.
    MissingRequiredFields,
    /// A payload violates its schema in another way.
    SchemaViolation,
    /// A tool's schema is not a valid schema, or cannot be used.
    InvalidToolSchema,
    /// A resource URI is not valid.
    InvalidUri,
}

impl Reason {
    /// The word, in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::ParseError => "parse_error",
            Reason::NotMap => "not_map",
            Reason::InvalidMessage => "invalid_message",
            Reason::InvalidJsonrpcVersion => "invalid_jsonrpc_version",
            Reason::MissingMethod => "missing_method",
            Reason::InvalidMethod => "invalid_method",
            Reason::InvalidId => "invalid_id",
            Reason::InvalidPayloadType => "invalid_payload_type",
            Reason::InvalidError => "invalid_error",
            Reason::UnknownMethod => "unknown_method",
            Reason::UnknownNotification => "unknown_notification",
            Reason::UnknownType => "unknown_type",
            Reason::InvalidErrorCode => "invalid_error_code",
            Reason::TypeMismatch => "type_mismatch",
            Reason::MissingRequiredFields => "missing_required_fields",
            Reason::SchemaViolation => "schema_violation",
            Reason::InvalidToolSchema => "invalid_tool_schema",
            Reason::InvalidUri => "invalid_uri",
        }
    }

    /// The reason that a finding in a message with this envelope maps to.
    pub(super) fn of_finding(
        finding: &Finding,
        envelope: &Envelope<'_>,
        settings: &Settings,
    ) -> Reason {
        let lacks_method =
            envelope.method.is_none() && envelope.kind().is_none() && envelope.object.is_object();
        let is_notification = envelope.kind() == Some(MessageKind::Notification);
        // Where names are a closed list, a name of the other kind is unknown.
        let closed = settings.has_closed_names();
        match finding.rule.name {
            "message-not-object" | "batch-not-supported" => Reason::NotMap,
            "request-missing-id" if closed => Reason::UnknownNotification,
            "notification-with-id" if closed => Reason::UnknownMethod,
            "jsonrpc-version-invalid" => Reason::InvalidJsonrpcVersion,
            "message-unclassifiable" if lacks_method => Reason::MissingMethod,
            "method-not-string" | "method-empty" => Reason::InvalidMethod,
            "request-id-null"
            | "request-id-type"
            | "request-missing-id"
            | "notification-with-id"
            | "result-missing-id"
            | "error-missing-id" => Reason::InvalidId,
            "params-not-object" | "result-not-object" => Reason::InvalidPayloadType,
            "error-object-invalid" | "error-code-not-integer" => Reason::InvalidError,
            "error-code-not-permitted"
            | "error-code-undefined"
            | "error-code-retired"
            | "error-code-reserved" => Reason::InvalidErrorCode,
            "resource-uri-invalid" | "resource-uri-provider" => Reason::InvalidUri,
            "method-not-in-revision" | "method-unknown" if is_notification => {
                Reason::UnknownNotification
            }
            "method-not-in-revision" | "method-unknown" => Reason::UnknownMethod,
            _ => match &finding.schema {
                Some(fault) => Reason::of_keyword(&fault.keyword),
                None => Reason::InvalidMessage,
            },
        }
    }

    /// The reason that a violation of a schema's `keyword` maps to.
    pub(super) fn of_keyword(keyword: &str) -> Reason {
        match keyword {
            "type" => Reason::TypeMismatch,
            "required" => Reason::MissingRequiredFields,
            _ => Reason::SchemaViolation,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
