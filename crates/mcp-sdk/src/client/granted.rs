use std::collections::BTreeSet;

use mcp_core::{Json, Meta, ServerCapabilities};
use serde::Deserialize;
use serde_json::Value;

/// The notifications that a server has agreed to send.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Granted {
    /// When the list of tools changes.
    #[serde(rename = "toolsListChanged")]
    pub tools: bool,
    /// When the list of prompts changes.
    #[serde(rename = "promptsListChanged")]
    pub prompts: bool,
    /// When the list of resources changes.
    #[serde(rename = "resourcesListChanged")]
    pub resources: bool,
    /// When one of these resources changes.
    #[serde(rename = "resourceSubscriptions")]
    pub uris: BTreeSet<String>,
}

impl Granted {
    /// The notifications of a server of the handshake era: those it has declared, and updates of
    /// the requested resources.
    pub(super) fn declared(capabilities: Option<&ServerCapabilities>, uris: &[&str]) -> Granted {
        let tells = |declared: Option<&Value>| declared.is_some_and(announces_changes);
        let lists =
            |list: fn(&ServerCapabilities) -> Option<&Value>| tells(capabilities.and_then(list));
        Granted {
            tools: lists(|capabilities| capabilities.tools.as_ref()),
            prompts: lists(|capabilities| capabilities.prompts.as_ref()),
            resources: lists(|capabilities| capabilities.resources.as_ref()),
            uris: uris.iter().map(|&uri| uri.to_owned()).collect(),
        }
    }
}

/// Whether a server that declares this sends a notification when the list changes.
pub(crate) fn announces_changes(declared: &Value) -> bool {
    declared.get("listChanged") == Some(&Value::Bool(true))
}

/// The server's acknowledgement of a subscription.
#[derive(Debug)]
pub(super) struct Acknowledged {
    /// The id of the request that opened it.
    pub(super) subscription: i64,
    pub(super) granted: Granted,
}

impl Acknowledged {
    pub(super) fn read(params: &Json) -> Result<Acknowledged, serde_json::Error> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Meta,
            #[serde(default)]
            notifications: Granted,
        }
        let Params { meta, notifications } = params.read()?;
        // A number returned as a string is a fault that validation reports, but the meaning is
        // clear.
        let id = meta.get(Meta::SUBSCRIPTION_ID);
        let id = id.and_then(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
        let id = id.ok_or_else(|| serde::de::Error::custom("it names no subscription"))?;
        Ok(Acknowledged { subscription: id, granted: notifications })
    }
}
