//! State kept of a request until it is answered, one part per feature.
//!
//! Data only: the features create and read it. It is defined here because requests belong to the
//! conversation, which all features share.

use std::ops::Deref;

use mcp_core::RequestId;
use serde::{Deserialize, Serialize};

use super::{LogLevel, MethodRef, Moment, StatedSchema, TaskStatus, digest::Fingerprint};

/// State kept of a request; takes no extra space while empty, which is the usual case.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Remembered(Option<Box<Asked>>);

impl Remembered {
    /// The state, allocated on first use.
    pub(crate) fn remember(&mut self) -> &mut Asked {
        self.0.get_or_insert_default()
    }
}

impl Deref for Remembered {
    type Target = Asked;

    fn deref(&self) -> &Asked {
        self.0.as_deref().unwrap_or(&Asked::NOTHING)
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// The version that an `initialize` asks for.
    pub(crate) requested_version: Option<Box<str>>,
    pub(crate) tool_call: Option<Box<ToolCall>>,
    pub(crate) prompt: Option<Box<AskedPrompt>>,
    pub(crate) page: Option<Box<AskedPage>>,
    pub(crate) sampling: Option<Box<AskedSampling>>,
    pub(crate) elicitation: Option<Box<AskedElicitation>>,
    pub(crate) resource: Option<Box<AskedSubscription>>,
    /// The progress token.
    pub(crate) progress: Option<Box<RequestId>>,
    /// The minimum level of log messages it asks for.
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) task: Option<Box<AskedTask>>,
    pub(crate) modern: Option<Box<AskedUnusually>>,
    /// The request's target, if it may be answered with questions.
    pub(crate) input: Option<Box<Target>>,
}

impl Asked {
    const NOTHING: Asked = Asked {
        requested_version: None,
        tool_call: None,
        prompt: None,
        page: None,
        sampling: None,
        elicitation: None,
        resource: None,
        progress: None,
        log_level: None,
        task: None,
        modern: None,
        input: None,
    };
}

/// A call of a listed tool, until its result arrives, possibly through a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) name: Box<str>,
    /// How many times the list had changed by then.
    pub(crate) changes: u64,
    /// Digest of the output schema listed at that time.
    pub(crate) output: Option<u64>,
    /// Whether the arguments violate the input schema.
    pub(crate) is_invalid: bool,
}

/// A `prompts/get` that lacks required arguments.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedPrompt {
    pub(crate) missing: Box<str>,
}

/// The requested page of a list.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct AskedPage {
    /// Digest of the cursor; absent for the first page.
    pub(crate) cursor: Option<u64>,
    /// How many times the list had changed by then.
    pub(crate) changes: u64,
}

/// A request to the model, in a request or (2026-07-28) an input request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedSampling {
    pub(crate) at: Moment,
    pub(crate) choice: ToolChoice,
    pub(crate) tools: Vec<OfferedTool>,
    /// Whether there were more tools than are remembered.
    pub(crate) more_tools: bool,
    /// Whether `tools` or `toolChoice` was present.
    pub(crate) uses_tools: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToolChoice {
    Free,
    None,
    Required,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OfferedTool {
    pub(crate) name: Box<str>,
    pub(crate) input: Option<StatedSchema>,
}

/// A request to the user, in a request or (2026-07-28) an input request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedElicitation {
    pub(crate) at: Moment,
    pub(crate) is_url: bool,
    pub(crate) schema: Option<StatedSchema>,
    /// Whether the form has required fields.
    pub(crate) has_required: bool,
}

/// A `resources/subscribe` or `resources/unsubscribe`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedSubscription {
    pub(crate) uri: Box<str>,
    /// How many times the subscription had been requested.
    pub(crate) requests: u64,
}

/// How a request relates to tasks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum AskedTask {
    /// It asks for a task, from a receiver that supports them.
    Task,
    /// It does not ask for one, although its tool requires one.
    NoTask,
    /// It is about the tasks of the other side.
    Operation(TaskOperation),
}

/// The subject of a request about tasks, and what was known at the time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TaskOperation {
    /// The task; `None` for a listing.
    pub(crate) id: Option<Box<str>>,
    /// Its position in the order of messages about tasks.
    pub(crate) sent: u64,
    /// Whether the task was unknown.
    pub(crate) unknown: bool,
    /// The final status of the task, if it had one.
    pub(crate) end: Option<(TaskStatus, Option<u64>)>,
    /// For `tasks/result`: the method whose result is expected.
    pub(crate) original: Option<MethodRef>,
}

/// A request of 2026-07-28 that is unusual: it lacks metadata, or names another version than the
/// revision it is judged by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedUnusually {
    pub(crate) version: Option<Box<str>>,
    /// Whether a required member of `_meta` is missing.
    pub(crate) lacks_metadata: bool,
}

/// The target of a request: a tool, a prompt or a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) name: Fingerprint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TargetKind {
    Tool,
    Prompt,
    Resource,
}
