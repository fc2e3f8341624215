use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use super::{Annotations, Meta, Resource, ResourceContents};
use crate::Json;

/// A content block of a tool result, a prompt or a conversation with a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(MediaContent),
    /// Audio.
    Audio(MediaContent),
    /// A link to a resource.
    ResourceLink(Box<Resource>),
    /// An embedded resource.
    Resource(EmbeddedResource),
    /// A model's request to use a tool.
    ToolUse(Json),
    /// The result of such a request.
    ToolResult(Json),
    /// A block of an unknown type, preserved as received.
    Other(Json),
}

/// Text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct TextContent {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// An image or audio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct MediaContent {
    /// In Base64.
    pub data: String,
    pub mime_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A resource embedded in a content block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct EmbeddedResource {
    pub resource: ResourceContents,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Content {
        Content::Text(TextContent { text: text.into(), annotations: None, meta: None })
    }

    /// An image; `data` is Base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Content {
        Content::Image(MediaContent::new(data, mime_type))
    }

    /// Audio; `data` is Base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Content {
        Content::Audio(MediaContent::new(data, mime_type))
    }

    /// A link to a resource.
    pub fn resource_link(resource: Resource) -> Content {
        Content::ResourceLink(Box::new(resource))
    }

    /// An embedded resource.
    pub fn resource(resource: ResourceContents) -> Content {
        Content::Resource(EmbeddedResource { resource, annotations: None, meta: None })
    }

    /// The text, if it is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

impl MediaContent {
    fn new(data: impl Into<String>, mime_type: impl Into<String>) -> MediaContent {
        let (data, mime_type) = (data.into(), mime_type.into());
        MediaContent { data, mime_type, annotations: None, meta: None }
    }
}

/// Serializes a block with its type first.
#[derive(Serialize)]
struct Tagged<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    block: &'a T,
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Text(block) => Tagged { r#type: "text", block }.serialize(serializer),
            Content::Image(block) => Tagged { r#type: "image", block }.serialize(serializer),
            Content::Audio(block) => Tagged { r#type: "audio", block }.serialize(serializer),
            Content::ResourceLink(block) => {
                Tagged { r#type: "resource_link", block: &**block }.serialize(serializer)
            }
            Content::Resource(block) => Tagged { r#type: "resource", block }.serialize(serializer),
            Content::ToolUse(block) | Content::ToolResult(block) | Content::Other(block) => {
                block.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::<String, Value>::deserialize(deserializer)?;
        Content::from_members(members).map_err(de::Error::custom)
    }
}

impl Content {
    fn from_members(members: Map<String, Value>) -> Result<Content, serde_json::Error> {
        let kind = members.get("type").and_then(Value::as_str).map(str::to_owned);
        let block = Value::Object(members);
        Ok(match kind.as_deref() {
            None => return Err(de::Error::missing_field("type")),
            Some("text") => Content::Text(serde_json::from_value(block)?),
            Some("image") => Content::Image(serde_json::from_value(block)?),
            Some("audio") => Content::Audio(serde_json::from_value(block)?),
            Some("resource_link") => Content::ResourceLink(serde_json::from_value(block)?),
            Some("resource") => Content::Resource(serde_json::from_value(block)?),
            Some("tool_use") => Content::ToolUse(Json::of(&block)?),
            Some("tool_result") => Content::ToolResult(Json::of(&block)?),
            Some(_) => Content::Other(Json::of(&block)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_round_trip() {
        for text in [
            r#"{"type":"text","text":"hi"}"#,
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
            r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#,
            r#"{"type":"resource_link","uri":"a:b","name":"b"}"#,
            r#"{"type":"resource","resource":{"uri":"a:b","text":"x"}}"#,
            r#"{"id":"1","input":{},"name":"t","type":"tool_use"}"#,
            r#"{"type":"hologram","x":1}"#,
        ] {
            let content: Content = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&content).unwrap(), text);
        }
    }

    #[test]
    fn a_block_without_a_type_is_rejected() {
        assert!(serde_json::from_str::<Content>(r#"{"text":"hi"}"#).is_err());
        assert!(serde_json::from_str::<Content>(r#"{"type":"text"}"#).is_err());
    }
}
