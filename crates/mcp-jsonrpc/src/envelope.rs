use mcp_json::{Fingerprint, Node, Span};

use crate::{EnvelopeFault, FaultKind, JsonRpcId, id::integer_value};

const JSONRPC: Fingerprint = Fingerprint::of("jsonrpc");
const ID: Fingerprint = Fingerprint::of("id");
const METHOD: Fingerprint = Fingerprint::of("method");
const PARAMS: Fingerprint = Fingerprint::of("params");
const RESULT: Fingerprint = Fingerprint::of("result");
const ERROR: Fingerprint = Fingerprint::of("error");

/// The members of a message object that JSON-RPC defines, found in one pass.
///
/// If a name occurs twice the last one wins, as in almost every parser.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The message itself.
    pub object: Node<'a>,
    /// `jsonrpc`, of any type.
    pub jsonrpc: Option<Node<'a>>,
    /// `id`, of any type.
    pub id: Option<Node<'a>>,
    /// `method`, of any type.
    pub method: Option<Node<'a>>,
    /// `params`, of any type.
    pub params: Option<Node<'a>>,
    /// `result`, of any type.
    pub result: Option<Node<'a>>,
    /// `error`, of any type.
    pub error: Option<Node<'a>>,
}

/// The kind of a message, determined by its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum MessageKind {
    /// `method` and `id`.
    Request,
    /// `method` without `id`.
    Notification,
    /// `result` or `error`, no `method`.
    Response,
}

