//! Parses incoming messages.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

/// A message, or the reason why it is invalid.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request(Request),
    Notification {
        method: String,
        params: Option<Value>,
    },
    Response,
    Batch(Vec<String>),
    NotJson,
    /// JSON that is not a valid message, with its id if usable.
    Invalid {
        id: Option<String>,
        why: &'static str,
    },
}

/// A request. The id keeps its spelling.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) params: Option<Value>,
}

/// Invalid input that a faulty server accepts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lenience {
    pub(crate) any_version: bool,
    pub(crate) null_id: bool,
}

impl Incoming {
    pub(crate) fn read(text: &str, lenience: Lenience) -> Self {
        if text.trim_start().starts_with('[') {
            return match serde_json::from_str::<Vec<Box<RawValue>>>(text) {
                Ok(entries) => {
                    Self::Batch(entries.iter().map(|entry| entry.get().to_owned()).collect())
                }
                Err(_) => Self::NotJson,
            };
        }
        let Ok(members) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text) else {
            return match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => Self::Invalid { id: None, why: "a message is an object" },
                Err(_) => Self::NotJson,
            };
        };
        Self::from_members(&members, lenience)
    }

    fn from_members(members: &BTreeMap<String, Box<RawValue>>, lenience: Lenience) -> Self {
        let raw = |name: &str| members.get(name).map(|value| value.get());
        let id = raw("id");
        let usable =
            id.filter(|id| is_id(id) || (lenience.null_id && *id == "null")).map(str::to_owned);
        let invalid = |why| Self::Invalid { id: usable.clone(), why };
        if !lenience.any_version && raw("jsonrpc") != Some("\"2.0\"") {
            return invalid("jsonrpc must be \"2.0\"");
        }
        let Some(method) = raw("method") else {
            return if raw("result").is_some() || raw("error").is_some() {
                Self::Response
            } else {
                invalid("neither a method nor a result nor an error")
            };
        };
        let Ok(method) = serde_json::from_str::<String>(method) else {
            return invalid("the method must be a string");
        };
        if raw("result").is_some() || raw("error").is_some() {
            return invalid("a request has no result and no error");
        }
        let params = match raw("params").map(serde_json::from_str::<Value>) {
            None => None,
            Some(Ok(params @ Value::Object(_))) => Some(params),
            Some(_) => return invalid("params must be an object"),
        };
        match (id, usable) {
            (None, _) => Self::Notification { method, params },
            (Some(_), Some(id)) => Self::Request(Request { id, method, params }),
            (Some(_), None) => Self::Invalid { id: None, why: "an id is a string or an integer" },
        }
    }
}

/// A string that can be read, or an integer.
fn is_id(raw: &str) -> bool {
    if raw.starts_with('"') {
        return serde_json::from_str::<String>(raw).is_ok();
    }
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Incoming {
        Incoming::read(text, Lenience::default())
    }

    #[test]
    fn ids_stay_as_they_were_spelled() {
        for id in [
            "0",
            "-1",
            "9007199254740993",
            "123456789012345678901234567890",
            r#""\u00e9""#,
            r#""""#,
        ] {
            let message = read(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
            assert!(matches!(message, Incoming::Request(request) if request.id == id), "{id}");
        }
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        assert!(matches!(read("{"), Incoming::NotJson));
        assert!(matches!(read("[1,"), Incoming::NotJson));
        assert!(matches!(read("7"), Incoming::Invalid { id: None, .. }));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            Incoming::Invalid { id: None, .. }
        ));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#),
            Incoming::Invalid { id: None, .. }
        ));
        assert!(
            matches!(read(r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#), Incoming::Invalid { id: Some(id), .. } if id == "4")
        );
    }
}
