use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{ClientCapabilities, Error, Implementation, Json, LogLevel, ProgressToken};

/// What the params of the methods a server offers may hold, found in one pass.
///
/// Which of it a method wants, its own code says; what it does not want may be anything. Values that
/// are only passed on are not looked into.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    pub(super) meta: Option<RequestMeta<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    uri: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    cursor: Option<Text<'a>>,
    #[serde(borrow)]
    level: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    request_state: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) notifications: Option<&'a RawValue>,
}

/// What a request says about itself and its sender.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RequestMeta<'a> {
    #[serde(rename = "progressToken")]
    pub(super) progress_token: Option<ProgressToken>,
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(super) protocol_version: Option<Cow<'a, str>>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(super) client_capabilities: Option<ClientCapabilities>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    pub(super) client_info: Option<Implementation>,
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    pub(super) log_level: Option<LogLevel>,
}

impl<'a> Params<'a> {
    pub(super) fn read(params: Option<&'a Json>) -> Result<Params<'a>, Error> {
        match params {
            None => Ok(Params::default()),
            // A list would be read as the members in their order here.
            Some(params) if !params.is_object() => {
                Err(Error::invalid_params("`params` has to be an object"))
            }
            Some(params) => params
                .read()
                .map_err(|error| Error::invalid_params(format!("params do not fit: {error}"))),
        }
    }

    pub(super) fn name(&self) -> Result<&str, Error> {
        text("name", self.name.as_ref())?.ok_or_else(|| missing("name"))
    }

    pub(super) fn uri(&self) -> Result<&str, Error> {
        text("uri", self.uri.as_ref())?.ok_or_else(|| missing("uri"))
    }

    pub(super) fn cursor(&self) -> Result<Option<&str>, Error> {
        text("cursor", self.cursor.as_ref())
    }

    pub(super) fn request_state(&self) -> Result<Option<&str>, Error> {
        text("requestState", self.request_state.as_ref())
    }

    pub(super) fn level(&self) -> Result<LogLevel, Error> {
        let name = text("level", self.level.as_ref())?.ok_or_else(|| missing("level"))?;
        let level = LogLevel::deserialize(serde::de::value::StrDeserializer::new(name));
        level.map_err(|error: serde_json::Error| {
            Error::invalid_params(format!("`params.level` does not fit: {error}"))
        })
    }

    /// The tool, prompt or resource that `method` is about.
    pub(super) fn subject(&self, method: &str) -> Result<&str, Error> {
        if method == "resources/read" { self.uri() } else { self.name() }
    }
}

fn text<'p>(member: &str, text: Option<&'p Text<'_>>) -> Result<Option<&'p str>, Error> {
    let not_text = || Error::invalid_params(format!("`params.{member}` has to be a string"));
    text.map(|text| text.as_str().ok_or_else(not_text)).transpose()
}

pub(super) fn missing(member: &str) -> Error {
    Error::invalid_params(format!("`params.{member}` is missing"))
}

/// A string, or something else of which nothing is kept.
#[derive(Debug)]
enum Text<'a> {
    Is(Cow<'a, str>),
    IsNot,
}

impl Text<'_> {
    fn as_str(&self) -> Option<&str> {
        match self {
            Text::Is(text) => Some(text),
            Text::IsNot => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text::Is(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text::Is(text.to_owned().into()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text<'de>, E> {
        Ok(Text::IsNot)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text<'de>, E> {
        Ok(Text::IsNot)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text<'de>, E> {
        Ok(Text::IsNot)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text<'de>, E> {
        Ok(Text::IsNot)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Text<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text::IsNot)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Text<'de>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::IsNot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_not_taken_for_members_in_their_order() {
        let list = Json::parse(r#"[null,"tool"]"#).unwrap();
        assert!(Params::read(Some(&list)).is_err());
        let object = Json::parse(r#" {"name":"tool"}"#).unwrap();
        assert_eq!(Params::read(Some(&object)).unwrap().name().unwrap(), "tool");
    }

    #[test]
    fn what_nobody_asks_for_may_be_anything() {
        for other in ["7", "-7", "1.5", "true", r#"["x",[1]]"#, r#"{"x":{"y":1}}"#] {
            let params = r#"{"name":"tool","uri":X,"cursor":X,"level":X,"requestState":X}"#;
            let params = Json::parse(params.replace('X', other)).unwrap();
            let read = Params::read(Some(&params)).unwrap();
            assert_eq!(read.name().unwrap(), "tool");
            assert_eq!(read.subject("tools/call").unwrap(), "tool");
            assert!(read.subject("resources/read").is_err());
            assert!(read.uri().is_err() && read.cursor().is_err() && read.level().is_err());
            assert!(read.request_state().is_err());
        }
    }

    #[test]
    fn what_is_null_is_not_there() {
        let params = Json::parse(r#"{"name":null,"cursor":null,"requestState":null}"#).unwrap();
        let read = Params::read(Some(&params)).unwrap();
        assert!(read.name().is_err());
        assert_eq!((read.cursor().unwrap(), read.request_state().unwrap()), (None, None));
    }

    #[test]
    fn levels_have_names() {
        for (level, is_one) in [("warning", true), ("loud", false)] {
            let params = Json::parse(format!(r#"{{"level":"{level}"}}"#)).unwrap();
            assert_eq!(Params::read(Some(&params)).unwrap().level().is_ok(), is_one, "{level}");
        }
    }
}