impl<'a> Envelope<'a> {
    /// The names of the members.
    pub const MEMBERS: [&'static str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

    /// Collects the members of `object`; a value that is not an object has none.
    pub fn of(object: Node<'a>) -> Envelope<'a> {
        let mut envelope = Envelope {
            object,
            jsonrpc: None,
            id: None,
            method: None,
            params: None,
            result: None,
            error: None,
        };
        for (name, value) in object.members() {
            let member = match name.fingerprint() {
                JSONRPC if name.str_eq("jsonrpc") => &mut envelope.jsonrpc,
                ID if name.str_eq("id") => &mut envelope.id,
                METHOD if name.str_eq("method") => &mut envelope.method,
                PARAMS if name.str_eq("params") => &mut envelope.params,
                RESULT if name.str_eq("result") => &mut envelope.result,
                ERROR if name.str_eq("error") => &mut envelope.error,
                _ => continue,
            };
            *member = Some(value);
        }
        envelope
    }

    /// The kind of the message; `None` if its members are contradictory or insufficient.
    pub fn kind(&self) -> Option<MessageKind> {
        match (self.method, self.result.or(self.error)) {
            (Some(_), Some(_)) | (None, None) => None,
            (Some(_), None) if self.id.is_some() => Some(MessageKind::Request),
            (Some(_), None) => Some(MessageKind::Notification),
            (None, Some(_)) => Some(MessageKind::Response),
        }
    }

    /// The id, if it is readable, even if the message is otherwise invalid: the error response needs
    /// it.
    pub fn readable_id(&self) -> Option<JsonRpcId> {
        JsonRpcId::read(self.id?)
    }

    /// The value of `error.code`, if it is an integer.
    pub fn error_code(&self) -> Option<i64> {
        integer_value(self.error?.get("code")?)
    }

    /// Whether it has no [`faults`](Envelope::faults).
    pub fn is_valid(&self) -> bool {
        let mut valid = true;
        self.check(|_, _| valid = false);
        valid
    }

    /// All violations of JSON-RPC 2.0 in this envelope.
    pub fn faults(&self) -> Vec<EnvelopeFault> {
        let mut faults = Vec::new();
        self.check(|kind, span| faults.push(EnvelopeFault { kind, span }));
        faults
    }

    fn check(&self, mut report: impl FnMut(FaultKind, Span)) {
        let whole = self.object.span();
        if !self.object.is_object() {
            return report(FaultKind::NotObject, whole);
        }
        match self.jsonrpc {
            None => report(FaultKind::VersionMissing, whole),
            Some(version) if !version.str_eq("2.0") => {
                report(FaultKind::VersionInvalid, version.span());
            }
            Some(_) => {}
        }
        if let Some(id) = self.id
            && !(id.is_string() || id.is_number() || id.is_null())
        {
            report(FaultKind::IdInvalid, id.span());
        }
        match self.kind() {
            None => {
                report(
                    match self.method {
                        Some(_) => FaultKind::MethodWithOutcome,
                        None => FaultKind::Unclassifiable,
                    },
                    whole,
                );
                self.check_call(report);
            }
            Some(MessageKind::Request | MessageKind::Notification) => self.check_call(report),
            Some(MessageKind::Response) => self.check_response(report),
        }
    }

    fn check_call(&self, mut report: impl FnMut(FaultKind, Span)) {
        if let Some(method) = self.method {
            if !method.is_string() {
                report(FaultKind::MethodNotString, method.span());
            } else if method.str_eq("") {
                report(FaultKind::MethodEmpty, method.span());
            }
        }
        if let Some(params) = self.params
            && !(params.is_object() || params.is_array())
        {
            report(FaultKind::ParamsNotStructured, params.span());
        }
    }

    fn check_response(&self, mut report: impl FnMut(FaultKind, Span)) {
        let whole = self.object.span();
        if self.id.is_none() {
            report(FaultKind::ResponseWithoutId, whole);
        }
        if self.result.is_some() && self.error.is_some() {
            report(FaultKind::ResultAndError, whole);
        }
        if let Some(error) = self.error {
            check_error(error, report);
        }
    }
}

/// Reports the violations in an error object.
pub(crate) fn check_error(error: Node<'_>, mut report: impl FnMut(FaultKind, Span)) {
    if !error.is_object() {
        return report(FaultKind::ErrorNotObject, error.span());
    }
    match error.get("code") {
        None => report(FaultKind::ErrorCodeMissing, error.span()),
        Some(code) if !code.is_integer() => report(FaultKind::ErrorCodeNotInteger, code.span()),
        Some(_) => {}
    }
    match error.get("message") {
        None => report(FaultKind::ErrorMessageMissing, error.span()),
        Some(message) if !message.is_string() => {
            report(FaultKind::ErrorMessageNotString, message.span());
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[track_caller]
    fn check(json: &str, kind: Option<MessageKind>, faults: &[(FaultKind, &str)]) {
        let mut tape = Tape::new();
        let document = tape.parse(json.as_bytes(), Limits::default()).unwrap();
        let envelope = Envelope::of(document.root());
        assert_eq!(envelope.is_valid(), faults.is_empty(), "{json}");
        assert_eq!(envelope.kind(), kind);
        let found: Vec<_> = envelope
            .faults()
            .into_iter()
            .map(|fault| (fault.kind, &json[fault.span.start..fault.span.end]))
            .collect();
        assert_eq!(found, faults);
    }

    #[test]
    fn valid_messages_have_no_faults() {
        use MessageKind::{Notification, Request, Response};
        for (json, kind) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Request),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x","params":[]}"#, Request),
            (r#"{"jsonrpc":"2.0","id":"","method":"x","params":{}}"#, Request),
            (r#"{"jsonrpc":"2.0","method":"x"}"#, Notification),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Response),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#, Response),
            (r#"{"\u006asonrpc":"2.\u0030","id":1.5,"result":{}}"#, Response),
        ] {
            check(json, Some(kind), &[]);
        }
    }

    #[test]
    fn each_fault_has_its_span() {
        use FaultKind as F;
        use MessageKind::{Notification, Request, Response};
        check("[1]", None, &[(F::NotObject, "[1]")]);
        check(
            r#"{"id":1,"method":"x"}"#,
            Some(Request),
            &[(F::VersionMissing, r#"{"id":1,"method":"x"}"#)],
        );
        check(r#"{"jsonrpc":2.0,"method":"x"}"#, Some(Notification), &[(F::VersionInvalid, "2.0")]);
        check(
            r#"{"jsonrpc":"2.0","id":1}"#,
            None,
            &[(F::Unclassifiable, r#"{"jsonrpc":"2.0","id":1}"#)],
        );
        let both = r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#;
        check(both, None, &[(F::MethodWithOutcome, both)]);
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":3}"#,
            Some(Request),
            &[(F::MethodNotString, "3")],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":""}"#,
            Some(Request),
            &[(F::MethodEmpty, "\"\"")],
        );
        check(
            r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#,
            Some(Request),
            &[(F::IdInvalid, "true")],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#,
            Some(Request),
            &[(F::ParamsNotStructured, "null")],
        );
        let no_id = r#"{"jsonrpc":"2.0","result":{}}"#;
        check(no_id, Some(Response), &[(F::ResponseWithoutId, no_id)]);
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
            Some(Response),
            &[(F::ErrorNotObject, "\"no\"")],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
            Some(Response),
            &[(F::ErrorCodeMissing, "{}"), (F::ErrorMessageMissing, "{}")],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":7}}"#,
            Some(Response),
            &[(F::ErrorCodeNotInteger, "1.5"), (F::ErrorMessageNotString, "7")],
        );
        let two = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#;
        check(two, Some(Response), &[(F::ResultAndError, two)]);
    }

    #[test]
    fn an_invalid_message_still_has_its_id() {
        let mut tape = Tape::new();
        let document = tape.parse(br#"{"id":"a-1","method":7}"#, Limits::default()).unwrap();
        assert_eq!(
            Envelope::of(document.root()).readable_id(),
            Some(JsonRpcId::String("a-1".into()))
        );
    }
}
