//! Whole messages.

use mcp_core::Side;
use mcp_json::{Node, Span, SyntaxError, Tape};
use mcp_jsonrpc::{Envelope, ErrorCode, MessageKind};

use super::{Answer, MessageReport, Validator, logged};
use crate::{
    Carrier, Finding, Findings, Severity,
    wire::{json, jsonrpc},
};

/// What the caller expects a message to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Message,
    /// With or without an `id`: in JSON-RPC 2.0 a notification is a request too.
    Call,
    Request,
    Notification,
    Response,
    Batch,
}

impl Expected {
    const fn name(self) -> &'static str {
        match self {
            Expected::Message => "a message",
            Expected::Call => "a request or a notification",
            Expected::Request => "a request",
            Expected::Notification => "a notification",
            Expected::Response => "a response",
            Expected::Batch => "a batch, which is an array",
        }
    }

    /// Whether `message` is something else. Unclassifiable messages are reported as such.
    fn differs_from(self, message: Node<'_>) -> bool {
        if self == Expected::Message {
            return false;
        }
        if message.is_array() || self == Expected::Batch {
            return message.is_array() != (self == Expected::Batch);
        }
        match Envelope::of(message).kind() {
            None => false,
            Some(MessageKind::Request) => !matches!(self, Expected::Call | Expected::Request),
            Some(MessageKind::Notification) => {
                !matches!(self, Expected::Call | Expected::Notification)
            }
            Some(MessageKind::Response) => self != Expected::Response,
        }
    }
}

impl Validator {
    /// Whether `message` is valid by itself: JSON, envelope, and the payload of a request or
    /// notification. Warnings do not make it invalid. A batch is judged where the revision or the
    /// profile has batches.
    ///
    /// # Errors
    ///
    /// With all findings of severity error; the reason is that of the first.
    pub fn validate_jsonrpc(&self, message: &[u8]) -> Answer {
        let mut tape = Tape::new();
        let answer =
            self.parse(&mut tape, message).and_then(|document| self.judge(document.root()));
        logged("validate_jsonrpc", answer)
    }

    /// Returns every fault of a whole message.
    pub fn validate_message(&self, message: &[u8]) -> MessageReport {
        self.report("validate_message", message, Expected::Message)
    }

    /// Returns every fault of a whole request or notification. [`Validator::validate_request`]
    /// takes its parts.
    ///
    /// ```
    /// use mcp_core::Revision;
    /// use mcp_rules::{Profile, Validator};
    ///
    /// let validator = Validator::with_profile(Revision::V2025_11_25, Profile::BaseStack);
    /// let message = br#"{"jsonrpc":"1.0","method":"","id":2,"params":7}"#;
    /// let report = validator.validate_request_message(message);
    /// assert!(!report.valid);
    /// assert_eq!(report.errors.len(), 3);
    /// ```
    pub fn validate_request_message(&self, message: &[u8]) -> MessageReport {
        self.report("validate_request_message", message, Expected::Call)
    }

    /// Returns every fault of a whole response, judged without its request.
    /// [`Validator::validate_response`] takes its parts.
    pub fn validate_response_message(&self, message: &[u8]) -> MessageReport {
        self.report("validate_response_message", message, Expected::Response)
    }

    /// Returns every fault of a batch; those of its entries have their index.
    pub fn validate_batch(&self, message: &[u8]) -> MessageReport {
        self.report("validate_batch", message, Expected::Batch)
    }

    fn report(&self, call: &'static str, message: &[u8], expected: Expected) -> MessageReport {
        let mut tape = Tape::new();
        let report = match tape.parse(message, self.settings().limits.json()) {
            Ok(document) => MessageReport::of(self.findings_as(document.root(), expected, None)),
            Err(error) => MessageReport::unreadable(self.unreadable(message, &error)),
        };
        for error in &report.errors {
            let fault = error.schema.as_ref();
            tracing::debug!(
                target: "mcp_rules::validator",
                call,
                rule = error.rule.name,
                pointer = error.pointer,
                schema_path = fault.map(|fault| fault.schema_path.as_str()),
                keyword = fault.map(|fault| fault.keyword.as_str()),
                "refused"
            );
        }
        report
    }

    fn unreadable(&self, text: &[u8], error: &SyntaxError) -> Vec<Finding> {
        let mut session = self.engine.session(Some(self.revision));
        let mut findings = Findings::new(self.settings());
        let carrier = Carrier::WebSocket; // Whole messages, as given here.
        self.engine.judge_unreadable(carrier, &mut session, None, text, error, &mut findings);
        let mut findings = findings.take();
        if findings.is_empty() {
            let rule = &json::MESSAGE_NOT_JSON;
            findings.push(Finding::new(rule, Severity::Error, error.to_string()));
        }
        for finding in &mut findings {
            finding.severity = Severity::Error;
        }
        findings
    }

    /// The findings in `message`, including that it is not what was expected.
    pub(super) fn findings_as(
        &self,
        message: Node<'_>,
        expected: Expected,
        from: Option<Side>,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        if expected.differs_from(message) {
            findings.push(self.not_what_was_expected(expected.name(), message));
        }
        findings.extend(self.findings_in(message, from));
        findings
    }

    /// An error whatever the level of the rule: the caller asked for this.
    pub(super) fn not_what_was_expected(&self, expected: &str, message: Node<'_>) -> Finding {
        let sentence = format!("this is not {expected}");
        let mut finding = Finding::new(&jsonrpc::UNCLASSIFIABLE, Severity::Error, sentence);
        finding.revision = Some(self.revision);
        finding.code = Some(ErrorCode::InvalidRequest.code());
        finding.span = Some(Span { start: 0, end: message.raw().len() });
        finding.pointer = Some(String::new());
        finding
    }
}
