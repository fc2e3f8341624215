//! What is remembered of a request until its answer comes, each feature its own part.
//!
//! Only the data: the features make it and read it. It is here, and not with them, because a
//! request belongs to the conversation that all of them look at.

use std::ops::Deref;

use mcp_core::RequestId;
use serde::{Deserialize, Serialize};

use super::{LogLevel, MethodRef, Moment, StatedSchema, TaskStatus, digest::Fingerprint};

/// What is remembered of a request; takes no room while that is nothing, which is usual.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Remembered(Option<Box<Asked>>);

impl From<Asked> for Remembered {
    fn from(asked: Asked) -> Remembered {
        Remembered((!asked.is_empty()).then(|| Box::new(asked)))
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
    /// The level of the log messages that it asks for.
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) task: Option<Box<AskedTask>>,
    pub(crate) modern: Option<Box<AskedUnusually>>,
    /// What it is for, if it may be answered with questions.
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

    fn is_empty(&self) -> bool {
        let Asked {
            requested_version,
            tool_call,
            prompt,
            page,
            sampling,
            elicitation,
            resource,
            progress,
            log_level,
            task,
            modern,
            input,
        } = self;
        requested_version.is_none()
            && tool_call.is_none()
            && prompt.is_none()
            && page.is_none()
            && sampling.is_none()
            && elicitation.is_none()
            && resource.is_none()
            && progress.is_none()
            && log_level.is_none()
            && task.is_none()
            && modern.is_none()
            && input.is_none()
    }
}

/// A call of a listed tool, until its result comes, be it through a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) name: Box<str>,
    /// How often the list had changed then.
    pub(crate) changes: u64,
    /// Stands for the output schema that was listed then.
    pub(crate) output: Option<u64>,
    /// Whether the arguments break the input schema.
    pub(crate) is_invalid: bool,
}

/// A `prompts/get` that lacks required arguments.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedPrompt {
    pub(crate) missing: Box<str>,
}

/// Which page of a list was asked for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct AskedPage {
    /// Stands for the cursor; absent for the first page.
    pub(crate) cursor: Option<u64>,
    /// How often the list had changed then.
    pub(crate) changes: u64,
}

/// What was asked of the model, in a request or (2026-07-28) an input request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedSampling {
    pub(crate) at: Moment,
    pub(crate) choice: ToolChoice,
    pub(crate) tools: Vec<OfferedTool>,
    /// Whether there were more tools than are remembered.
    pub(crate) more_tools: bool,
    /// Whether `tools` or `toolChoice` was there at all.
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

/// What was asked of the user, in a request or (2026-07-28) an input request.
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
    /// How often the subscription had been asked for.
    pub(crate) requests: u64,
}

/// What a request has to do with tasks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum AskedTask {
    /// It asks for a task, from a receiver that offers them.
    Task,
    /// It does not ask for one, although its tool needs one.
    NoTask,
    /// It is about the tasks of the other side.
    Operation(TaskOperation),
}

/// What a request about tasks is about, and what was known then.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TaskOperation {
    /// The task; none for a listing.
    pub(crate) id: Option<Box<str>>,
    /// Its place in the order of messages about tasks.
    pub(crate) sent: u64,
    /// Whether nobody had heard of the task.
    pub(crate) unknown: bool,
    /// The final status that the task had.
    pub(crate) end: Option<(TaskStatus, Option<u64>)>,
    /// For `tasks/result`: the method whose result is to come.
    pub(crate) original: Option<MethodRef>,
}

/// A request of 2026-07-28 that is not as usual: it lacks metadata, or names another version than
/// the revision it is judged by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskedUnusually {
    pub(crate) version: Option<Box<str>>,
    /// Whether a required member of `_meta` is missing.
    pub(crate) lacks_metadata: bool,
}

/// What a request is for: a tool, a prompt or a resource.
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
