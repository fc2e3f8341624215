//! The state sent to the page, as JSON.

use mcp_core::{Era, Revision};
use mcp_rules::Finding;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{State, Target, suggestion};
use crate::Log;

/// The status of a conversation.
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
    /// Changes whenever the lists change.
    pub(crate) offered: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) demo: Option<DemoView>,
}

impl SpeakState {
    /// The state of a conversation with one of `targets`.
    pub(super) fn of(state: &State, targets: &[Target], log: &Log) -> SpeakState {
        let conversation = state.conversation.as_ref();
        let revision =
            conversation.and_then(|it| it.revision).filter(|_| state.status != Status::Connecting);
        let questions = conversation.into_iter().flat_map(|it| &it.questions).map(|question| {
            let findings = question.frame.and_then(|it| log.frame(it, |it| it.findings.clone()));
            QuestionView {
                id: question.id.clone(),
                method: question.method.clone(),
                params: question.params.clone(),
                frame: question.frame,
                findings: findings.unwrap_or_default(),
                suggestion: suggestion::for_question(&question.method, &question.params),
            }
        });
        let servers = targets.iter().map(|target| {
            let Target { name, shown, .. } = target;
            ServerView { name: name.clone(), target: shown.clone() }
        });
        let facts = conversation.map(|it| &it.facts);
        let target = targets.get(state.target);
        SpeakState {
            status: state.status,
            reason: state.reason.clone(),
            servers: servers.collect(),
            server: target.map(|target| target.name.clone()).unwrap_or_default(),
            revisions: Revision::ALL.iter().map(|revision| revision.as_str()).collect(),
            revision: revision.map(Revision::as_str),
            era: revision.map(|revision| match revision.era() {
                Era::Legacy => "handshake",
                Era::Modern => "stateless",
            }),
            session: conversation.map(|it| it.session.to_string()),
            server_info: facts.and_then(|facts| facts.server_info.clone()),
            capabilities: facts.and_then(|facts| facts.capabilities.clone()),
            instructions: facts.and_then(|facts| facts.instructions.clone()),
            calls: conversation.map(|it| it.calls.iter().cloned().collect()).unwrap_or_default(),
            questions: questions.collect(),
            offered: conversation.map(|it| it.offering.version).unwrap_or_default(),
            demo: target.and_then(Target::as_demo).map(|demo| {
                let (misbehave, tool_results) = demo.switches();
                DemoView { misbehave, tool_results }
            }),
        }
    }
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

/// The state of a request.
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
    /// The id as it was spelled.
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
