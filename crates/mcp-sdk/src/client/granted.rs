use std::collections::BTreeSet;

use mcp_core::{Json, Meta, ServerCapabilities};
use serde::Deserialize;
use serde_json::Value;

/// What a server has agreed to tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Granted {
    /// That the list of tools has changed.
    #[serde(rename = "toolsListChanged")]
    pub tools: bool,
    /// That the list of prompts has changed.
    #[serde(rename = "promptsListChanged")]
    pub prompts: bool,
    /// That the list of resources has changed.
    #[serde(rename = "resourcesListChanged")]
    pub resources: bool,
    /// That one of these resources has changed.
    #[serde(rename = "resourceSubscriptions")]
    pub uris: BTreeSet<String>,
}

impl Granted {
    /// What a server of the handshake era tells: what it has declared, without being asked, and
    /// about the resources it was asked for.
    pub(super) fn declared(capabilities: Option<&ServerCapabilities>, uris: &[&str]) -> Granted {
        let tells = |declared: Option<&Value>| declared.is_some_and(tells_changes);
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

/// Whether a server that declares this about a list tells when the list changes.
pub(crate) fn tells_changes(declared: &Value) -> bool {
    declared.get("listChanged") == Some(&Value::Bool(true))
}

/// The first word of a server about a subscription.
#[derive(Debug)]
pub(super) struct Acknowledged {
    /// The request that has opened it.
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
        // A number that came back as text is a mistake that validation tells; it is clear all the same.
        let id = meta.get(Meta::SUBSCRIPTION_ID);
        let id = id.and_then(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
        let id = id.ok_or_else(|| serde::de::Error::custom("it names no subscription"))?;
        Ok(Acknowledged { subscription: id, granted: notifications })
    }
}
