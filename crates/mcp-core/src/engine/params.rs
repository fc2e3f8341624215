use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{ClientCapabilities, Error, Implementation, Json, LogLevel, ProgressToken};

/// What the params of the methods a server offers may hold, found in one pass.
///
/// Which of it a method wants, its own code says. Values that are only passed on are not looked
/// into.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    pub(super) meta: Option<RequestMeta<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) uri: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) cursor: Option<Cow<'a, str>>,
    pub(super) level: Option<LogLevel>,
    #[serde(borrow)]
    pub(super) input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) request_state: Option<Cow<'a, str>>,
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
        self.name.as_deref().ok_or_else(|| missing("name"))
    }

    pub(super) fn uri(&self) -> Result<&str, Error> {
        self.uri.as_deref().ok_or_else(|| missing("uri"))
    }
}

pub(super) fn missing(member: &str) -> Error {
    Error::invalid_params(format!("`params.{member}` is missing"))
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
}
