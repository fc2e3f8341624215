//! Responses, which return the id exactly as it came.

use serde_json::{Value, json};

use crate::{faults::Fault, outbox::Outbox, server::Faults};

/// Responds to a request. Without an id nothing is sent.
#[derive(Clone)]
pub(crate) struct Reply {
    faults: Faults,
    outbox: Outbox,
    id: Option<String>,
}

/// An error response.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Failure {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }
}

impl Reply {
    pub(crate) fn new(faults: Faults, outbox: Outbox, id: &str) -> Self {
        let dropped = (faults.has(Fault::IdZeroDropped) && id == "0")
            || (faults.has(Fault::IdEmptyDropped) && id == "\"\"");
        Self { faults, outbox, id: (!dropped).then(|| changed(faults, id)) }
    }

    /// A response that names no request, with `id` in place of an id.
    pub(crate) fn anonymous(faults: Faults, outbox: Outbox, id: Option<&str>) -> Self {
        Self { faults, outbox, id: Some(id.unwrap_or_default().to_owned()) }
    }

    pub(crate) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or("null")
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub(crate) fn send(&self, outcome: Result<Value, Failure>) {
        match outcome {
            Ok(result) => self.succeed(&result),
            Err(failure) => self.fail(&failure),
        }
    }

    pub(crate) fn succeed(&self, result: &Value) {
        let Some(id) = &self.id else { return };
        let id = if id.is_empty() { "null" } else { id };
        self.outbox.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    pub(crate) fn fail(&self, failure: &Failure) {
        let Some(id) = &self.id else { return };
        let mut error = json!({"code": failure.code, "message": failure.message});
        if let Some(data) = &failure.data {
            error["data"] = data.clone();
        }
        if self.faults.has(Fault::ErrorWithoutMessage) {
            error = json!({"code": failure.code});
        }
        if self.faults.has(Fault::ErrorCodeString) {
            error["code"] = json!(failure.code.to_string());
        }
        if self.faults.has(Fault::ErrorLeaksPassword) {
            error["data"] =
                json!("no answer from postgres://weather:Xu7-quay-lamp@db.internal/notes");
        }
        if self.faults.has(Fault::ErrorLeaksTrace) {
            error["data"] = json!(TRACE);
        }
        let version = if self.faults.has(Fault::EnvelopeVersionWrong) { "1.0" } else { "2.0" };
        let beside = if self.faults.has(Fault::ResultAndError) { r#","result":{}"# } else { "" };
        self.outbox.send(if self.faults.has(Fault::ErrorIdMissing) || id.is_empty() {
            format!(r#"{{"jsonrpc":"{version}","error":{error}}}"#)
        } else {
            format!(r#"{{"jsonrpc":"{version}","id":{id},"error":{error}{beside}}}"#)
        });
    }
}

/// A stack trace as printed for an uncaught exception.
pub(crate) const TRACE: &str = "Traceback (most recent call last):\n  File \"/srv/app/server.py\", line 214, in dispatch\n    \
                                handler = HANDLERS[method]\nKeyError: 'method'";

/// The id as changed by the fault.
fn changed(faults: Faults, id: &str) -> String {
    let Some(fault) = faults.0 else { return id.to_owned() };
    let string = serde_json::from_str::<String>(id).ok();
    let mapped = |text: String| Value::String(text).to_string();
    match (fault, string) {
        (Fault::IdNumberBecomesString, None) if id.len() > 1 => format!("\"{id}\""),
        (Fault::IdNegativeSignLost, None) => id.trim_start_matches('-').to_owned(),
        (Fault::IdBigRounded, None) => {
            id.parse::<f64>().map_or_else(|_| id.to_owned(), |number| format!("{number:.0}"))
        }
        (Fault::IdStringBecomesNumber, Some(text)) if text.parse::<i64>().is_ok() => text,
        (Fault::IdUnicodeMangled, Some(text)) => mapped(
            text.chars().map(|letter| if letter.is_ascii() { letter } else { '?' }).collect(),
        ),
        (Fault::IdLongCut, Some(text)) => mapped(text.chars().take(64).collect()),
        (Fault::IdCaseChanged, Some(text)) => mapped(text.to_lowercase()),
        _ => id.to_owned(),
    }
}
