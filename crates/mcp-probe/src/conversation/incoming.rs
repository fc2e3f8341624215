use std::sync::Arc;

use mcp_json::{Limits, Tape};
use serde_json::Value;

/// A message from the server, or text that is not a message.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "probes look at everything")]
pub struct Incoming {
    /// Its line in the recording.
    pub line: u64,
    /// Its kind.
    pub kind: Kind,
    /// The JSON value; null if it is not JSON.
    pub value: Value,
    /// Its id exactly as spelled, if it has one.
    pub id: Option<String>,
    /// The HTTP exchange that carried it.
    pub exchange: Option<u64>,
    /// Its index, if it came in a batch.
    pub index: Option<usize>,
    /// Set if this is not a message but the end of an HTTP exchange: the line of its request.
    pub closes: Option<u64>,
    /// How that exchange ended.
    pub note: String,
}

/// The kind of a text from the server, by its envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has no more")]
pub enum Kind {
    /// A result.
    Result,
    /// An error.
    Error,
    /// A request.
    Request,
    /// A notification.
    Notification,
    /// None of these.
    Other,
}

impl Incoming {
    /// Parses a text: a message, or each entry of a batch.
    pub(crate) fn of(line: u64, text: &[u8], exchange: Option<u64>) -> Vec<Incoming> {
        let other = Incoming {
            line,
            kind: Kind::Other,
            value: Value::Null,
            id: None,
            exchange,
            index: None,
            closes: None,
            note: String::new(),
        };
        let mut tape = Tape::new();
        let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
        let Ok(document) = tape.parse(text, limits) else { return vec![other] };
        let root = document.root();
        let read = |node: mcp_json::Node<'_>, index| {
            let value: Value = serde_json::from_slice(node.raw()).unwrap_or_default();
            let has = |name: &str| value.get(name).is_some();
            let kind = match () {
                () if has("method") && has("id") => Kind::Request,
                () if has("method") => Kind::Notification,
                () if has("result") => Kind::Result,
                () if has("error") => Kind::Error,
                () => Kind::Other,
            };
            let id = node.get("id").map(|id| String::from_utf8_lossy(id.raw()).into_owned());
            Incoming { kind, value, id, index, ..other.clone() }
        };
        if root.is_array() {
            root.elements().enumerate().map(|(index, node)| read(node, Some(index))).collect()
        } else {
            vec![read(root, None)]
        }
    }

    /// Marks the end of the HTTP exchange whose request is on line `closes`.
    pub(crate) fn end_of_exchange(line: u64, closes: u64, note: &str) -> Incoming {
        Incoming {
            line,
            kind: Kind::Other,
            value: Value::Null,
            id: None,
            exchange: None,
            index: None,
            closes: Some(closes),
            note: note.to_owned(),
        }
    }

    /// Its method, if it is a request or a notification.
    pub fn method(&self) -> Option<&str> {
        self.value.get("method")?.as_str()
    }

    /// Whether it answers the request with this id, given as JSON. Other spellings of the same
    /// value match, too.
    pub fn answers(&self, id: &str) -> bool {
        if !matches!(self.kind, Kind::Result | Kind::Error) {
            return false;
        }
        let Some(own) = &self.id else { return false };
        own == id || {
            let read = |text: &str| serde_json::from_str::<Value>(text).ok();
            let (Some(own), Some(id)) = (read(own), read(id)) else { return false };
            // 1.0 is 1; whether it may be written so is another question.
            let as_fraction = |id: &Value| id.as_f64().filter(|_| !id.is_i64() && !id.is_u64());
            match (as_fraction(&own), id.as_f64()) {
                (Some(own), Some(id)) => own.to_bits() == id.to_bits(),
                _ => own == id,
            }
        }
    }
}

/// The answer to a request.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "two things that belong together")]
pub struct Reply {
    /// The message.
    pub message: Arc<Incoming>,
    /// The line of the request.
    pub asked: u64,
}

impl Reply {
    /// The result; `None` for an error.
    pub fn result(&self) -> Option<&Value> {
        self.message.value.get("result").filter(|_| self.message.kind == Kind::Result)
    }

    /// The error code; `None` for a result.
    pub fn error_code(&self) -> Option<i64> {
        self.message.value.pointer("/error/code")?.as_i64()
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.message.kind == Kind::Error
    }

    /// Its line in the recording.
    pub fn line(&self) -> u64 {
        self.message.line
    }

    /// The error in words, for reports.
    pub fn error_text(&self) -> String {
        let code = self.error_code().unwrap_or_default();
        let message = self.message.value.pointer("/error/message").and_then(Value::as_str);
        format!("{code}: {}", message.unwrap_or("no message"))
    }
}
