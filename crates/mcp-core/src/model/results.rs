//! Results of `initialize`, `server/discover` and the list methods.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use super::{Implementation, Meta, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use crate::Json;

/// The result of `initialize`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct InitializeResult {
    pub protocol_version: String,
    #[serde(default)]
    pub capabilities: ServerCapabilities,
    pub server_info: Implementation,
    pub instructions: Option<String>,
    #[serde(rename = "_meta")]
    pub meta: Option<Meta>,
}

/// The result of `server/discover`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct DiscoverResult {
    pub supported_versions: Vec<String>,
    #[serde(default)]
    pub capabilities: ServerCapabilities,
    pub instructions: Option<String>,
    pub ttl_ms: Option<u64>,
    pub cache_scope: Option<String>,
    #[serde(rename = "_meta")]
    pub meta: Option<Meta>,
}

/// Deserializes the entries of a list; an invalid entry does not hide the others.
#[derive(Debug, Clone, PartialEq)]
struct Entries<T> {
    readable: Vec<T>,
    unreadable: Vec<Json>,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::<Json>::deserialize(deserializer)?;
        let mut readable = Vec::with_capacity(entries.len());
        let mut unreadable = Vec::new();
        for entry in entries {
            match entry.read() {
                Ok(read) => readable.push(read),
                Err(_) => unreadable.push(entry),
            }
        }
        Ok(Entries { readable, unreadable })
    }
}

macro_rules! list_result {
    ($($(#[$docs:meta])* $name:ident { $entries:ident: $entry:ident, $wire:literal })*) => {$(
        $(#[$docs])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            /// The valid entries.
            pub $entries: Vec<$entry>,
            /// The invalid entries.
            pub unreadable: Vec<Json>,
            /// The cursor of the next page, if there is one.
            pub next_cursor: Option<String>,
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Wire {
                    #[serde(rename = $wire)]
                    entries: Entries<$entry>,
                    next_cursor: Option<String>,
                }
                let Wire { entries, next_cursor } = Wire::deserialize(deserializer)?;
                let Entries { readable, unreadable } = entries;
                Ok($name { $entries: readable, unreadable, next_cursor })
            }
        }
    )*};
}

list_result! {
    /// A page of tools.
    ListToolsResult { tools: Tool, "tools" }
    /// A page of prompts.
    ListPromptsResult { prompts: Prompt, "prompts" }
    /// A page of resources.
    ListResourcesResult { resources: Resource, "resources" }
    /// A page of resource templates.
    ListResourceTemplatesResult { resource_templates: ResourceTemplate, "resourceTemplates" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_tool_does_not_hide_the_others() {
        let text = r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":7},
            {"name":"b","inputSchema":{ "x" : 1 }}],"nextCursor":"n"}"#;
        let page: ListToolsResult = serde_json::from_str(text).unwrap();
        let names: Vec<_> = page.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(page.tools[1].input_schema.to_string(), r#"{ "x" : 1 }"#);
        assert_eq!(page.unreadable.len(), 1);
        assert_eq!(page.next_cursor.as_deref(), Some("n"));
    }
}
