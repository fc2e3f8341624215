use serde::{Deserialize, Serialize};

use super::{Content, Icon, Meta};
use crate::Json;

/// What a tool is called, what it takes and what it promises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Tool {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// The JSON Schema of its arguments.
    pub input_schema: Json,
    /// The JSON Schema of its structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Tool {
    /// A tool that takes what `input_schema` says.
    pub fn new(name: impl Into<String>, input_schema: Json) -> Tool {
        Tool {
            name: name.into(),
            title: None,
            description: None,
            icons: Vec::new(),
            input_schema,
            output_schema: None,
            annotations: None,
            meta: None,
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it does.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// What its structured output looks like.
    #[must_use]
    pub fn output_schema(mut self, output_schema: Json) -> Self {
        self.output_schema = Some(output_schema);
        self
    }

    /// What kind of tool it is.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// A picture that stands for it; there may be several.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// Anything else.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// Hints on what kind of tool it is. Nobody has to believe them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "users build it with `..Default::default()`")]
pub struct ToolAnnotations {
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice does no more than calling it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It deals with the world outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// What a call of a tool brings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// What a model reads.
    #[serde(default)]
    pub content: Vec<Content>,
    /// What a program reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Json>,
    /// Whether the tool has failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CallToolResult {
    /// What a model reads.
    pub fn new(content: Vec<Content>) -> CallToolResult {
        CallToolResult { content, ..CallToolResult::default() }
    }

    /// Words.
    pub fn text(text: impl Into<String>) -> CallToolResult {
        CallToolResult::new(vec![Content::text(text)])
    }

    /// What a program reads.
    pub fn structured(structured: Json) -> CallToolResult {
        CallToolResult { structured_content: Some(structured), ..CallToolResult::default() }
    }

    /// A failure that the model should see.
    pub fn error(message: impl Into<String>) -> CallToolResult {
        CallToolResult { is_error: true, ..CallToolResult::text(message) }
    }

    /// All words in it, one block a line.
    pub fn all_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}
