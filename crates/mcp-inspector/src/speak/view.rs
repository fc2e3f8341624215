//! What the page is told, as JSON.

use mcp_rules::Finding;
use serde::Serialize;
use serde_json::value::RawValue;

/// Where a conversation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    #[default]
    Idle,
    Connecting,
    Connected,
    Ended,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpeakState {
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) servers: Vec<ServerView>,
    pub(crate) server: String,
    pub(crate) revisions: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) era: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_info: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capabilities: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instructions: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) questions: Vec<QuestionView>,
    /// Changes with what is offered.
    pub(crate) offered: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) demo: Option<DemoView>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ServerView {
    pub(crate) name: String,
    pub(crate) target: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DemoView {
    pub(crate) misbehave: bool,
    pub(crate) tool_results: bool,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CallState {
    Pending,
    Answered,
    Cancelled,
    Lost,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call {
    /// The id as it is spelt.
    pub(crate) id: String,
    pub(crate) method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<u64>,
    pub(crate) sent_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) took_ms: Option<i64>,
    pub(crate) state: CallState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replay_of: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_answer: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct QuestionView {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) params: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<u64>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) suggestion: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Sent {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Composed {
    pub(crate) text: String,
    pub(crate) findings: Vec<Finding>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Offered>,
    pub(crate) resources: Vec<Offered>,
    pub(crate) templates: Vec<Offered>,
    pub(crate) prompts: Vec<Offered>,
    pub(crate) problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Offered {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    pub(crate) definition: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<u64>,
    pub(crate) findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) destructive: Option<bool>,
    pub(crate) usable: bool,
}
