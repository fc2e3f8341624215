use std::borrow::Cow;

use mcp_json::{Document, Node, Parsed};
use serde::Deserialize;

use crate::{ClientCapabilities, Error, Implementation, Json, LogLevel, ProgressToken};

/// The members that params of server methods can have, collected in one pass.
///
/// Each method checks the members that it uses; the others may have any value. Values that are only
/// forwarded are not read.
#[derive(Debug, Default)]
pub(super) struct Params<'a> {
    parsed: Option<&'a Parsed>,
    /// Boxed: it is large, and most requests of the handshake era have none.
    pub(super) meta: Option<Box<RequestMeta<'a>>>,
    name: Option<Node<'a>>,
    uri: Option<Node<'a>>,
    arguments: Option<Node<'a>>,
    cursor: Option<Node<'a>>,
    level: Option<Node<'a>>,
    input_responses: Option<Node<'a>>,
    request_state: Option<Node<'a>>,
    notifications: Option<Node<'a>>,
}

/// The maximum length of a progress token in bytes, which is repeated in every report.
const MAX_TOKEN: usize = 4 << 10;

/// The `_meta` of a request.
#[derive(Debug, Default)]
pub(super) struct RequestMeta<'a> {
    pub(super) progress_token: Option<ProgressToken>,
    pub(super) protocol_version: Option<Cow<'a, str>>,
    pub(super) client_capabilities: Option<ClientCapabilities>,
    pub(super) client_info: Option<Implementation>,
    pub(super) log_level: Option<LogLevel>,
}

impl<'a> Params<'a> {
    /// Reads the members of `params`, given with its document.
    pub(super) fn read(
        params: Option<(&'a Parsed, &'a Document<'a>)>,
    ) -> Result<Params<'a>, Error> {
        let Some((parsed, document)) = params else { return Ok(Params::default()) };
        let root = document.root();
        if !root.is_object() {
            return Err(Error::invalid_params("`params` must be an object"));
        }
        let mut read = Params { parsed: Some(parsed), ..Params::default() };
        for (name, value) in root.members() {
            let place = match name.str_bytes().as_deref() {
                Some(b"_meta") => {
                    let meta = (!value.is_null()).then(|| RequestMeta::read(value)).transpose()?;
                    read.meta = meta.map(Box::new);
                    continue;
                }
                Some(b"name") => &mut read.name,
                Some(b"uri") => &mut read.uri,
                Some(b"arguments") => &mut read.arguments,
                Some(b"cursor") => &mut read.cursor,
                Some(b"level") => &mut read.level,
                Some(b"inputResponses") => &mut read.input_responses,
                Some(b"requestState") => &mut read.request_state,
                Some(b"notifications") => &mut read.notifications,
                _ => continue,
            };
            // `null` counts as absent. Of two members with one name the last one wins, as in the
            // rules.
            *place = Some(value).filter(|value| !value.is_null());
        }
        Ok(read)
    }

    pub(super) fn name(&self) -> Result<Cow<'a, str>, Error> {
        text("name", self.name)?.ok_or_else(|| missing("name"))
    }

    pub(super) fn uri(&self) -> Result<Cow<'a, str>, Error> {
        text("uri", self.uri)?.ok_or_else(|| missing("uri"))
    }

    pub(super) fn cursor(&self) -> Result<Option<Cow<'a, str>>, Error> {
        text("cursor", self.cursor)
    }

    pub(super) fn request_state(&self) -> Result<Option<Cow<'a, str>>, Error> {
        text("requestState", self.request_state)
    }

    pub(super) fn level(&self) -> Result<LogLevel, Error> {
        let name = text("level", self.level)?.ok_or_else(|| missing("level"))?;
        let level = LogLevel::deserialize(serde::de::value::StrDeserializer::new(&name));
        level.map_err(|error: serde_json::Error| {
            Error::invalid_params(format!("`params.level` is invalid: {error}"))
        })
    }

    /// The tool, prompt or resource that the request names.
    pub(super) fn subject(&self, method: &str) -> Result<Cow<'a, str>, Error> {
        if method == "resources/read" { self.uri() } else { self.name() }
    }

    /// The arguments of a tool or prompt.
    pub(super) fn arguments(&self) -> Option<Json> {
        self.part(self.arguments)
    }

    pub(super) fn input_responses(&self) -> Option<Json> {
        self.part(self.input_responses)
    }

    pub(super) fn notifications(&self) -> Option<Json> {
        self.part(self.notifications)
    }

    fn part(&self, node: Option<Node<'_>>) -> Option<Json> {
        Some(Json::from(self.parsed?.part(node?)))
    }
}

