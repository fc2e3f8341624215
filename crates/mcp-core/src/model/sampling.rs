use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{ClientCapabilities, Content, Role, Tool};

/// A conversation that the client's model should continue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct CreateMessageRequest {
    pub messages: Vec<SamplingMessage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_context: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    pub max_tokens: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Value>,
}

impl CreateMessageRequest {
    /// The conversation so far, and the limit on the response.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> CreateMessageRequest {
        CreateMessageRequest {
            messages,
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            max_tokens,
            stop_sequences: Vec::new(),
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
        }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// The capabilities that a client needs for this request.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        let required = ClientCapabilities::new().with_sampling();
        if self.tools.is_empty() && self.tool_choice.is_none() {
            required
        } else {
            required.with_sampling_tools()
        }
    }
}

/// Which model to prefer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_structs, reason = "users build it with `..Default::default()`")]
pub struct ModelPreferences {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
}

/// A hint at a model: a part of its name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_structs, reason = "a name")]
pub struct ModelHint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct SamplingMessage {
    pub role: Role,
    pub content: SamplingContent,
}

impl SamplingMessage {
    /// A message from the user.
    pub fn user(text: impl Into<String>) -> SamplingMessage {
        SamplingMessage { role: Role::User, content: Content::text(text).into() }
    }

    /// A message from the model.
    pub fn assistant(text: impl Into<String>) -> SamplingMessage {
        SamplingMessage { role: Role::Assistant, content: Content::text(text).into() }
    }
}

/// One block, or several in revisions that allow it.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingContent(Vec<Content>);

impl SamplingContent {
    /// The blocks.
    pub fn blocks(&self) -> &[Content] {
        &self.0
    }

    /// All text in it.
    pub fn all_text(&self) -> String {
        let texts: Vec<&str> = self.0.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}

impl From<Content> for SamplingContent {
    fn from(content: Content) -> Self {
        SamplingContent(vec![content])
    }
}

impl From<Vec<Content>> for SamplingContent {
    fn from(content: Vec<Content>) -> Self {
        SamplingContent(content)
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            [only] => only.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let blocks = match value {
            Value::Array(_) => serde_json::from_value(value),
            one => serde_json::from_value(one).map(|block| vec![block]),
        };
        blocks.map(SamplingContent).map_err(serde::de::Error::custom)
    }
}

/// The model's response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct CreateMessageResult {
    pub role: Role,
    pub content: SamplingContent,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

impl CreateMessageResult {
    /// A response from `model`.
    pub fn new(model: impl Into<String>, content: Content) -> CreateMessageResult {
        CreateMessageResult {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: Some("endTurn".to_owned()),
        }
    }
}