impl<'a> RequestMeta<'a> {
    fn read(meta: Node<'a>) -> Result<RequestMeta<'a>, Error> {
        if !meta.is_object() {
            return Err(Error::invalid_params("`params._meta` must be an object"));
        }
        let mut read = RequestMeta::default();
        for (name, value) in meta.members() {
            match name.str_bytes().as_deref() {
                Some(b"progressToken") if value.raw().len() > MAX_TOKEN => {
                    let message = format!("a progress token must not exceed {MAX_TOKEN} bytes");
                    return Err(Error::invalid_params(message));
                }
                Some(b"progressToken") => read.progress_token = typed(value)?,
                Some(b"io.modelcontextprotocol/protocolVersion") => {
                    let member = "_meta.io.modelcontextprotocol/protocolVersion";
                    read.protocol_version = text(member, Some(value).filter(|v| !v.is_null()))?;
                }
                Some(b"io.modelcontextprotocol/clientCapabilities") => {
                    read.client_capabilities = typed(value)?;
                }
                Some(b"io.modelcontextprotocol/clientInfo") => read.client_info = typed(value)?,
                Some(b"io.modelcontextprotocol/logLevel") => read.log_level = typed(value)?,
                _ => {}
            }
        }
        Ok(read)
    }
}

fn typed<'a, T: Deserialize<'a>>(value: Node<'a>) -> Result<T, Error> {
    serde_json::from_slice(value.raw())
        .map_err(|error| Error::invalid_params(format!("invalid params: {error}")))
}

fn text<'a>(member: &str, value: Option<Node<'a>>) -> Result<Option<Cow<'a, str>>, Error> {
    let not_text = || Error::invalid_params(format!("`params.{member}` must be a string"));
    value.map(|value| value.as_str().ok_or_else(not_text)).transpose()
}

pub(super) fn missing(member: &str) -> Error {
    Error::invalid_params(format!("`params.{member}` is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn with<R>(json: &str, check: impl FnOnce(Result<Params<'_>, Error>) -> R) -> R {
        let parsed = Json::parse(json.to_owned()).unwrap().to_parsed().unwrap();
        let document = parsed.document();
        check(Params::read(Some((&parsed, &document))))
    }

    #[test]
    fn an_array_is_not_read_as_positional_members() {
        with(r#"[null,"tool"]"#, |read| assert!(read.is_err()));
        with(r#" {"name":"tool"}"#, |read| assert_eq!(read.unwrap().name().unwrap(), "tool"));
    }

    #[test]
    fn unused_members_may_have_any_value() {
        for other in ["7", "-7", "1.5", "true", r#"["x",[1]]"#, r#"{"x":{"y":1}}"#] {
            let params = r#"{"name":"tool","uri":X,"cursor":X,"level":X,"requestState":X}"#;
            with(&params.replace('X', other), |read| {
                let read = read.unwrap();
                assert_eq!(read.name().unwrap(), "tool");
                assert_eq!(read.subject("tools/call").unwrap(), "tool");
                assert!(read.subject("resources/read").is_err());
                assert!(read.uri().is_err() && read.cursor().is_err() && read.level().is_err());
                assert!(read.request_state().is_err());
            });
        }
    }

    #[test]
    fn null_counts_as_absent() {
        let params = r#"{"name":null,"cursor":null,"requestState":null,"_meta":null}"#;
        with(params, |read| {
            let read = read.unwrap();
            assert!(read.name().is_err() && read.meta.is_none());
            assert_eq!((read.cursor().unwrap(), read.request_state().unwrap()), (None, None));
        });
    }

    #[test]
    fn unknown_log_levels_are_rejected() {
        for (level, is_one) in [("warning", true), ("loud", false)] {
            with(&format!(r#"{{"level":"{level}"}}"#), |read| {
                assert_eq!(read.unwrap().level().is_ok(), is_one, "{level}");
            });
        }
    }

    #[test]
    fn request_metadata_is_read() {
        let meta = r#"{"_meta":{"progressToken":7,"other":[],
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{"roots":{}},
            "io.modelcontextprotocol/logLevel":"error"}}"#;
        with(meta, |read| {
            let meta = read.unwrap().meta.unwrap();
            assert_eq!(meta.progress_token, Some(7.into()));
            assert_eq!(meta.protocol_version.as_deref(), Some("2026-07-28"));
            assert!(meta.client_capabilities.is_some() && meta.client_info.is_none());
            assert_eq!(meta.log_level, Some(LogLevel::Error));
        });
        with(r#"{"_meta":{"progressToken":{}}}"#, |read| assert!(read.is_err()));
        for (length, fits) in [(MAX_TOKEN - 2, true), (MAX_TOKEN - 1, false)] {
            let token = "x".repeat(length);
            with(&format!(r#"{{"_meta":{{"progressToken":"{token}"}}}}"#), |read| {
                assert_eq!(read.is_ok(), fits, "{length}");
            });
        }
        with(r#"{"_meta":[]}"#, |read| assert!(read.is_err()));
    }
}
